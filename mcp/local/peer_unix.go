//go:build unix && !linux

package local

import "net"

// peerUID is not asked here: the owner of the socket's path has been checked.
func peerUID(*net.UnixConn) (uid uint32, ok bool) { return 0, false }

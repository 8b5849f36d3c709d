package local

import (
	"net"
	"syscall"
)

// peerUID returns the user at the other end; ok is false when the system does not
// say.
func peerUID(c *net.UnixConn) (uid uint32, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *syscall.Ucred
	if err := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || cred == nil {
		return 0, false
	}
	return cred.Uid, true
}

//go:build unix

package local

import (
	"net"
	"syscall"
)

// rawConn returns a way to write to a socket without waiting, or nil.
func rawConn(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// writeSome writes as much of b as the socket takes at once. An error counts as
// nothing: the next write meets it again.
func writeSome(raw syscall.RawConn, b []byte) (n int) {
	err := raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b)
		return true
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}

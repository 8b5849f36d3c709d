//go:build unix

package local

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Dial connects to a service's Unix socket. If no service is there, the error
// matches fs.ErrNotExist or syscall.ECONNREFUSED. A socket that neither this user
// nor root made is refused with a *Refused of the code forbidden: whoever listens
// there would be told everything.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	fi, err := os.Lstat(address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: address, Net: "unix"}, Err: err}
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && !trusted(st.Uid) {
		return nil, stranger(address)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	// The path may have been changed in between; this end of the line says who it is.
	if uid, ok := peerUID(conn.(*net.UnixConn)); ok && !trusted(uid) {
		conn.Close()
		return nil, stranger(address)
	}
	return conn, nil
}

func trusted(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }

func stranger(address string) error {
	return &Refused{Code: RefusedForbidden, Message: fmt.Sprintf("the socket %s belongs to another user", address),
		Hint: "set STEWARD_SOCKET to a path in a folder of your own"}
}

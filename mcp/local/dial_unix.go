//go:build unix

package local

import (
	"context"
	"net"
)

// Dial connects to a service's Unix socket. If no service is there, the error
// matches fs.ErrNotExist or syscall.ECONNREFUSED.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", address)
}

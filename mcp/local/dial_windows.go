package local

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// Of the Windows API; the standard library does not name them.
const (
	errorPipeBusy = syscall.Errno(231)
	// sqosAnonymous keeps the service at the other end from acting as us.
	sqosAnonymous = 0x0010_0000
	pipeBusyPause = 10 * time.Millisecond
)

// Dial connects to a service's named pipe, `\\.\pipe\…`. If no service is
// there, the error matches fs.ErrNotExist. While all instances of the pipe are
// taken it waits for ctx.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	name, err := syscall.UTF16PtrFromString(address)
	if err != nil {
		return nil, &os.PathError{Op: "dial", Path: address, Err: err}
	}
	for {
		h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
			syscall.OPEN_EXISTING, syscall.FILE_FLAG_OVERLAPPED|sqosAnonymous, 0)
		if err == nil {
			// The runtime's poller takes overlapped handles, so that deadlines
			// and Close work on them as on a socket.
			return &pipeConn{File: os.NewFile(uintptr(h), address)}, nil
		}
		if !errors.Is(err, errorPipeBusy) {
			return nil, &os.PathError{Op: "dial", Path: address, Err: err}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pipeBusyPause):
		}
	}
}

// pipeConn is the client's end of a named pipe.
type pipeConn struct{ *os.File }

type pipeAddr string

func (a pipeAddr) Network() string { return "pipe" }
func (a pipeAddr) String() string  { return string(a) }

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr(c.Name()) }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr(c.Name()) }

//go:build unix

package ledger

import (
	"io/fs"
	"os"
	"syscall"
)

// openNow opens a file without waiting, whatever it is. Writes and reads of what
// it returns wait as usual.
func openNow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flag|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, uint32(perm.Perm()))
		switch err {
		case nil:
			if err := syscall.SetNonblock(fd, false); err != nil {
				syscall.Close(fd)
				return nil, &fs.PathError{Op: "open", Path: path, Err: err}
			}
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

package ledger

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	lockFailImmediately = 1
	lockExclusive       = 2
	errLockViolation    = syscall.Errno(33)
	errDiskFull         = syscall.Errno(112)
	errHandleDiskFull   = syscall.Errno(39)
	errWriteProtect     = syscall.Errno(19)
)

// lockFile locks one byte far behind the text, which stays readable: a lock on
// Windows keeps readers out of what it covers.
func lockFile(f *os.File, exclusive bool) error {
	how := uintptr(lockFailImmediately)
	if exclusive {
		how |= lockExclusive
	}
	o := syscall.Overlapped{OffsetHigh: 1}
	r, _, err := lockFileEx.Call(f.Fd(), how, 0, 1, 0, uintptr(unsafe.Pointer(&o)))
	if r != 0 {
		return nil
	}
	if errors.Is(err, errLockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return &os.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
}

func unlockFile(f *os.File) error {
	o := syscall.Overlapped{OffsetHigh: 1}
	if r, _, err := unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&o))); r == 0 {
		return &os.PathError{Op: "UnlockFileEx", Path: f.Name(), Err: err}
	}
	return nil
}

// syncDir does nothing: Windows has no such call for a folder, and NTFS
// journals its names.
func syncDir(string) error { return nil }

// names is not known without another handle; one is what a file has.
func names(os.FileInfo) int { return 1 }

func isReadOnly(err error) bool { return errors.Is(err, errWriteProtect) }

func isFull(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errHandleDiskFull)
}

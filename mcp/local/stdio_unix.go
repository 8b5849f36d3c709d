//go:build unix

package local

import (
	"os"
	"strconv"
	"syscall"
)

// pollable returns a stream for the runtime's poller in place of a pipe or
// socket the process was started with, so that waiting for it takes no thread;
// in a busy bridge that is half the CPU. Anything else comes back as it is.
// restore gives up the stream and leaves the original as it was found.
//
// Blocking is a property of the open file, which other processes may share. A
// pipe is therefore opened once more where the system can do that (Linux); a
// socket, and a pipe elsewhere, is switched until restore.
func pollable[T any](stream T) (T, func()) {
	f, ok := any(stream).(*os.File)
	if !ok {
		return stream, func() {}
	}
	g, restore := pollableFile(f)
	if g == nil {
		return stream, func() {}
	}
	return any(g).(T), restore
}

func pollableFile(f *os.File) (*os.File, func()) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, nil
	}
	var g *os.File
	var restore func()
	if raw.Control(func(fd uintptr) { g, restore = reopen(int(fd), f.Name()) }) != nil {
		return nil, nil
	}
	return g, restore
}

func reopen(fd int, name string) (*os.File, func()) {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return nil, nil
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if errno != 0 || flags&syscall.O_NONBLOCK != 0 {
		return nil, nil
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO:
		mode := int(flags) & (syscall.O_RDONLY | syscall.O_WRONLY | syscall.O_RDWR)
		again, err := syscall.Open("/proc/self/fd/"+strconv.Itoa(fd), mode|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		if err == nil {
			g := os.NewFile(uintptr(again), name)
			return g, func() { g.Close() }
		}
	case syscall.S_IFSOCK:
	default:
		return nil, nil
	}
	syscall.ForkLock.RLock()
	dup, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(dup)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil
	}
	if syscall.SetNonblock(dup, true) != nil {
		_ = syscall.Close(dup)
		return nil, nil
	}
	g := os.NewFile(uintptr(dup), name)
	return g, func() {
		g.Close()
		_ = syscall.SetNonblock(fd, false)
	}
}

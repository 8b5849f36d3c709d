//go:build unix

package local

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return flags&syscall.O_NONBLOCK != 0
}

// Pipes and sockets a process is started with become pollable, and are as they
// were afterwards.
func TestPollable(t *testing.T) {
	for name, pair := range map[string]func() ([2]int, error){
		"pipe":   func() (p [2]int, err error) { err = syscall.Pipe(p[:]); return },
		"socket": func() ([2]int, error) { return syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			fds, err := pair()
			if err != nil {
				t.Fatal(err)
			}
			r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
			defer r.Close()
			defer w.Close()
			in, restoreIn := pollable[io.Reader](r)
			out, restoreOut := pollable[io.Writer](w)
			if in == io.Reader(r) || out == io.Writer(w) {
				t.Fatal("came back as they are")
			}
			if err := in.(*os.File).SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
				t.Errorf("no deadlines: %v", err)
			}
			if _, err := in.Read(make([]byte, 1)); !os.IsTimeout(err) {
				t.Errorf("reading nothing: %v", err)
			}
			in.(*os.File).SetReadDeadline(time.Time{})
			if _, err := out.Write([]byte("hello")); err != nil {
				t.Error(err)
			}
			b := make([]byte, 9)
			if n, err := in.Read(b); string(b[:n]) != "hello" || err != nil {
				t.Errorf("read %q, %v", b[:n], err)
			}
			restoreIn()
			restoreOut()
			for i, fd := range fds {
				if nonblocking(t, fd) {
					t.Errorf("end %d was left non-blocking", i)
				}
			}
			if _, err := w.Write([]byte("x")); err != nil {
				t.Errorf("the original: %v", err)
			}
		})
	}
}

func TestPollableLeavesTheRest(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if g, restore := pollable(f); g != f {
		t.Error("a file was replaced")
	} else {
		restore()
	}
	r, w, err := os.Pipe() // pollable as the runtime made it
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if g, _ := pollable(r); g != r {
		t.Error("a pollable pipe was replaced")
	}
}

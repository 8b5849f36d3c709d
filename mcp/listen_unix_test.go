//go:build linux || darwin

package mcp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"steward/mcp/local"
)

func TestListenPathTooLong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("s", maxSocketPath+1-len(dir)-1))
	_, err := Listen(path)
	if err == nil || !strings.Contains(err.Error(), "at most 100 bytes; got 101") || !strings.Contains(err.Error(), "STEWARD_SOCKET") {
		t.Errorf("got %v", err)
	}
}

func TestListenFolder(t *testing.T) {
	base := t.TempDir()
	path := func(dir string) string { return filepath.Join(base, dir, "s.sock") }

	l, err := Listen(path("new/run"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, mode := range map[string]fs.FileMode{"new": 0o700, "new/run": 0o700, "new/run/s.sock": 0o600} {
		if info, err := os.Lstat(filepath.Join(base, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, mode)
		}
	}

	if err := os.Mkdir(filepath.Join(base, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "new", "run"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"open": "mode 0700; got 0755", "link": "not a link", "file": "not a directory"} {
		if _, err := Listen(path(dir)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", dir, err, want)
		}
	}
	if os.Geteuid() == 0 {
		theirs := filepath.Join(base, "theirs")
		if err := os.Mkdir(theirs, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(theirs, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(path("theirs")); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("another user's folder: got %v", err)
		}
	}
}

func TestListenOverWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "s.sock")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("a live socket: got %v", err)
	}
	accepted, err := first.Accept() // the look at it was a connection
	if err != nil {
		t.Fatal(err)
	}
	accepted.Close()
	first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the listener removed its path: %v", err)
	}
	if _, err := local.Dial(t.Context(), path); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("the socket is not stale: %v", err)
	}
	second, err := Listen(path)
	if err != nil {
		t.Fatalf("a stale socket: %v", err)
	}
	first.Close() // once more, late: the path is the second's now
	c, err := local.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	second.Close()

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("a file: got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "a letter" {
		t.Errorf("the file: %q, %v", b, err)
	}
}

func init() { children["other user"] = otherUserProcess }

// otherUserProcess dials the socket and prints what it says.
func otherUserProcess(path string) error {
	c, err := local.Dial(context.Background(), path)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err = io.Copy(os.Stdout, c); errors.Is(err, syscall.ECONNRESET) {
		err = nil
	}
	return err
}

func TestOtherUsersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	// Both doors before this one are opened: the folder's mode and the socket's.
	base, err := os.MkdirTemp("", "steward")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	path := filepath.Join(base, "run", "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{base: 0o755, filepath.Dir(path): 0o755, path: 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		defer close(accepted)
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()

	binary := filepath.Join(base, "test")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := child(binary, "other user", path)
	cmd.Dir = base
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	if r, err := local.ParseLine([]byte(line)); err != nil || r.Refused == nil || r.Refused.Code != local.RefusedForbidden {
		t.Errorf("got %s", out)
	}
	// The own user still gets in behind it.
	c, err := local.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := <-accepted; got == nil {
		t.Error("the own user was not accepted")
	} else {
		got.Close()
	}
	l.Close()
}

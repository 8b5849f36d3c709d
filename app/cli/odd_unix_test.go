//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// pipe makes a named pipe, at whose other end nobody ever is.
func pipe(t *testing.T, path string) string {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = syscall.Mkfifo(path, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// ends runs a command that must end by itself, with that code and those words.
func (h *house) ends(code int, words string, args ...string) {
	h.t.Helper()
	if a := h.run(args...); a.code != code || !strings.Contains(a.out+a.err, words) {
		h.t.Errorf("steward %s: exit %d, want %d and %q\n%s%s", strings.Join(args, " "), a.code, code, words, a.out, a.err)
	}
}

func TestAPipeForSettingsOrLogHoldsNothingUp(t *testing.T) {
	for _, name := range []string{"config.json", "logs/steward.log"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			pipe(t, filepath.Join(h.dir, "home", filepath.FromSlash(name)))
			h.ends(0, "Recorded as event 1", "emit", "hello", "--actor", "me")
			h.ends(0, "hello", "status")
			a := h.run("doctor")
			if a.code == 0 || !strings.Contains(a.out, "it is a named pipe, not a plain file") {
				t.Errorf("doctor: exit %d\n%s", a.code, a.out)
			}
			h.end()
			if err := os.Remove(filepath.Join(h.dir, "home", filepath.FromSlash(name))); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAPipeInPlaceOfTheLedger(t *testing.T) {
	h := newHouse(t)
	at := pipe(t, filepath.Join(h.dir, "home", "ledger.db"))
	const words = "it is a named pipe, not a plain file"
	h.ends(6, words, "verify")
	h.ends(6, words, "export")
	h.ends(6, words, "doctor")
	h.ends(6, words, "status")
	pid := h.holder()
	if pid == 0 {
		t.Fatal("no service says why")
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.SIGTERM)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service leaving", func() bool { return h.holder() == 0 })
	if fi, err := os.Lstat(at); err != nil || fi.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe: %v, %v; want it untouched", fi, err)
	}
}

func TestAPipeWhereAFileIsNamed(t *testing.T) {
	h := newHouse(t)
	at := pipe(t, filepath.Join(h.dir, "pipe.db"))
	link := filepath.Join(h.dir, "link.db")
	if err := os.Symlink(at, link); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(h.dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.ok("emit", "hello", "--actor", "me")
	for _, command := range []string{"verify", "import"} {
		h.ends(2, at, command, at)
		h.ends(2, link, command, link)
		h.ends(2, h.dir, command, h.dir)
		h.ends(2, "is empty", command, empty)
	}
}

// An export goes through a link, not in its place, and into no pipe.
func TestExportReplacesPlainFilesAlone(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "hello", "--actor", "me")
	at := pipe(t, filepath.Join(h.dir, "pipe"))
	h.ends(2, "a named pipe", "export", "--output", at)
	link, to := filepath.Join(h.dir, "link"), filepath.Join(h.dir, "to")
	if err := os.Symlink("to", link); err != nil {
		t.Fatal(err)
	}
	h.ok("export", "--output", link)
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", fi, err)
	}
	if b, err := os.ReadFile(to); err != nil || !strings.Contains(string(b), "hello") {
		t.Errorf("behind the link: %q, %v", b, err)
	}
	hard, over := filepath.Join(h.dir, "hard"), filepath.Join(h.dir, "over")
	if err := os.Symlink(h.paths().Ledger, hard); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(h.paths().Ledger, over); err != nil {
		t.Fatal(err)
	}
	h.ends(2, "the ledger's place", "export", "--output", hard)
	h.ends(2, "the ledger's place", "export", "--output", over)
	if err := os.Remove(over); err != nil {
		t.Fatal(err)
	}
	h.ok("verify")
}

// What stands in the way of the socket's folder when the service starts may be
// gone when a client comes.
func TestTheServiceIsFoundWhereItsLockSays(t *testing.T) {
	h := newHouse(t)
	run := pipe(t, filepath.Join(h.dir, "home", "run"))
	h.ok("emit", "one", "--actor", "me")
	pid := h.holder()
	if err := os.Remove(run); err != nil {
		t.Fatal(err)
	}
	h.ends(0, "event 2 ", "emit", "two", "--actor", "me")
	b := h.bridge()
	if r := b.mustReport("me", "three"); r.EventID != 3 {
		t.Errorf("over a bridge: %+v", r)
	}
	b.close()
	if now := h.holder(); now != pid {
		t.Errorf("process %d holds the ledger; want %d", now, pid)
	}
	h.ends(0, "the service does at ", "doctor")
	h.ok("stop")
	if now := h.holder(); now != 0 {
		t.Errorf("process %d holds the ledger after stop", now)
	}
	h.ends(0, "event 4 ", "emit", "four", "--actor", "me")
}

func TestDoctorSaysWhyThereIsNoHTTP(t *testing.T) {
	t.Run("token", func(t *testing.T) {
		h := newHouse(t, "STEWARD_PORT=18973")
		at := pipe(t, filepath.Join(h.dir, "home", "token"))
		h.ok("emit", "one", "--actor", "me")
		h.ends(6, "not served on 127.0.0.1:18973: the token in "+at+" cannot be used: ", "doctor")
	})
	t.Run("address", func(t *testing.T) {
		h := newHouse(t)
		if err := os.MkdirAll(h.paths().Home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.paths().Config, []byte(`{"listen":"0.0.0.0:18974"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h.ok("emit", "one", "--actor", "me")
		h.ends(6, "not served on 0.0.0.0:18974: STEWARD_TOKEN: must be set", "doctor")
	})
}

func TestAStateFolderThatOthersEnterIsClosed(t *testing.T) {
	h := newHouse(t)
	home := h.paths().Home
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	h.ok("emit", "one", "--actor", "me")
	if fi, err := os.Stat(home); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v; want mode 0700", fi, err)
	}
	if log, err := os.ReadFile(h.paths().Log); err != nil || !strings.Contains(string(log), "others could enter the state folder") {
		t.Errorf("the log: %s, %v", log, err)
	}
	h.ok("doctor")
}

func TestDoctorEndsWithTheWorst(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "one", "--actor", "me")
	h.end()
	if err := os.WriteFile(h.paths().Config, []byte(`{"mistake":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ends(2, "!!  config", "doctor")
	if err := damage(h.paths().Ledger); err != nil {
		t.Fatal(err)
	}
	h.ends(7, "!!  config", "doctor")
}

//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is another user than root.
const nobody = 65534

// become lets a command run as the house's user.
func (h *house) become(cmd *exec.Cmd) {
	if h.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid)}}
	}
}

// giveToNobody makes the whole house another user's. Modes mean nothing to
// root, so what they refuse can only be seen through another user's eyes.
func (h *house) giveToNobody() {
	h.t.Helper()
	if os.Geteuid() != 0 {
		h.t.Skip("only root can run a child as another user")
	}
	h.uid = nobody
	if err := filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}); err != nil {
		h.t.Fatal(err)
	}
}

func mode(t *testing.T, path string, m os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, m); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.giveToNobody()
	home := h.paths().Home
	h.ok("emit", "while it could be written", "--actor", "me")
	h.end()
	mode(t, home, 0o500)
	for _, name := range []string{"ledger.db", "ledger.db.lock", "logs/steward.log"} {
		mode(t, filepath.Join(home, name), 0o400)
	}
	mode(t, filepath.Join(home, "logs"), 0o500)

	p := h.start(h.command(thisVersion, "serve"))
	p.says("cannot be written")
	a := h.run("status")
	if a.code != 6 || !strings.Contains(a.err, "read-only") || !strings.Contains(a.err, "give your user write access") {
		t.Errorf("status: exit %d, %q; want 6 and what to do", a.code, a.err)
	}
	if a := h.run("emit", "x", "--actor", "me"); a.code != 6 || !strings.Contains(a.err, "read-only") || a.out != "" {
		t.Errorf("emit: exit %d, %q, %q; want 6, and not the word that it was kept", a.code, a.out, a.err)
	}
	if out := h.ok("stop"); !strings.Contains(out, "Stopped") {
		t.Errorf("stop: %s", out)
	}
	if code := p.exits(); code != 0 {
		t.Errorf("asked to stop, it ended with %d", code)
	}

	mode(t, home, 0o700)
	for _, name := range []string{"ledger.db", "ledger.db.lock", "logs/steward.log"} {
		mode(t, filepath.Join(home, name), 0o600)
	}
	mode(t, filepath.Join(home, "logs"), 0o700)
	if out := h.ok("emit", "again", "--actor", "me"); !strings.Contains(out, "event 2") {
		t.Errorf("after the repair: %s", out)
	}
}

func TestStateFolderThatCannotBeMade(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.giveToNobody()
	mode(t, h.dir, 0o500)
	a := h.run("status")
	mode(t, h.dir, 0o700)
	if a.code != 6 || !strings.Contains(a.err, h.paths().Home+" cannot be written") || !strings.Contains(a.err, "STEWARD_HOME") {
		t.Errorf("exit %d, %q; want 6, naming the folder", a.code, a.err)
	}
}

func TestAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can run a child as another user")
	}
	// Named, because the place of an unnamed one follows the modes changed below.
	socket := filepath.Join(h.dir, "run", "s.sock")
	h.env = append(h.env, "STEWARD_SOCKET="+socket)
	h.serve(thisVersion)
	other := newHouse(t, "STEWARD_SOCKET="+socket)
	other.giveToNobody()
	// The folder keeps the other user out.
	if a := other.run("status"); a.code != 6 || !strings.Contains(a.err, "permission denied") {
		t.Errorf("exit %d, %q; want 6, permission denied", a.code, a.err)
	}
	// And when somebody has opened the folders, the service does.
	for _, d := range []string{h.dir, filepath.Join(h.dir, "run"), filepath.Dir(socket)} {
		mode(t, d, 0o755)
	}
	mode(t, socket, 0o666)
	if a := other.run("status"); a.code != 5 || !strings.Contains(a.err, "another user") {
		t.Errorf("exit %d, %q; want 5, another user's", a.code, a.err)
	}
	if a := other.run("emit", "x", "--actor", "me"); a.code != 5 {
		t.Errorf("emit: exit %d, %q, %q; want 5, nothing kept", a.code, a.out, a.err)
	}
	if all := h.events(); len(all) != 0 {
		t.Errorf("%d events; want none", len(all))
	}
}

func TestFoldersAndFilesArePrivate(t *testing.T) {
	h := newHouse(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	h.ok("emit", "hello", "--actor", "me")
	for _, root := range []string{h.paths().Home, filepath.Dir(h.paths().Socket)} {
		if err := filepath.Walk(root, func(path string, fi os.FileInfo, err error) error {
			if err == nil && fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, fi.Mode())
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

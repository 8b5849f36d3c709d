//go:build unix

package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// noted is a desktop that notes what it is to open.
type noted struct {
	file, shown string
	err         error
}

func (n *noted) Open(_ context.Context, file string) error { n.file = file; return n.err }
func (n *noted) Show(_ context.Context, path string) error { n.shown = path; return n.err }

// attach makes a handoff with one attachment and returns its id.
func (b *bench) attach(t *testing.T, path string) string {
	t.Helper()
	out := b.ok(t, agent, "handoff_create", args(t, map[string]any{
		"target": "dj", "instruction": "x", "idempotency_key": path, "attachments": []map[string]string{{"path": path}},
	}))
	return out["handoff"].(map[string]any)["id"].(string)
}

func TestAttachmentOpen(t *testing.T) {
	b := newBench(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	file := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	file("mix 1 & co.wav", 0o600)
	file("Über/音.txt", 0o644)
	file("-rf", 0o644)
	file("page.html", 0o644)
	file("run", 0o755)
	file("group.txt", 0o654)
	file("notes.desktop", 0o644)
	file("SETUP.EXE", 0o644)
	file("a.jar", 0o644)
	file("a.AppImage", 0o644)
	file("a.txt.sh.command", 0o644)
	file("box/tool", 0o700)
	link(at("mix 1 & co.wav"), "to-file.exe")
	link(at("run"), "to-run.txt")
	link("box", "way")
	link("nowhere", "broken")
	if err := syscall.Mkfifo(at("pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}

	for name, real := range map[string]string{
		"mix 1 & co.wav": "", "Über/音.txt": "", "-rf": "", "page.html": "", "box/../-rf": "-rf", "to-file.exe": "mix 1 & co.wav",
	} {
		if real == "" {
			real = name
		}
		var n noted
		b.env.Opener = &n
		path := dir + "/" + name // as the agent wrote it
		out := b.ok(t, person, "attachment_open", fmt.Sprintf(`{"handoff_id":%q,"index":0}`, b.attach(t, path)))
		if out["opened"] != "file" || out["path"] != at(real) || n.file != at(real) || n.shown != "" {
			t.Errorf("%s: %v, %+v", name, out, n)
		}
	}
	for name, real := range map[string]string{
		"run": "", "group.txt": "", "notes.desktop": "", "SETUP.EXE": "", "a.jar": "", "a.AppImage": "", "a.txt.sh.command": "",
		"box": "", "pipe.txt": "", "to-run.txt": "run", "way/tool": "box/tool",
	} {
		if real == "" {
			real = name
		}
		var n noted
		b.env.Opener = &n
		out := b.ok(t, person, "attachment_open", fmt.Sprintf(`{"handoff_id":%q,"index":0}`, b.attach(t, at(name))))
		if out["opened"] != "folder" || out["path"] != filepath.Dir(at(real)) || n.shown != at(real) || n.file != "" {
			t.Errorf("%s: %v, %+v", name, out, n)
		}
	}
	for path, code := range map[string]Code{at("broken"): NotFound, at("gone.txt"): NotFound, "mix.wav": Invalid, "./mix.wav": Invalid, "~/mix.wav": Invalid} {
		var n noted
		b.env.Opener = &n
		b.refused(t, person, "attachment_open", fmt.Sprintf(`{"handoff_id":%q,"index":0}`, b.attach(t, path)), code)
		if n != (noted{}) {
			t.Errorf("%s: %+v", path, n)
		}
	}
	for message, failed := range map[string]error{
		"the system could not open it": errors.New("exit status 3"),
		"there is no desktop here":     &Error{Code: Unavailable, Message: "there is no desktop here"},
	} {
		b.env.Opener = &noted{err: failed}
		e := b.refused(t, person, "attachment_open", fmt.Sprintf(`{"handoff_id":%q,"index":0}`, b.attach(t, at("-rf"))), Unavailable)
		if e.Message != message {
			t.Errorf("%s; want %s", e.Message, message)
		}
	}
	if _, err := b.Call(t.Context(), person, "attachment_open", json.RawMessage(fmt.Sprintf(`{"handoff_id":%q,"index":1}`, b.attach(t, at("-rf"))))); CodeOf(err) != NotFound {
		t.Errorf("the second of one: %v", err)
	}
}

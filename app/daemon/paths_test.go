package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/ledger"
	"steward/mcp/ops"
)

func TestEnv(t *testing.T) {
	e := NewEnv([]string{"A=1", "A=2", "B=", "C= ", "broken", "=C:=x", "D=a=b"})
	if v, n := e.First("B", "C", "A"); v != "1" || n != "A" {
		t.Errorf("First = %q from %q; want the first that is not blank, of a repeated name the first value", v, n)
	}
	if e["D"] != "a=b" {
		t.Errorf("D = %q; want a=b", e["D"])
	}
	if got := (Env{"STEWARD_LOG_LEVEL": "debug"}).Level(slog.LevelWarn); got != slog.LevelDebug {
		t.Errorf("level %v; want debug", got)
	}
	if got := (Env{"STEWARD_LOG_LEVEL": "loud"}).Level(slog.LevelWarn); got != slog.LevelWarn {
		t.Errorf("level %v; want what it is otherwise", got)
	}
	if v, n := e.First("B", "none"); v != "" || n != "" {
		t.Errorf("First = %q, %q; want nothing", v, n)
	}
}

// header is the first 100 bytes of an SQLite file with that application id.
func header(id string) []byte {
	b := make([]byte, 100)
	copy(b, "SQLite format 3\x00")
	copy(b[68:], id)
	return b
}

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// realDir is a temporary folder under its real path.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func find(t *testing.T, env Env) Paths {
	t.Helper()
	p, err := Find(env)
	if err != nil {
		t.Fatalf("Find(%v): %v", env, err)
	}
	return p
}

func TestFindStateFolder(t *testing.T) {
	dir := realDir(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, c := range []struct {
		name string
		env  Env
		want string
	}{
		{"own name", Env{"STEWARD_HOME": a, "HOME": dir}, a},
		{"older name", Env{"READYROOM_STATE_DIR": b, "HOME": dir}, b},
		{"own before older", Env{"STEWARD_HOME": a, "READYROOM_STATE_DIR": b}, a},
		{"blank is not set", Env{"STEWARD_HOME": " ", "READYROOM_STATE_DIR": b}, b},
		{"cleaned", Env{"STEWARD_HOME": a + "/../a/"}, a},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := find(t, c.env)
			if p.Home != c.want {
				t.Errorf("Home = %s; want %s", p.Home, c.want)
			}
			if want := filepath.Join(c.want, "ledger.db"); p.Ledger != want {
				t.Errorf("Ledger = %s; want %s", p.Ledger, want)
			}
			if want := filepath.Join(c.want, "spool"); p.Spool != want {
				t.Errorf("Spool = %s; want %s", p.Spool, want)
			}
		})
	}
	for _, env := range []Env{{"STEWARD_HOME": "here"}, {"STEWARD_HOME": "~/x"}, {"STEWARD_HOME": a, "STEWARD_DB": "l.db"}} {
		_, err := Find(env)
		if ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "absolute path; got") {
			t.Errorf("Find(%v) = %v; want it to ask for an absolute path", env, err)
		}
	}
	if _, err := Find(Env{}); ops.CodeOf(err) != ops.Unavailable {
		t.Errorf("with nothing set: %v; want unavailable", err)
	}
}

func TestFindNamesTheVariableThatIsNoFolder(t *testing.T) {
	file := write(t, filepath.Join(realDir(t), "file"), nil)
	for _, name := range []string{"STEWARD_HOME", "READYROOM_STATE_DIR"} {
		_, err := Find(Env{name: file})
		if e := ops.AsError(err); e.Code != ops.Invalid || e.Field != name || e.Message != name+": a folder; "+file+" is none" || !strings.Contains(e.Hint, name) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestFindLedger(t *testing.T) {
	dir := realDir(t)
	home := filepath.Join(dir, "home")
	theirs := write(t, filepath.Join(dir, "old", "ledger.db"), header("\x00\x00\x00\x00"))
	mine := write(t, filepath.Join(dir, "other", "l.db"), header("STWR"))
	missing := filepath.Join(dir, "none", "l.db")
	own := filepath.Join(home, "ledger.db")
	for _, c := range []struct {
		name, newer, older, ledger, source string
	}{
		{"own name", mine, "", mine, ""},
		{"own name, another program's file: kept, so that opening it is refused", theirs, "", theirs, ""},
		{"older name, a Steward ledger", "", mine, mine, ""},
		{"older name, nothing there yet", "", missing, missing, ""},
		{"older name, an older ledger: only read", "", theirs, own, theirs},
		{"own before older", mine, theirs, mine, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := find(t, Env{"STEWARD_HOME": home, "STEWARD_DB": c.newer, "SHADOWROOM_STEWARD_DB": c.older})
			if p.Ledger != c.ledger || p.Older != c.source {
				t.Errorf("Ledger %s, Older %q; want %s, %q", p.Ledger, p.Older, c.ledger, c.source)
			}
		})
	}
	p := find(t, Env{"STEWARD_HOME": home, "STEWARD_DB": mine})
	if p.Spool != mine+".spool" || p.Backups != mine+".backups" {
		t.Errorf("Spool %s, Backups %s; want them to stand beside the ledger", p.Spool, p.Backups)
	}
}

func TestFindRefusesWhatIsNoLedger(t *testing.T) {
	dir := realDir(t)
	home := filepath.Join(dir, "home")
	text := write(t, filepath.Join(dir, "text"), []byte(strings.Repeat("x", 200)))
	for file, says := range map[string]string{text: "no SQLite database", dir: "a folder"} {
		for _, name := range []string{"STEWARD_DB", "SHADOWROOM_STEWARD_DB"} {
			_, err := Find(Env{"STEWARD_HOME": home, name: file})
			if e := ops.AsError(err); e.Code != ops.Invalid || e.Field != name || !strings.HasSuffix(e.Message, file+" is "+says) || !strings.Contains(e.Hint, name) {
				t.Errorf("%s=%s: %+v", name, file, e)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v; want the file alone, and no lock", entries, err)
	}
	// What has been a ledger of Steward's is told as damaged when it is opened.
	write(t, text+".lock", nil)
	find(t, Env{"STEWARD_HOME": home, "STEWARD_DB": text})
	find(t, Env{"STEWARD_HOME": home, "STEWARD_DB": write(t, filepath.Join(dir, "empty"), nil)})
}

func TestTwoStateFoldersMeetAtOneLedger(t *testing.T) {
	dir := realDir(t)
	file := write(t, filepath.Join(dir, "data", "l.db"), header("STWR"))
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(file, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	a := find(t, Env{"STEWARD_HOME": filepath.Join(dir, "a"), "STEWARD_DB": file})
	b := find(t, Env{"STEWARD_HOME": filepath.Join(dir, "b"), "STEWARD_DB": link})
	if a.Socket != b.Socket || a.Spool != b.Spool || a.Key != b.Key {
		t.Errorf("%+v\n%+v\nwant the same socket, spool and key", a, b)
	}
	if c := find(t, Env{"STEWARD_HOME": filepath.Join(dir, "a")}); c.Socket == a.Socket || c.Key == a.Key {
		t.Errorf("another ledger has the same socket %s or key", c.Socket)
	}
}

func TestMakeIsPrivate(t *testing.T) {
	home := filepath.Join(t.TempDir(), "deep", "home")
	if err := (Paths{Home: home}).Make(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(home)
	if err != nil || fi.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("mode %v, %v; want 0700", fi.Mode(), err)
	}
	file := write(t, filepath.Join(t.TempDir(), "file"), nil)
	err = (Paths{Home: filepath.Join(file, "home")}).Make()
	if ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), file) {
		t.Errorf("below a file: %v; want unavailable, naming it", err)
	}
}

func TestChildEnv(t *testing.T) {
	home := filepath.Join(realDir(t), "home")
	env := Env{"HOME": "/h", "PATH": "/bin", "LANG": "C", "TMPDIR": "/t", "XDG_RUNTIME_DIR": "/run/user/1", "STEWARD_LOG_LEVEL": "debug",
		"STEWARD_TOKEN": "secret", "STEWARD_AGENT_TOKEN": "secret", "READYROOM_TOKEN": "secret", "READYROOM_PORT": "9000", "STEWARD_BIND": "::1", "READYROOM_BIND": "older", "OPENAI_API_KEY": "secret", "READYROOM_STATE_DIR": home, "SSH_AUTH_SOCK": "/s"}
	got := strings.Join(childEnv(env, find(t, env)), "\n")
	want := strings.Join([]string{"HOME=/h", "LANG=C", "PATH=/bin", "STEWARD_BIND=::1", "STEWARD_HOME=" + home, "STEWARD_LOG_LEVEL=debug", "STEWARD_PORT=9000", "TMPDIR=/t", "XDG_RUNTIME_DIR=/run/user/1"}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	theirs := write(t, filepath.Join(home, "old.db"), header("\x00\x00\x00\x00"))
	for _, more := range []Env{{"STEWARD_DB": filepath.Join(home, "other.db")}, {"SHADOWROOM_STEWARD_DB": filepath.Join(home, "other.db")}, {"SHADOWROOM_STEWARD_DB": theirs}} {
		maps.Copy(more, env)
		p := find(t, more)
		if again := find(t, NewEnv(childEnv(more, p))); again != p {
			t.Errorf("the child finds\n%+v\nwant\n%+v", again, p)
		}
	}
}

func TestExplain(t *testing.T) {
	p := Paths{Ledger: "/l.db", Backups: "/backups", Log: "/log"}
	for _, c := range []struct {
		err  error
		code ops.Code
		says string
	}{
		{ledger.ErrNewer, ops.Version, "the ledger /l.db was made by a newer Steward, so"},
		{fmt.Errorf("open: %w: its schema is 9, this one knows 3", ledger.ErrNewer), ops.Version, "the ledger /l.db was made by a newer Steward (its schema is 9, this one knows 3), so"},
		{ledger.ErrForeign, ops.Unavailable, "not a Steward ledger"},
		{ledger.ErrCorrupt, ops.Corrupt, "damaged"},
		{ledger.ErrFull, ops.Unavailable, "full"},
		{ledger.ErrReadOnly, ops.Unavailable, "read-only"},
		{errors.New("surprise"), ops.Unavailable, "surprise"},
		{&ops.Error{Code: ops.Forbidden, Message: "as it is"}, ops.Forbidden, "as it is"},
	} {
		e := Explain(c.err, p)
		if e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("Explain(%v) = %s, %q; want %s, something with %q", c.err, e.Code, e.Message, c.code, c.says)
		}
		if c.code != ops.Forbidden && (e.Hint == "" || !errors.Is(e, c.err)) {
			t.Errorf("Explain(%v): hint %q, cause kept %v", c.err, e.Hint, errors.Is(e, c.err))
		}
	}
}

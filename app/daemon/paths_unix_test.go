//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"steward/mcp/ops"
)

func TestFindSaysWhatCannotBeFollowed(t *testing.T) {
	dir := realDir(t)
	file := write(t, filepath.Join(dir, "file"), nil)
	home, below, loop := filepath.Join(dir, "none"), filepath.Join(file, "home"), filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  Env
		says string
		hint string
	}{
		{Env{"STEWARD_HOME": below}, below + "/ledger.db (by STEWARD_HOME) cannot be followed: not a directory", "set STEWARD_HOME"},
		{Env{"READYROOM_STATE_DIR": below}, below + "/ledger.db (by READYROOM_STATE_DIR) cannot", "set READYROOM_STATE_DIR"},
		{Env{"STEWARD_HOME": home, "STEWARD_DB": below}, below + " (by STEWARD_DB) cannot be followed: not a directory", "set STEWARD_DB"},
		{Env{"STEWARD_HOME": home, "STEWARD_DB": loop}, loop + " (by STEWARD_DB) cannot be followed: EvalSymlinks: too many links", "set STEWARD_DB"},
		{Env{"HOME": file}, "ledger.db cannot be followed: not a directory", "set STEWARD_HOME"},
	} {
		_, err := Find(c.env)
		if e := ops.AsError(err); e.Code != ops.Unavailable || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%v: %+v", c.env, e)
		}
	}
}

// A folder that others use is never closed to them.
func TestFindRefusesASharedFolder(t *testing.T) {
	dir := realDir(t)
	if err := os.Chmod(dir, 0o1777); err != nil {
		t.Fatal(err)
	}
	find(t, Env{"STEWARD_HOME": dir}) // nothing of anybody's is in it
	for _, name := range []string{"config.json", "token"} {
		write(t, filepath.Join(dir, name), nil)
	}
	find(t, Env{"STEWARD_HOME": dir})
	write(t, filepath.Join(dir, "thesis.tex"), nil)
	_, err := Find(Env{"STEWARD_HOME": dir})
	if e := ops.AsError(err); e.Code != ops.Invalid || e.Field != "STEWARD_HOME" || !strings.Contains(e.Message, "thesis.tex") {
		t.Errorf("%+v", e)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o777 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	write(t, filepath.Join(dir, "ledger.db.lock"), nil)
	find(t, Env{"STEWARD_HOME": dir}) // it has been Steward's before
	if err := os.Remove(filepath.Join(dir, "ledger.db.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	find(t, Env{"STEWARD_HOME": dir}) // nobody else uses it
}

func TestSocketPlace(t *testing.T) {
	dir := realDir(t)
	run := filepath.Join(dir, "run")
	open := filepath.Join(dir, "open")
	home := filepath.Join(dir, "home")
	for d, mode := range map[string]os.FileMode{run: 0o700, open: 0o777, home: 0o700} {
		if err := os.Mkdir(d, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, mode); err != nil { // past the umask
			t.Fatal(err)
		}
	}
	own := "/tmp/steward-" + strconv.Itoa(os.Geteuid())
	long := filepath.Join(dir, strings.Repeat("long", 30))
	key := find(t, Env{"STEWARD_HOME": home}).Key[:8] + ".sock"
	for _, c := range []struct {
		name string
		env  Env
		want string // folder
	}{
		{"in the state folder", Env{"STEWARD_HOME": home}, filepath.Join(home, "run")},
		{"whatever else a client leaves in the environment", Env{"STEWARD_HOME": home, "XDG_RUNTIME_DIR": run, "TMPDIR": run}, filepath.Join(home, "run")},
		{"a state folder others can enter", Env{"STEWARD_HOME": open}, filepath.Join(open, "run")},
		{"a ledger in a private folder", Env{"STEWARD_HOME": home, "STEWARD_DB": filepath.Join(run, "ledger.db")}, run},
		{"a ledger in a folder others can read", Env{"STEWARD_HOME": home, "STEWARD_DB": filepath.Join(open, "ledger.db")}, own},
		{"a long state folder", Env{"STEWARD_HOME": long}, own},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := find(t, c.env)
			if filepath.Dir(p.Socket) != c.want {
				t.Errorf("socket %s; want it in %s", p.Socket, c.want)
			}
			if want := p.Key[:8] + ".sock"; filepath.Base(p.Socket) != want {
				t.Errorf("socket %s; want the name %s", p.Socket, want)
			}
			if len(p.Socket) > longestSocket {
				t.Errorf("socket of %d bytes", len(p.Socket))
			}
		})
	}
	t.Run("the default ledger", func(t *testing.T) {
		user := filepath.Join(dir, "user")
		p := find(t, Env{"HOME": user, "XDG_RUNTIME_DIR": run})
		if want := filepath.Join(filepath.Dir(p.Ledger), "run", "steward.sock"); p.Socket != want {
			t.Errorf("socket %s; want %s", p.Socket, want)
		}
	})
	t.Run("the same before and after the state folder is made", func(t *testing.T) {
		env := Env{"STEWARD_HOME": filepath.Join(dir, "later")}
		before := find(t, env)
		if err := before.Make(); err != nil {
			t.Fatal(err)
		}
		if after := find(t, env); after != before {
			t.Errorf("%+v, then %+v", before, after)
		}
	})
	t.Run("named", func(t *testing.T) {
		at := filepath.Join(open, key)
		if p := find(t, Env{"STEWARD_HOME": home, "STEWARD_SOCKET": at}); p.Socket != at {
			t.Errorf("socket %s; want %s", p.Socket, at)
		}
		for _, bad := range []string{"here.sock", "/" + strings.Repeat("x", longestSocket)} {
			_, err := Find(Env{"STEWARD_HOME": home, "STEWARD_SOCKET": bad})
			if ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "STEWARD_SOCKET") || !strings.Contains(err.Error(), "; got ") {
				t.Errorf("STEWARD_SOCKET=%s: %v", bad, err)
			}
		}
	})
}

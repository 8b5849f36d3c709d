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

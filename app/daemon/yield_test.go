package daemon

import (
	"os"
	"strings"
	"testing"

	"steward/ledger"
	"steward/mcp/local"
)

func TestYields(t *testing.T) {
	const mine, newer, same = "1.2.0", "1.3.0", "1.2.0"
	for _, c := range []struct {
		name   string
		owner  owner
		role   Role
		ver    string
		schema int
		why    string // "" = granted
	}{
		{"an auto for a serve", owner{role: Auto}, Serve, same, 4, ""},
		{"an auto for an older serve of the same schema", owner{role: Auto}, Serve, "1.0.0", 4, ""},
		{"an auto for a window", owner{role: Auto}, Window, same, 4, ""},
		{"an auto for a newer auto", owner{role: Auto}, Auto, newer, 4, ""},
		{"an auto for an auto of its age", owner{role: Auto}, Auto, same, 4, keptStays},
		{"an auto for one of a newer schema", owner{role: Auto}, Window, newer, 5, ""},
		{"an auto for one of an older schema", owner{role: Auto}, Window, newer, 3, keptOlder},
		{"a serve for a newer serve", owner{role: Serve}, Serve, newer, 4, ""},
		{"a serve for a serve of its age", owner{role: Serve}, Serve, same, 4, keptStays},
		{"a serve for a window, however new", owner{role: Serve}, Window, newer, 5, keptStays},
		{"a serve for an auto", owner{role: Serve}, Auto, newer, 4, keptStays},
		{"a window for a newer window", owner{role: Window}, Window, newer, 4, ""},
		{"a window for a serve", owner{role: Window}, Serve, newer, 4, keptStays},
		{"an active auto", owner{role: Auto, active: true}, Window, newer, 5, keptBusy},
		{"an active serve", owner{role: Serve, active: true}, Serve, newer, 4, keptBusy},
		{"an older schema comes before busy", owner{role: Auto, active: true}, Window, newer, 3, keptOlder},
		{"one that is opening", owner{role: Auto, state: Opening}, Serve, newer, 4, keptBusy},
		{"one that is leaving", owner{role: Auto, state: Draining}, Serve, newer, 4, keptBusy},
		{"one that serves nobody", owner{role: Serve, state: Refusing}, Window, same, 4, ""},
	} {
		o := c.owner
		o.version, o.schema = mine, 4
		if o.state == Waiting {
			o.state = Serving
		}
		granted, why := o.yields(local.Yield{Role: string(c.role), Version: c.ver, Schema: c.schema})
		if granted != (c.why == "") || why != c.why {
			t.Errorf("%s: granted %v, %q; want %q", c.name, granted, why, c.why)
		}
	}
}

func TestReplaces(t *testing.T) {
	for _, c := range []struct {
		theirs, role, state string
		want                bool
	}{
		{"1.0.0", "auto", "serving", true},
		{"1.0.0", "serve", "serving", false},
		{"1.0.0", "window", "opening", false},
		{"1.0.0", "serve", "refusing", true},
		{"1.1.0", "auto", "serving", false},
		{"1.1.0", "auto", "refusing", false},
		{"1.2.0", "auto", "serving", false},
	} {
		if got := Replaces("1.1.0", local.Info{Version: c.theirs, Role: c.role, State: c.state}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Nobody is sent away for a migration that cannot be made.
func TestMayMigrate(t *testing.T) {
	p := place(t)
	s := &service{Options: Options{Paths: p}}
	if s.mayMigrate(ledger.SchemaVersion) != nil {
		t.Error("there is nothing to do")
	}
	if s.mayMigrate(ledger.SchemaVersion-1) == nil {
		t.Error("there is no ledger")
	}
	write(t, p.Ledger, []byte("x"))
	if err := s.mayMigrate(ledger.SchemaVersion - 1); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(p.Backups); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v; want nothing left of the try", entries, err)
	}
	if err := os.Truncate(p.Ledger, 1<<42); err == nil { // a hole in the file: more than any disk here has
		if err := s.mayMigrate(ledger.SchemaVersion - 1); err == nil || !strings.Contains(err.Error(), "MiB are free") {
			t.Errorf("without room: %v", err)
		}
	}
	if err := os.Remove(p.Backups); err != nil {
		t.Fatal(err)
	}
	write(t, p.Backups, nil)
	if s.mayMigrate(ledger.SchemaVersion-1) == nil {
		t.Error("the folder for copies is a file")
	}
}

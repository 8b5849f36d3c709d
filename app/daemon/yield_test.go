package daemon

import (
	"testing"

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

// Package app_test holds the arrows between Steward's packages.
package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "steward"

// arrows are the imports there may be between packages of this module, each
// with its reason. What is not here may not be.
var arrows = map[[2]string]string{
	{"handoff", "ledger"}: "a handoff's state and its event are written in one transaction",

	{"handoff/ticket", "ledger"}:  "a ticket's state and its event are written in one transaction",
	{"handoff/ticket", "handoff"}: "tickets are named as handoffs are, and asked by the same callers",

	{"mcp/ops", "handoff/ticket"}: "operations ask, answer and wait",

	{"app/daemon", "handoff/ticket"}: "the service writes expiries down as they come",

	{"mcp/ops", "ledger"}:  "operations read and append events",
	{"mcp/ops", "handoff"}: "operations decide on handoffs",

	{"mcp/ops/gen", "mcp/ops"}: "the generated files are made from the operations",

	{"mcp", "mcp/ops"}:   "the server offers the operations",
	{"mcp", "mcp/local"}: "both ends of a connection share the hello line and the list of tools",
	{"mcp", "ledger"}:    "callers and stamps are the ledger's",

	{"mcp/conformance", "mcp"}: "the fixture is served by the product's own transport",

	{"app/web", "ledger"}:  "a stream begins at the end of the ledger",
	{"app/web", "mcp/ops"}: "the page calls operations and hears what happens",

	{"app/daemon", "frontend"}:  "the page is in the program",
	{"app/daemon", "app/web"}:   "the service serves the page behind its guard",
	{"app/daemon", "ledger"}:    "the service opens the ledger and holds its lock",
	{"app/daemon", "mcp"}:       "the service listens",
	{"app/daemon", "mcp/ops"}:   "the service makes the operations and gives them the machine",
	{"app/daemon", "mcp/local"}: "the service asks the present owner to yield, and drains the spool",

	{"app/daemon", "app/update"}: "the service asks for a newer version once that is turned on; versions are compared there",
	{"app/cli", "app/update"}:    "update fetches what was found",

	{"app/cli", "app/daemon"}: "serve runs the service; the others find its places and start it",
	{"app/cli", "mcp/local"}:  "commands and the bridge are clients of the service",
	{"app/cli", "mcp/ops"}:    "call's options come from the operations; exit codes from their errors",
	{"app/cli", "ledger"}:     "verify and doctor read the file, and who holds it",
	{"app/cli", "handoff"}:    "status shows handoffs",

	{"app", "app/daemon"}: "the window's process serves",
	{"app", "mcp"}:        "a window listens for the next start of the program as a service does for its clients",
	{"app", "mcp/local"}:  "a window attaches to the service of another process",
	{"app", "mcp/ops"}:    "the window offers the operations",
	{"app", "ledger"}:     "one window at a time holds a lock",
	{"app", "frontend"}:   "the page is in the program",

	{"app/cli/gen", "app/cli"}: "the manual and the completions are made from the commands",

	{"", "app/cli"}: "main hands over to the command line",
	{"", "app"}:     "main hands over to the window",
}

// others are the modules a package may import besides the standard library.
var others = map[string][]string{
	"ledger":          {"modernc.org/sqlite"},
	"handoff":         {"github.com/oklog/ulid/v2"},
	"mcp":             {"github.com/mark3labs/mcp-go", "github.com/Microsoft/go-winio", "golang.org/x/sys"},
	"mcp/conformance": {"github.com/mark3labs/mcp-go"},
	"app/daemon":      {"golang.org/x/sys"},
	"app":             {"github.com/wailsapp/wails/v2", "golang.org/x/sys"},
	"app/windowtest":  {"github.com/gorilla/websocket"},
}

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// list asks the go command for every package of the module and what it depends
// on, as built for goos with tags.
func list(t *testing.T, goos, tags string) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-tags="+tags, "-json=ImportPath,Standard,Imports,Deps", module+"/...")
	cgo := "0"
	if tags != "" && goos != "windows" {
		cgo = "1" // nothing is compiled
	}
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED="+cgo)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// room is the name of a package of this module, without the module's.
func room(importPath string) (name string, own bool) {
	if importPath == module {
		return "", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// free are packages that measure or test the others, and may import any.
func free(name string) bool {
	return strings.HasPrefix(name, "bench") || path.Base(name) == "ledgertest" || path.Base(name) == "windowtest"
}

func TestArrows(t *testing.T) {
	used := map[[2]string]bool{}
	for _, on := range []struct{ goos, tags string }{
		{"linux", ""}, {"darwin", ""}, {"windows", ""},
		{"linux", "desktop,production,webkit2_41"}, {"darwin", "desktop,production"}, {"windows", "desktop,production"},
	} {
		t.Run(on.goos+" "+on.tags, func(t *testing.T) {
			all := list(t, on.goos, on.tags)
			for _, p := range all {
				from, own := room(p.ImportPath)
				if !own || free(from) {
					continue
				}
				for _, i := range p.Imports {
					to, own := room(i)
					switch arrow := [2]string{from, to}; {
					case own && arrows[arrow] == "":
						t.Errorf("%q imports %q: there is no such arrow", from, to)
					case own:
						used[arrow] = true
					case i != "C" && !all[i].Standard && !slices.ContainsFunc(others[from], func(m string) bool { return i == m || strings.HasPrefix(i, m+"/") }):
						t.Errorf("%q imports %s, which is not among its modules", from, i)
					}
				}
			}
			for _, d := range all[module+"/mcp/local"].Deps {
				if !all[d].Standard {
					t.Errorf("mcp/local depends on %s; a bridge is to be light, on the standard library alone", d)
				}
			}
		})
	}
	for _, a := range slices.SortedFunc(maps.Keys(arrows), func(a, b [2]string) int { return strings.Compare(a[0]+">"+a[1], b[0]+">"+b[1]) }) {
		if !used[a] {
			t.Errorf("%q imports %q no more: take the arrow out", a[0], a[1])
		}
	}
}

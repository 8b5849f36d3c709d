package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"steward/app/cli"
)

// bin is the folder of the programs under test; see program.
var bin string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" { // a command of these tests has started a service: it is this binary then
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "steward-bin"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(bin)                      //nolint:errcheck // the system cleans up too
		if err := os.Chmod(bin, 0o755); err != nil { // for the children of other users
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// Versions of the programs the tests run.
const (
	thisVersion  = "1.0.0"
	newerVersion = "1.1.0"
)

var builds sync.Map // version and flags → func() (string, error)

// program builds Steward once for each version and returns the folder that
// holds `steward`. It is built without the race detector, with which SQLite is
// 29 times slower.
func program(t testing.TB, version string) string {
	t.Helper()
	return programWith(t, version, "")
}

// programWith is program with more for the linker.
func programWith(t testing.TB, version, flags string) string {
	t.Helper()
	build, _ := builds.LoadOrStore(version+flags, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(bin, version+"-")
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, "steward")
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X steward/app/cli.version="+version+flags, "-o", name, "steward")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return dir, os.Chmod(dir, 0o755)
	}))
	dir, err := build.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestScripts(t *testing.T) {
	dir := program(t, thisVersion)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			run := filepath.Join(e.WorkDir, "r")
			if err := os.Mkdir(run, 0o700); err != nil {
				return err
			}
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("LOCALAPPDATA", e.WorkDir)
			e.Setenv("XDG_RUNTIME_DIR", run)
			e.Setenv("STEWARD_HOME", home)
			e.Setenv("ESCAPE", "\x1b[2J")
			e.Defer(func() { stopAll(t, e.WorkDir, home, run) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
			"damage":   func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(damage(ts.MkAbs(args[0]))) },
			"newer":    func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(newer(args[0])) },
			"foreign":  func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(foreign(args[0])) },
			"later":    later,
			"older":    func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(older(ts.MkAbs(args[0]))) },
			"broken":   func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(broken(ts.MkAbs(args[0]))) },
			"lines":    lines,
		},
	})
}

// stopAll ends the service a script has left behind.
func stopAll(t *testing.T, work, home, run string) {
	cmd := exec.Command(filepath.Join(program(t, thisVersion), "steward"), "stop")
	cmd.Env = []string{"HOME=" + work, "LOCALAPPDATA=" + work, "XDG_RUNTIME_DIR=" + run, "STEWARD_HOME=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("stop: %v\n%s", err, out)
	}
}

// exitCode runs a command that must end with that code: exitcode N COMMAND ….
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d; want %d", code, want)
	}
}

// later waits until config.json is looked at again.
func later(*testscript.TestScript, bool, []string) { <-time.After(1100 * time.Millisecond) }

// damage changes the outcome of an event behind the triggers' back.
func damage(path string) error {
	return onFile(path, `DROP TRIGGER events_update`, `UPDATE events SET outcome = 'forged' WHERE id = 1`)
}

// newer makes the file one of a Steward to come.
func newer(path string) error { return onFile(path, `PRAGMA user_version = 99`) }

// foreign makes a database of another program.
func foreign(path string) error { return onFile(path, `CREATE TABLE events(id INTEGER, text TEXT)`) }

// older makes the ledger of an older program: three events and a handoff.
func older(path string) error {
	return onFile(path, `CREATE TABLE events(id INTEGER PRIMARY KEY, ts TEXT, actor TEXT, type TEXT, outcome TEXT, mood TEXT)`,
		`INSERT INTO events VALUES(1, '2025-03-01T10:00:00Z', 'mixer', 'failed', 'too loud', 'bad'), (2, '2025-03-02T10:00:00Z', 'mixer', 'done', '混音完成', 'good'), (3, NULL, NULL, 'done', NULL, NULL)`,
		`CREATE TABLE handoffs(id TEXT, target TEXT, status TEXT, instruction TEXT, idempotency_key TEXT)`,
		`INSERT INTO handoffs VALUES('h1', 'studio', 'pending', 'export the stems', 'k1')`)
}

// broken spoils every page of a database but the first.
func broken(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := 4096; i < len(b); i++ {
		b[i] = 0xff
	}
	return os.WriteFile(path, b, 0o600)
}

// lines checks how many lines a file has: lines N FILE.
func lines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(strings.Count(ts.ReadFile(args[1]), "\n")); got != args[0] {
		ts.Fatalf("%s has %s lines; want %s", args[1], got, args[0])
	}
}

func onFile(path string, statements ...string) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	for _, s := range append(statements, `PRAGMA wal_checkpoint(TRUNCATE)`) {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

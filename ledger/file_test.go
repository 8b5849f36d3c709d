package ledger_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// made returns the path of a closed ledger with a little of everything in it.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		ledgertest.Append(t, l,
			ledger.Event{Actor: "api", Type: "done", Object: fmt.Sprint(i), Workspace: "w", Injectable: true, Outcome: "ok", Metrics: ledger.Metrics{{Key: "n", Value: "1"}}},
			ledger.Event{Actor: "api", Type: "build_failed", Object: fmt.Sprint(i % 3), Workspace: "w"},
			ledger.Event{Actor: "user", Type: "focus", Workspace: "w"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func raw(t *testing.T, path string, statements ...string) error {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

func TestTheFileItselfRefusesChangesOfHistory(t *testing.T) {
	path := made(t)
	for _, s := range []string{
		`UPDATE events SET outcome = 'x' WHERE id = 3`,
		`DELETE FROM events WHERE id = 60`,
		`INSERT OR REPLACE INTO events SELECT * FROM events WHERE id = 3`,
		`REPLACE INTO events(id, at, actor, type, injectable, hash) VALUES(60, 1, 1, 1, 0, zeroblob(32))`,
		`INSERT INTO events(id, at, actor, type, injectable, hash) VALUES(0, 1, 1, 1, 0, zeroblob(32))`,
		`INSERT INTO events(id, at, actor, type, injectable, hash) VALUES(61, 1, 1, 1, 0, x'00')`,
		`INSERT INTO events(id, at, actor, type, injectable, hash) VALUES(61, 'soon', 1, 1, 0, zeroblob(32))`,
		`UPDATE names SET name = 'x'`,
		`DELETE FROM names`,
		`INSERT OR REPLACE INTO names(id, name) VALUES(1, 'x')`,
		`INSERT OR REPLACE INTO names(id, name) VALUES(99, 'api')`,
		`UPDATE OR REPLACE names SET id = 1 WHERE id = 2`,
	} {
		if err := raw(t, path, s); err == nil {
			t.Errorf("the file took %s", s)
		}
	}
	if r, err := ledger.VerifyFile(context.Background(), path, nil); err != nil || !r.OK() || r.Events != 60 {
		t.Errorf("after the attempts: %+v, %v", r, err)
	}
}

func TestVerifyNamesTheFirstBadRow(t *testing.T) {
	free := []string{`DROP TRIGGER events_update`, `DROP TRIGGER events_delete`, `DROP TRIGGER events_insert`, `DROP TRIGGER names_update`}
	back := []string{
		`CREATE TRIGGER events_insert BEFORE INSERT ON events
  WHEN NEW.id <= (SELECT max(id) FROM events)
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END`,
		`CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END`,
		`CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END`,
		`CREATE TRIGGER names_update BEFORE UPDATE ON names BEGIN SELECT RAISE(ABORT, 'names are append-only'); END`,
	}
	for _, c := range []struct {
		name, edit string
		bad        int64
		says       string
	}{
		{"outcome changed", `UPDATE events SET outcome = 'ko' WHERE id = 7`, 7, "event 7"},
		{"time changed", `UPDATE events SET at = at + 1 WHERE id = 8`, 8, "event 8"},
		{"absent made empty", `UPDATE events SET file = '' WHERE id = 9`, 9, "event 9"},
		{"injectable changed", `UPDATE events SET injectable = 0 WHERE id = 10`, 10, "event 10"},
		{"source changed", `UPDATE events SET source = 3 WHERE id = 11`, 11, "event 11"},
		{"row gone", `DELETE FROM events WHERE id = 12`, 12, "event 12 is missing"},
		{"last row gone", `DELETE FROM events WHERE id = 60`, 60, "event 60 is missing"},
		{"row added", `INSERT INTO events(id, at, actor, type, injectable, hash) VALUES(61, 1, 1, 1, 0, zeroblob(32))`, 61, "event 61"},
		{"name changed", `UPDATE names SET name = 'spi' WHERE name = 'api'`, 1, "event 1"},
		{"head hash", `UPDATE head SET hash = zeroblob(32)`, 0, "head"},
		{"head count", `UPDATE head SET unresolved = 9`, 0, "unresolved"},
		{"lane", `UPDATE lanes SET n = n + 1`, 0, "activity"},
		{"failure", `UPDATE failures SET n = n + 1`, 0, "failures"},
		{"focus", `UPDATE focus SET event_id = 1`, 0, "focus"},
		{"tally", `UPDATE tallies SET n = 77`, 0, "counts"},
		{"handoff without its event", `INSERT INTO handoff_events VALUES(1, 999)`, 0, "999"},
		{"key events of a workspace", `UPDATE keys SET ids = x'05'`, 0, "key events"},
		{"a viewer ahead", `INSERT INTO viewers VALUES('person', 61, 1)`, 0, "viewer"},
		{"a table more", `CREATE TABLE notes(x)`, 0, "does not belong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := made(t)
			if err := raw(t, path, append(append(free, c.edit), back...)...); err != nil {
				t.Fatal(err)
			}
			r, err := ledger.VerifyFile(context.Background(), path, nil)
			if err != nil || r.OK() || r.FirstBad != c.bad || !strings.Contains(r.Problem, c.says) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	t.Run("trigger gone", func(t *testing.T) {
		path := made(t)
		if err := raw(t, path, `DROP TRIGGER events_update`); err != nil {
			t.Fatal(err)
		}
		if r, err := ledger.VerifyFile(context.Background(), path, nil); err != nil || !strings.Contains(r.Problem, "trigger events_update") {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a page overwritten", func(t *testing.T) {
		path := made(t)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		for page := int64(2); page < 30; page++ {
			f.WriteAt(bytes.Repeat([]byte{0x5a}, 300), page*4096)
		}
		f.Close()
		if r, err := ledger.VerifyFile(context.Background(), path, nil); err != nil || r.OK() {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestVerifyBesideAWriter(t *testing.T) {
	l := ledgertest.Open(t, nil)
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			update(t, l, func(tx *ledger.Tx) ([]byte, error) {
				_, err := tx.Append(ledger.Event{Actor: fmt.Sprint(i % 7), Type: [...]string{"done", "failed"}[i%2], Object: fmt.Sprint(i % 5)})
				return nil, err
			})
		}
	}()
	for range 20 {
		ledgertest.Verify(t, l)
	}
	close(stop)
	<-done
}

func TestOpenRefusesWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := raw(t, foreign, `CREATE TABLE events(id INTEGER PRIMARY KEY, actor TEXT)`, `INSERT INTO events VALUES(1, 'x')`); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.db")
	os.WriteFile(text, []byte(strings.Repeat("not a database at all. ", 40)), 0o600)
	short := filepath.Join(dir, "short.db")
	os.WriteFile(short, []byte("SQLite"), 0o600)
	newer := made(t)
	if err := raw(t, newer, `PRAGMA user_version = 900`, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want error
	}{{foreign, ledger.ErrForeign}, {text, ledger.ErrCorrupt}, {short, ledger.ErrCorrupt}, {newer, ledger.ErrNewer}} {
		before, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Open(context.Background(), ledger.Options{Path: c.path})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", filepath.Base(c.path), err, c.want)
		}
		after, _ := os.ReadFile(c.path)
		if !bytes.Equal(before, after) {
			t.Errorf("%s was written to", filepath.Base(c.path))
		}
		for _, more := range []string{"-wal", "-shm", "-journal"} {
			if _, err := os.Stat(c.path + more); err == nil {
				t.Errorf("%s%s appeared", filepath.Base(c.path), more)
			}
		}
	}
}

func TestATornEndIsFoundAtOpen(t *testing.T) {
	path := made(t)
	if err := raw(t, path, `UPDATE head SET last_id = 59`); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(context.Background(), ledger.Options{Path: path}); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "59") {
		t.Errorf("%v", err)
	}
}

func TestDeletingTheFileResetsEverything(t *testing.T) {
	for _, left := range [][]string{{}, {"-wal"}, {"-shm"}, {"-wal", "-shm"}} {
		path := made(t)
		// A log that another ledger left behind must not be replayed into the new one.
		for _, s := range left {
			os.WriteFile(path+s, bytes.Repeat([]byte("stale"), 9000), 0o600)
		}
		os.WriteFile(path+".new", []byte("half made"), 0o600)
		os.Remove(path)
		l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
		if err != nil {
			t.Fatalf("%v left: %v", left, err)
		}
		if r := ledgertest.Verify(t, l); r.Events != 0 {
			t.Errorf("%v left: %d events", left, r.Events)
		}
		orphans, err := ledger.Orphans(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if slices.Contains(left, "-wal") {
			want = 1
		}
		if len(orphans) != want || (want == 1) != (l.Orphan() != "") {
			t.Errorf("%v left: set aside %v, said %q", left, orphans, l.Orphan())
		}
		l.Close()
	}
}

func TestAFileTakenAwayIsNoticedBeforeAnythingIsLost(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(path string) error
	}{
		{"deleted", os.Remove},
		{"moved", func(p string) error { return os.Rename(p, p+".old") }},
		{"replaced", func(p string) error {
			if err := os.Rename(p, p+".old"); err != nil {
				return err
			}
			return os.WriteFile(p, nil, 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("an open file stays in its place there")
			}
			path := filepath.Join(t.TempDir(), "ledger.db")
			l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})
			if err := c.do(path); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := update(t, l, func(*ledger.Tx) ([]byte, error) { return nil, nil }); !errors.Is(err, ledger.ErrMoved) {
					t.Errorf("acknowledged into a file that is gone: %v", err)
				}
			}
			select {
			case <-l.Gone():
			default:
				t.Error("the owner was not told")
			}
			l.Close()
		})
	}
}

func TestOddFileNames(t *testing.T) {
	for _, name := range []string{"a b.db", "100%.db", "what?.db", "#1.db", "账本.db", "a&mode=ro.db", "'quote'.db"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, `?%`) {
			continue
		}
		path := filepath.Join(t.TempDir(), name)
		l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})
		ledgertest.Verify(t, l)
		l.Close()
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestLockHasOneHolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink("ledger.db", link); err != nil {
		t.Fatal(err)
	}
	a, err := ledger.Lock(path, "pid 7 role serve")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC() // an unreferenced file would lose its lock here
	runtime.GC()
	if _, err := ledger.Lock(link, "second"); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("by a link that leads nowhere yet: %v", err)
	}
	if text, held, err := ledger.Holder(link); err != nil || !held || text != "pid 7 role serve" {
		t.Errorf("holder: %q %v %v", text, held, err)
	}
	if err := a.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := ledger.Holder(path); err != nil || held {
		t.Errorf("after release: %v %v", held, err)
	}
	b, err := ledger.Lock(link, "second")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	a.Release() // a second release is harmless
	if _, held, _ := ledger.Holder(path); !held {
		t.Error("an old lock released the new one")
	}
}

func TestRealPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(dir, "real"), 0o700)
	os.Symlink("real", filepath.Join(dir, "alias"))
	os.Symlink(filepath.Join("alias", "x.db"), filepath.Join(dir, "deep"))
	os.Symlink("loop", filepath.Join(dir, "loop"))
	for in, want := range map[string]string{
		"real/x.db": "real/x.db", "alias/x.db": "real/x.db", "alias/new/x.db": "real/new/x.db", "deep": "real/x.db", "none/none/x.db": "none/none/x.db",
	} {
		got, err := ledger.RealPath(filepath.Join(dir, filepath.FromSlash(in)))
		if err != nil || got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	if _, err := ledger.RealPath(filepath.Join(dir, "loop")); err == nil {
		t.Error("a loop of links has a real path")
	}
}

// TestMain lets the test binary play the writer that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("LEDGER_TEST_WRITER"); path != "" {
		writeUntilKilled(path)
	}
	if path := os.Getenv("LEDGER_TEST_READONLY"); path != "" {
		readOnlyCheck(path)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func writeUntilKilled(path string) {
	l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	for c := range 4 {
		go func() {
			for i := 0; ; i++ {
				r, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
					e, err := tx.Append(ledger.Event{Actor: fmt.Sprintf("writer-%d", c), Type: "done", Object: fmt.Sprint(i)})
					return fmt.Appendf(nil, "%d %d %d", e.ID, c, i), err
				})
				if err != nil {
					fmt.Println("error:", err)
					os.Exit(1)
				}
				fmt.Printf("%s\n", r) // one write: acknowledged
			}
		}()
	}
	select {}
}

func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	acknowledged := 0
	for round := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LEDGER_TEST_WRITER="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := map[int64]string{}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var id int64
			var c, i int
			if n, _ := fmt.Sscanf(lines.Text(), "%d %d %d", &id, &c, &i); n != 3 {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			said[id] = fmt.Sprintf("writer-%d %d", c, i)
			if len(said) == 20+round*13 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		ledgertest.Verify(t, l)
		ledgertest.View(t, l, func(v *ledger.View) error {
			for id, what := range said {
				e, err := v.Event(id)
				if err != nil || e.Actor+" "+e.Object != what {
					t.Errorf("round %d: acknowledged event %d %s: %+v, %v", round, id, what, e, err)
				}
			}
			return nil
		})
		acknowledged += len(said)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d acknowledged events over 8 kills", acknowledged)
}

func TestTheFileIsItsOwnersAlone(t *testing.T) {
	path := made(t)
	s, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && s.Mode()&fs.ModePerm != 0o600 {
		t.Errorf("the ledger's mode is %v", s.Mode())
	}
}

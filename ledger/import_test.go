package ledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// older makes an older ledger with Python's own sqlite3.
func older(t *testing.T, kind string, more ...string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: older ledgers were made by it")
	}
	path := filepath.Join(t.TempDir(), kind+".db")
	if out, err := exec.Command(python, append([]string{"testdata/older.py", kind, path}, more...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func folder(t *testing.T, path string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = b
	}
	return out
}

func TestImportTakesEachRowOnce(t *testing.T) {
	for _, c := range []struct {
		kind                     string
		events, skipped, clipped int64
		unmapped                 string
	}{
		{"events", 30, 0, 30, ""}, {"both", 30, 0, 30, ""}, {"wal", 30, 0, 30, ""}, {"odd", 10, 0, 10, "mood, colour"}, {"bare", 3, 2, 0, ""},
	} {
		t.Run(c.kind, func(t *testing.T) {
			path := older(t, c.kind)
			before := folder(t, path)
			if yes, err := ledger.IsOlder(path); err != nil || !yes {
				t.Errorf("is older: %v, %v", yes, err)
			}
			l := ledgertest.Open(t, nil)
			r, err := l.Import(context.Background(), path, nil)
			if err != nil || r.Events != c.events || r.Skipped != c.skipped || r.Clipped != c.clipped || r.Unmapped != c.unmapped || r.Already != 0 {
				t.Errorf("%+v, %v", r, err)
			}
			// A copy of the file is the same ledger.
			again := filepath.Join(t.TempDir(), "copy.db")
			for _, s := range []string{"", "-wal"} {
				if b, err := os.ReadFile(path + s); err == nil {
					os.WriteFile(again+s, b, 0o600)
				}
			}
			if r, err := l.Import(context.Background(), again, nil); err != nil || r.Events != 0 || r.Already != c.events {
				t.Errorf("second run: %+v, %v", r, err)
			}
			after := folder(t, path)
			if len(before) != len(after) {
				t.Errorf("files beside the source: %d before, %d after", len(before), len(after))
			}
			for name, b := range before {
				if !bytes.Equal(b, after[name]) {
					t.Errorf("%s was changed", name)
				}
			}
			ledgertest.View(t, l, func(v *ledger.View) error {
				h, err := v.Head()
				if h.LastID != c.events || h.LastKey != 0 || h.Unresolved != 0 {
					t.Errorf("%+v: imported events are never key or failing", h)
				}
				total, _, _, _ := v.Movers("", 0, 10)
				if total != 0 {
					t.Errorf("%d moving", total)
				}
				return err
			})
			ledgertest.Verify(t, l)
		})
	}
}

func TestImportMapsColumnsByName(t *testing.T) {
	l := ledgertest.Open(t, nil)
	if _, err := l.Import(context.Background(), older(t, "events"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(context.Background(), older(t, "odd"), nil); err != nil {
		t.Fatal(err)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		e, err := v.Event(2)
		if e.Actor != "agent-1" || e.Type != "failed" || e.Object != "task-1" || e.ObjectType != "task" || e.Workspace != "studio" || e.Outcome != "step 1 下载" || e.File != "src/1.py" ||
			e.Session != "s1" || e.Injectable || e.Source != ledger.Import || e.SaidAt.String() != "2025-03-02T10:00:01.250Z" || string(e.Data) != `{"imported_id":"2"}` {
			t.Errorf("%+v", e)
		}
		if m, _ := e.Metrics.MarshalJSON(); string(m) != `{"tests":1,"cov":91.5,"c":1}` {
			t.Errorf("metrics %s", m)
		}
		o, _ := v.Event(31) // by the older ledger's own order
		if string(o.Data) != `{"imported_id":"91"}` || o.SaidAt.String() != "2025-03-01T10:00:09.500Z" || len([]rune(o.Outcome)) != 512 || !strings.HasSuffix(o.Outcome, "…") {
			t.Errorf("%+v", o)
		}
		return err
	})
	if got := found(t, l, "下载"); len(got) != 30 {
		t.Errorf("search finds %d imported events", len(got))
	}
}

func TestImportRefusesWhatIsNoOlderLedger(t *testing.T) {
	l := ledgertest.Open(t, nil)
	corrupt := older(t, "large", "3000")
	b, _ := os.ReadFile(corrupt)
	copy(b[len(b)/2:], bytes.Repeat([]byte{0x77}, 20000))
	os.WriteFile(corrupt, b, 0o600)
	text := filepath.Join(t.TempDir(), "text.db")
	os.WriteFile(text, []byte(strings.Repeat("words ", 100)), 0o600)
	for _, c := range []struct {
		path string
		want error
	}{
		{corrupt, ledger.ErrCorrupt}, {text, ledger.ErrCorrupt}, {older(t, "other"), ledger.ErrForeign}, {made(t), ledger.ErrInvalid},
		{filepath.Join(t.TempDir(), "none.db"), os.ErrNotExist},
	} {
		if r, err := l.Import(context.Background(), c.path, nil); !errors.Is(err, c.want) || r.Events != 0 {
			t.Errorf("%s: %+v, %v", filepath.Base(c.path), r, err)
		}
		if yes, _ := ledger.IsOlder(c.path); yes && c.path != corrupt {
			t.Errorf("%s is taken for an older ledger", filepath.Base(c.path))
		}
	}
	if r := ledgertest.Verify(t, l); r.Events != 0 {
		t.Errorf("%d events were taken from refused files", r.Events)
	}
}

func TestImportFollowsOtherTables(t *testing.T) {
	l := ledgertest.Open(t, nil)
	path := older(t, "both")
	var seen []string
	follow := map[string]ledger.Follow{"handoffs": func(tx *ledger.Tx, r ledger.Row) (int64, error) {
		seen = append(seen, r.Text("id")+" "+r.Time("created_at").String())
		e, err := tx.Append(ledger.Event{Actor: "steward", Type: "handoff_imported", Object: r.Text("id"), Source: ledger.Import})
		return e.ID, err
	}}
	for range 2 {
		if _, err := l.Import(context.Background(), path, follow); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 || seen[0] != "h1 2025-03-01T10:00:00.000Z" {
		t.Errorf("%v", seen)
	}
}

func TestImportOfALargeLedger(t *testing.T) {
	n := 200_000
	if testing.Short() || raceEnabled {
		n = 5_000 // the race detector makes SQLite some thirty times slower
	}
	l := ledgertest.Open(t, nil)
	path := older(t, "large", strconv.Itoa(n))
	r, err := l.Import(context.Background(), path, nil)
	if err != nil || r.Events != int64(n) {
		t.Fatalf("%+v, %v", r, err)
	}
	ledgertest.Verify(t, l)
}

func TestBackupRefusesNamesThatCannotBeWritten(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		there:                            "does not exist yet",
		filepath.Join(there, "below.db"): "this system can write",
		filepath.Join(dir, strings.Repeat("x", 252)+".db"):      "this system can write",
		filepath.Join(dir, strings.Repeat("x", 255-18-2)+".db"): "this system can write", // itself, but not what is made on the way
	} {
		var field *ledger.FieldError
		if err := l.Backup(t.Context(), name); !errors.As(err, &field) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", name, err, want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
	if err := l.Backup(t.Context(), filepath.Join(dir, strings.Repeat("x", 255-18-3)+".db")); err != nil {
		t.Error(err)
	}
}

func TestBackupIsWholeWhileTheLedgerIsWritten(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Outcome: "before the copy"})
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				ledgertest.Append(t, l, ledger.Event{Actor: "b", Type: "failed"})
			}
		}
	}()
	dir := t.TempDir()
	to := filepath.Join(dir, "copy.db")
	if err := l.Backup(context.Background(), to); err != nil {
		t.Fatal(err)
	}
	close(stop)
	<-done
	if err := l.Backup(context.Background(), to); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("over an existing file: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	if s, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && s.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", s.Mode(), err)
	}
	// Put back beside the log of the ledger it replaces, as a hasty person does.
	for _, suffix := range []string{"-wal", "-shm"} {
		b, err := os.ReadFile(l.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := ledger.VerifyFile(context.Background(), to, nil); err != nil || !r.OK() {
		t.Errorf("the copy beside a stale log: %+v, %v", r, err)
	}
	restored, err := ledger.Open(context.Background(), ledger.Options{Path: to})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	ledgertest.Verify(t, restored)
	if got := found(t, restored, "copy"); len(got) != 1 {
		t.Errorf("search in the copy: %v", got)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Backup(gone, filepath.Join(dir, "never.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if n, err := ledger.SearchBehind(l.Path()); err != nil || n < 0 {
		t.Errorf("behind: %d, %v", n, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// sqliteFile makes a database with a driver of its own.
func sqliteFile(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A view computes its rows, without an end if it likes.
func TestImportReadsTablesAlone(t *testing.T) {
	const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT `
	l := ledgertest.Open(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	view := sqliteFile(t, `CREATE VIEW events AS `+endless+`'a' AS actor, 'b' AS type FROM n WHERE i < 0`)
	if is, err := ledger.IsOlder(view); is || err != nil {
		t.Errorf("a view: is older %v, %v", is, err)
	}
	if _, err := l.Import(ctx, view, nil); !errors.Is(err, ledger.ErrForeign) {
		t.Errorf("a view: %v", err)
	}
	virtual := sqliteFile(t, `CREATE VIRTUAL TABLE events USING fts5(actor, type)`)
	if _, err := l.Import(ctx, virtual, nil); !errors.Is(err, ledger.ErrForeign) {
		t.Errorf("a virtual table: %v", err)
	}
	beside := sqliteFile(t, `CREATE TABLE Events(actor, type)`, `INSERT INTO events VALUES('me', 'done')`, `CREATE VIEW handoffs AS `+endless+`i AS id FROM n`)
	r, err := l.Import(ctx, beside, map[string]ledger.Follow{"handoffs": func(*ledger.Tx, ledger.Row) (int64, error) { return 0, nil }})
	if err != nil || r.Events != 1 || r.Others != 0 {
		t.Errorf("a view beside a table: %+v, %v", r, err)
	}
}

func TestImportEndsWithItsCaller(t *testing.T) {
	path := sqliteFile(t, `CREATE TABLE events(actor, type)`, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000) INSERT INTO events SELECT 'me', 'done' FROM n`,
		`CREATE TABLE more(id)`, `INSERT INTO more VALUES(1)`)
	l := ledgertest.Open(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := l.Import(ctx, path, map[string]ledger.Follow{"more": func(*ledger.Tx, ledger.Row) (int64, error) { cancel(); return 0, nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	if _, err := l.Import(ended, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("not begun: %v", err)
	}
	if r, err := l.Import(context.Background(), path, nil); err != nil || r.Already != 2000 {
		t.Errorf("the next run: %+v, %v", r, err)
	}
}

package daemon

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"steward/ledger"
)

// olderLedger makes a ledger as the older program left it, with n events and one
// handoff.
func olderLedger(t *testing.T, path string, n int) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err == nil {
		db.SetMaxOpenConns(1)
		_, err = db.ExecContext(context.Background(), fmt.Sprintf(`CREATE TABLE events(id INTEGER PRIMARY KEY, ts TEXT, actor TEXT, type TEXT, outcome TEXT);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO events SELECT i, '2025-03-01T10:00:00Z', 'agent', 'done', 'older ' || i FROM n;
			CREATE TABLE handoffs(id TEXT, target TEXT, status TEXT, instruction TEXT, idempotency_key TEXT);
			INSERT INTO handoffs VALUES('h1', 'studio', 'pending', 'export the stems', 'k1')`, n))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tellTold reads what the ledger says of the service's own work.
func tellTold(t *testing.T, p Paths) Told {
	t.Helper()
	told, err := ReadTold(context.Background(), p.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindOlder(t *testing.T) {
	dir := realDir(t)
	home, user := filepath.Join(dir, "home"), filepath.Join(dir, "user")
	own := filepath.Join(home, "ledger.db")
	usual := olderLedger(t, filepath.Join(user, "Documents", "ShadowRoom", "_steward", "ledger.db"), 1)
	other := olderLedger(t, filepath.Join(dir, "other.db"), 1)
	mine := write(t, filepath.Join(dir, "mine.db"), header("STWR"))
	for _, c := range []struct {
		name          string
		env           Env
		ledger, older string
	}{
		{"in its usual place", Env{"HOME": user}, own, usual},
		{"none there", Env{"HOME": dir}, own, ""},
		{"named by our variable", Env{"HOME": user, "STEWARD_DB": other}, own, other},
		{"named by theirs", Env{"HOME": user, "SHADOWROOM_STEWARD_DB": other}, own, other},
		{"a ledger of ours is named", Env{"HOME": user, "STEWARD_DB": mine}, mine, ""},
		{"a new ledger is named", Env{"HOME": user, "STEWARD_DB": filepath.Join(dir, "new.db")}, filepath.Join(dir, "new.db"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.env["STEWARD_HOME"] = home
			p := find(t, c.env)
			if p.Ledger != c.ledger || p.Older != c.older {
				t.Errorf("Ledger %s, Older %q; want %s, %q", p.Ledger, p.Older, c.ledger, c.older)
			}
			if again := find(t, NewEnv(childEnv(c.env, p))); again != p {
				t.Errorf("the child finds\n%+v\nwant\n%+v", again, p)
			}
		})
	}
	write(t, own, header("STWR"))
	if p := find(t, Env{"HOME": user, "STEWARD_HOME": home}); p.Older != "" {
		t.Errorf("with a ledger of our own, %s is still looked at", p.Older)
	}
}

func TestOlderLedgerIsTakenOverOnce(t *testing.T) {
	e := env(t)
	source := olderLedger(t, filepath.Join(e["HOME"], "Documents", "ShadowRoom", "_steward", "ledger.db"), 1234)
	before := content(t, source)
	p := find(t, e)
	if p.Older != source {
		t.Fatalf("older %q; want %s", p.Older, source)
	}
	s := start(t, Options{Paths: p, Env: e})
	s.reaches(Serving)
	c := connect(t, p)
	// The key of a handoff counts from the first call on.
	if got := c.call("handoff_create", map[string]any{"target": "studio", "instruction": "export the stems", "idempotency_key": "k1"}); got["duplicate"] != true {
		t.Errorf("handoff_create: %v; want the older one", got)
	}
	if r := c.call("situation_report", map[string]any{}); len(r["key_events"].([]any)) != 0 {
		t.Errorf("key events: %v; want none", r["key_events"])
	}
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.log.String(), "the older ledger is taken over") || !strings.Contains(s.log.String(), source) {
		t.Error("the log does not say so")
	}
	told := tellTold(t, p)
	if told.Import == nil || told.Import.Type != ImportDone || told.Import.File != source || told.Import.Injectable || told.Import.Source != ledger.System ||
		told.Import.Outcome != "1235 events and handoffs of an older ledger are taken over" {
		t.Fatalf("%+v", told.Import)
	}
	var r ledger.Imported
	if err := json.Unmarshal(told.Import.Data, &r); err != nil || r.Source != source || r.Events != 1234 || r.Others != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if !bytes.Equal(content(t, source), before) {
		t.Error("the older file was changed")
	}

	// Never again: not at the next start, nor when a variable names it.
	for _, more := range []Env{e, {"HOME": e["HOME"], "STEWARD_HOME": e["STEWARD_HOME"], "STEWARD_DB": source}} {
		p := find(t, more)
		next := start(t, Options{Paths: p, Env: more})
		next.reaches(Serving)
		next.stop()
		if err := next.ends(); err != nil {
			t.Fatal(err)
		}
		if got := tellTold(t, p); got.Import.ID != told.Import.ID {
			t.Errorf("taken over again: %+v", got.Import)
		}
	}
}

func TestTakeOverOfAnOlderLedgerGoesOn(t *testing.T) {
	e := env(t)
	e["STEWARD_DB"] = olderLedger(t, filepath.Join(e["HOME"], "theirs.db"), 3000)
	p := find(t, e)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	// The first start breaks off after some hundred rows, as a crash would.
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			changed := log.Changed()
			var last int64
			_ = log.View(ctx, func(v *ledger.View) error { // ends with ctx
				h, err := v.Head()
				last = h.LastID
				return err
			})
			if last > 1 {
				cancel()
				return
			}
			<-changed
		}
	}()
	first := service{Options: Options{Paths: p, Logger: quiet()}}
	first.importOlder(ctx, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if told := tellTold(t, p); told.Import == nil || told.Import.Type != ImportBegun {
		t.Fatalf("%+v; want it begun", told.Import)
	}
	// The next one needs no variable to go on.
	delete(e, "STEWARD_DB")
	s := start(t, Options{Paths: find(t, e), Env: e})
	s.reaches(Serving)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	told := tellTold(t, p)
	if told.Import.Type != ImportDone || told.Import.Outcome != "3001 events and handoffs of an older ledger are taken over" {
		t.Errorf("%+v", told.Import)
	}
	seen := map[string]int{}
	if err := ledger.ReadFile(context.Background(), p.Ledger, ledger.Selection{Actor: "agent"}, func(e ledger.Event) error {
		seen[e.Outcome]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for outcome, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", outcome, n)
		}
	}
	if len(seen) != 3000 {
		t.Errorf("%d rows; want 3000", len(seen))
	}
}

func TestOlderLedgerThatCannotBeTaken(t *testing.T) {
	e := env(t)
	source := olderLedger(t, filepath.Join(e["HOME"], "theirs.db"), 3000)
	good := content(t, source)
	bad := bytes.Clone(good)
	for i := len(bad) / 2; i < len(bad)/2+3*4096; i++ {
		bad[i] = 0xff
	}
	write(t, source, bad)
	e["SHADOWROOM_STEWARD_DB"] = source
	p := find(t, e)
	run := func(text string) {
		t.Helper()
		s := start(t, Options{Paths: p, Env: e})
		s.reaches(Serving)
		connect(t, p).call("recent_events", map[string]any{})
		s.stop()
		if err := s.ends(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.log.String(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	run("is damaged")
	first := tellTold(t, p)
	if first.Import == nil || first.Import.Type != ImportFailed || first.Import.File != source || !strings.Contains(first.Import.Outcome, "is damaged") {
		t.Fatalf("%+v", first.Import)
	}
	run("is damaged")
	if again := tellTold(t, p); again.Import.ID != first.Import.ID {
		t.Errorf("the same failure was noted again: %+v", again.Import)
	}
	if !bytes.Equal(content(t, source), bad) {
		t.Error("the damaged file was changed")
	}
	write(t, source, good)
	run("the older ledger is taken over")
	if now := tellTold(t, p); now.Import.Type != ImportDone {
		t.Errorf("once it is repaired: %+v", now.Import)
	}
	for _, e := range events(t, p)[:3] {
		if e.Failing() && e.Type != ImportFailed {
			t.Errorf("%+v", e)
		}
	}
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // only read
	if err := log.View(context.Background(), func(v *ledger.View) error {
		_, err := v.FailureOf(self, ImportObject, "")
		if !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("its failure still stands: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestOlderLedgerThatIsGone(t *testing.T) {
	e := env(t)
	e["SHADOWROOM_STEWARD_DB"] = olderLedger(t, filepath.Join(e["HOME"], "theirs.db"), 10)
	p := find(t, e)
	if err := os.Remove(p.Older); err != nil { // after it was found
		t.Fatal(err)
	}
	write(t, p.Older, header("\x00\x00\x00\x00")) // and what is there now is damaged
	for _, step := range []string{ImportFailed, ImportGivenUp, ImportGivenUp} {
		s := start(t, Options{Paths: p, Env: e})
		s.reaches(Serving)
		s.stop()
		if err := s.ends(); err != nil {
			t.Fatal(err)
		}
		if told := tellTold(t, p); told.Import == nil || told.Import.Type != step {
			t.Fatalf("%+v; want %s", told.Import, step)
		}
		if err := os.Remove(p.Older); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func TestAnotherProgramsDatabaseIsNotTakenOver(t *testing.T) {
	e := env(t)
	e["SHADOWROOM_STEWARD_DB"] = filepath.Join(e["HOME"], "music.db")
	db, err := sql.Open("sqlite", e["SHADOWROOM_STEWARD_DB"])
	if err == nil {
		_, err = db.ExecContext(context.Background(), `CREATE TABLE events(starts TEXT, ends TEXT)`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	p := find(t, e)
	s := start(t, Options{Paths: p, Env: e})
	s.reaches(Serving)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	if all := events(t, p); len(all) != 0 {
		t.Errorf("%+v; want an empty ledger", all)
	}
	if !strings.Contains(s.log.String(), "this is no older ledger") {
		t.Error("the log does not say so")
	}
	e["STEWARD_DB"] = e["SHADOWROOM_STEWARD_DB"]
	if p := find(t, e); p.Ledger != e["STEWARD_DB"] || p.Older != "" {
		t.Errorf("%+v; want our own variable to mean it, so that opening it is refused", p)
	}
}

//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/app/daemon"
	"steward/ledger"
)

// The restore drill: whatever happens to the ledger, the newest copy brings
// back all that was there when it was made, and work goes on from there.
func TestRestoreDrill(t *testing.T) {
	h := newHouse(t)
	b := h.bridge()
	for i := range 50 {
		b.mustReport("me", fmt.Sprint("before ", i))
	}
	h.ok("call", "handoff_create", "--target", "studio", "--instruction", "Record the vocals", "--idempotency-key", "k1")
	copied := filepath.Join(h.dir, "copy.db")
	h.ok("backup", copied)
	b.mustReport("me", "after the copy")
	kill(t, h.holder())
	b.in.Close() //nolint:errcheck // the client goes as well
	b.exits()
	h.end() // a service that the bridge may have started meanwhile
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(h.paths().Ledger + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if out := h.ok("verify", copied); !strings.HasPrefix(out, "51 events, no fault found") {
		t.Errorf("the copy: %s", out)
	}
	whole, err := os.ReadFile(copied)
	if err == nil {
		err = os.WriteFile(h.paths().Ledger, whole, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := h.ok("verify"); !strings.HasPrefix(out, "51 events, no fault found") {
		t.Errorf("in its place: %s", out)
	}
	if out := h.ok("emit", "going on", "--actor", "me"); !strings.Contains(out, "event 52 ") {
		t.Errorf("going on: %s", out)
	}
	if out := h.ok("search", "before 49"); !strings.HasPrefix(out, "#50 ") {
		t.Errorf("search: %s", out)
	}
	if out := h.ok("call", "--json", "handoff_create", "--target", "studio", "--instruction", "Record the vocals", "--idempotency-key", "k1"); !strings.Contains(out, `"duplicate":true`) {
		t.Errorf("the handoff: %s", out)
	}
	h.ok("verify")
	h.ok("doctor")
}

// A ledger file that is lost beside its write-ahead log: Steward starts, says so
// until the person has seen it, and keeps what is needed to get everything back.
func TestALedgerFileLostBesideItsLog(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "the first", "--actor", "me")
	h.end() // the next start finds something to copy
	b := h.bridge()
	for i := range 20 {
		b.mustReport("me", fmt.Sprint("before ", i))
	}
	eventually(t, "the daily copy", func() bool {
		daily, _, err := daemon.DailyBackups(h.paths().Backups)
		return err == nil && len(daily) == 1
	})
	daily, _, _ := daemon.DailyBackups(h.paths().Backups)
	kill(t, h.holder())
	b.in.Close() //nolint:errcheck // the client goes as well
	b.exits()
	h.end()
	older := filepath.Join(h.paths().Backups, "daily-20260101T000000Z-1.db") // the names of both tell seconds only
	if err := os.Rename(daily[0].File, older); err != nil {
		t.Fatal(err)
	}
	path, found := h.paths().Ledger, filepath.Join(h.dir, "found.db")
	if fi, err := os.Stat(path + "-wal"); err != nil || fi.Size() < 4096 {
		t.Fatalf("the log holds nothing: %v %v", fi, err)
	}
	if err := os.Rename(path, found); err != nil {
		t.Fatal(err)
	}
	if out := h.ok("status"); !strings.Contains(out, "the ledger file was gone") {
		t.Errorf("status: %s", out)
	}
	kept, err := ledger.Orphans(path)
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if a := h.run("doctor"); a.code != 7 || !strings.Contains(a.out, "!!  lost ledger") || !strings.Contains(a.out, kept[0].File) || !strings.Contains(a.out, "restore "+older) {
		t.Errorf("doctor: %+v", a)
	}
	h.end()
	h.ok("status") // once is enough
	if n := len(h.events()); n != 1 {
		t.Errorf("%d events", n)
	}
	if err := os.Rename(kept[0].File, found+"-wal"); err != nil {
		t.Fatal(err)
	}
	h.ok("restore", found)
	if n := len(h.events()); n != 21 {
		t.Errorf("%d events came back", n)
	}
	h.ok("verify")
	h.ok("doctor")
}

// olderRows is how many events of an older program a test takes over: enough to
// be killed in the middle of it.
const olderRows = 20_000

func TestKilledWhileTakingOverAnOlderLedger(t *testing.T) {
	h := newHouse(t)
	h.env = append(h.env, "TMPDIR="+h.dir) // what the killed one leaves there goes with the house
	usual := filepath.Join(h.dir, "Documents", "ShadowRoom", "_steward", "ledger.db")
	if err := os.MkdirAll(filepath.Dir(usual), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := onFile(usual, `CREATE TABLE events(id INTEGER PRIMARY KEY, ts TEXT, actor TEXT, type TEXT, outcome TEXT)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO events SELECT i, '2025-03-01T10:00:00Z', 'agent', 'done', 'older ' || i FROM n`, olderRows)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(usual)
	if err != nil {
		t.Fatal(err)
	}
	taken := func() (seen map[string]int) {
		seen = map[string]int{}
		err := ledger.ReadFile(context.Background(), h.paths().Ledger, ledger.Selection{Actor: "agent"}, func(e ledger.Event) error {
			seen[e.Outcome]++
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return seen
	}
	first := h.start(h.command(thisVersion, "serve"))
	eventually(t, "the first rows", func() bool { return len(taken()) > 0 })
	kill(t, first.cmd.Process.Pid)
	first.exits()
	if n := len(taken()); n == 0 || n == olderRows {
		t.Fatalf("killed with %d rows taken; want it in the middle", n)
	}
	// The next start goes on, and a call waits for its end.
	h.ok("status")
	seen := taken()
	for outcome, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", outcome, n)
		}
	}
	if len(seen) != olderRows {
		t.Errorf("%d rows; want %d", len(seen), olderRows)
	}
	if out := h.ok("doctor"); !strings.Contains(out, usual+": 20000 events and handoffs of an older ledger are taken over") {
		t.Errorf("doctor:\n%s", out)
	}
	if after, err := os.ReadFile(usual); err != nil || string(after) != string(before) {
		t.Errorf("the older file was changed: %v", err)
	}
	files, err := os.ReadDir(filepath.Dir(usual))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v; want nothing beside the older file", files, err)
	}
}

func TestDoctorComparesTheClock(t *testing.T) {
	h := newHouse(t)
	p := h.paths()
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	future := time.Now().Add(3 * time.Hour)
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger, Now: func() time.Time { return future }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		_, err := tx.Append(ledger.Event{Actor: "me", Type: "done"})
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if out := h.ok("doctor"); !strings.Contains(out, "!   clock") || !strings.Contains(out, "the ledger has an event of "+ledger.At(future).String()) {
		t.Errorf("doctor:\n%s", out)
	}
}

func TestDoctorSaysThatThereAreNoDailyCopies(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "hello", "--actor", "me")
	h.end()
	p := h.paths()
	if err := os.WriteFile(p.Backups, []byte("a file where the folder should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ok("status")
	eventually(t, "the failure's event", func() bool {
		told, err := daemon.ReadTold(context.Background(), p.Ledger)
		return err == nil && told.BackupFailed != nil
	})
	if a := h.run("doctor"); a.code != 6 || !strings.Contains(a.out, "!!  backups") {
		t.Errorf("doctor: exit %d\n%s", a.code, a.out)
	}
	if out := h.ok("status"); !strings.Contains(out, "daily_backup") {
		t.Errorf("status:\n%s", out)
	}
	h.end()
	if err := os.Remove(p.Backups); err != nil {
		t.Fatal(err)
	}
	h.ok("status")
	eventually(t, "the copy", func() bool {
		told, err := daemon.ReadTold(context.Background(), p.Ledger)
		return err == nil && told.BackupFailed == nil
	})
	if out := h.ok("doctor"); !strings.Contains(out, "the newest of 1 daily copy is "+filepath.Join(p.Backups, "daily-")) {
		t.Errorf("doctor:\n%s", out)
	}
}

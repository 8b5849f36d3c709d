package ticket

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// verify recomputes the queue from its audit, and notices an answer that nobody
// gave.
func TestVerifyKnowsTickets(t *testing.T) {
	clock := ledgertest.NewClock()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(t.Context(), ledger.Options{Path: path, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, who := range []string{"a", "b", "c", "d", "e"} {
		ids = append(ids, asked(t, l, Question{AskedBy: who, Question: who + "?", Default: "no", Timeout: time.Minute}).ID)
	}
	do := func(fn func(tx *ledger.Tx) error) {
		t.Helper()
		if _, err := update(t, l, func(tx *ledger.Tx) (int, error) { return 0, fn(tx) }); err != nil {
			t.Fatal(err)
		}
	}
	do(func(tx *ledger.Tx) error { _, err := Answer(tx, ids[0], "yes", nil, person); return err })
	do(func(tx *ledger.Tx) error { _, _, err := Deliver(tx, ids[0], "a", by("a")); return err })
	do(func(tx *ledger.Tx) error { _, err := Undo(tx, ids[0], nil, person); return err })
	do(func(tx *ledger.Tx) error { _, _, err := Deliver(tx, ids[0], "a", by("a")); return err })
	do(func(tx *ledger.Tx) error { _, err := Answer(tx, ids[1], "yes", nil, person); return err })
	do(func(tx *ledger.Tx) error { _, _, err := Cancel(tx, ids[2], "c", by("c")); return err })
	clock.Add(2 * time.Minute)
	// A wait that is quicker than the timer writes the expiry down itself.
	do(func(tx *ledger.Tx) error { _, _, err := Deliver(tx, ids[4], "e", by("e")); return err })
	do(func(tx *ledger.Tx) error { _, err := RecordExpired(tx); return err })
	if r, err := l.Verify(context.Background()); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for statement, says := range map[string]string{
		`UPDATE tickets SET answer = 'yes' WHERE status = 2`: "answer",
		`UPDATE tickets SET status = 1 WHERE status = 3`:     "status",
		`UPDATE tickets SET expires_at = expires_at + 1`:     "expiry",
		`DELETE FROM ticket_events WHERE event_id > 8`:       "linked",
		`DELETE FROM tickets WHERE seq = 5`:                  "missing",
	} {
		copied := filepath.Join(t.TempDir(), "copy.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`VACUUM INTO ?`, copied); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if db, err = sql.Open("sqlite", copied); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := ledger.VerifyFile(t.Context(), copied, nil)
		if err != nil || r.OK() || !strings.Contains(r.Problem, says) {
			t.Errorf("%s: %+v, %v", statement, r, err)
		}
	}
}

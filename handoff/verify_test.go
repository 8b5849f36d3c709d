package handoff_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

// TestVerifyComparesHandoffsWithTheirEvents changes one row or link at a time in
// a copy of a ledger whose handoffs have gone every way there is.
func TestVerifyComparesHandoffsWithTheirEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(context.Background(), ledger.Options{Path: path, Now: ledgertest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range []string{"pending", "claimed", "running", "finished", "released", "settled"} {
		ids = append(ids, string(fresh(t, l, key).ID))
	}
	for i, id := range ids[1:] {
		claim(t, l, id, "w1")
		if i > 0 {
			claim(t, l, id, "w1")
		}
	}
	if _, err := finish(t, l, handoff.FinishCommand{Ref: ids[3], Worker: "w1", Status: handoff.Done, Outcome: "mixed"}); err != nil {
		t.Fatal(err)
	}
	if _, err := release(t, l, handoff.ReleaseCommand{Ref: ids[4]}); err != nil {
		t.Fatal(err)
	}
	if _, err := settle(t, l, handoff.SettleCommand{Ref: ids[5], Status: handoff.Cancelled}); err != nil {
		t.Fatal(err)
	}
	for _, old := range []ledger.Row{
		{"id": "o1", "target": "attic", "status": "claimed", "instruction": "carry it down", "worker_session_id": "w9", "created_at": "2025-03-01T10:00:00Z", "claimed_at": "2025-03-01T11:00:00Z"},
		{"id": "o2", "target": "attic", "status": "done", "instruction": "sweep it"},
	} {
		if _, err := update(t, l, func(tx *ledger.Tx) (int64, error) { return handoff.Older(tx, old) }); err != nil {
			t.Fatal(err)
		}
	}
	ledgertest.Verify(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, edit, says string }{
		{"status", `UPDATE handoffs SET status = 2 WHERE seq = 2; UPDATE handoffs SET status = 1 WHERE seq = 3`, "status of handoff " + ids[1]},
		{"owner", `UPDATE handoffs SET worker_session_id = 'w2' WHERE seq IN (3, 4)`, "owner of handoff " + ids[2]},
		{"no owner", `UPDATE handoffs SET worker_session_id = NULL WHERE seq = 2`, "owner of handoff " + ids[1]},
		{"fence", `UPDATE handoffs SET fence = fence + 1 WHERE seq = 5`, "fence of handoff " + ids[4]},
		{"target", `UPDATE handoffs SET target = 'studio' WHERE seq = 1`, "target of handoff " + ids[0]},
		{"created", `UPDATE handoffs SET created_at = created_at - 1 WHERE seq = 1`, "time of handoff " + ids[0]},
		{"finished", `UPDATE handoffs SET finished_at = NULL WHERE seq = 4`, "time of handoff " + ids[3]},
		{"settled", `UPDATE handoffs SET claimed_at = NULL WHERE seq = 6`, "time of handoff " + ids[5]},
		{"imported owner", `UPDATE handoffs SET worker_session_id = 'w1' WHERE seq = 7`, "owner of handoff"},
		{"imported fence", `UPDATE handoffs SET fence = 3 WHERE seq = 7`, "fence of handoff"},
		{"a link gone", `DELETE FROM handoff_events WHERE event_id = 4`, "handoff " + ids[3] + " is linked"},
		{"every link gone", `DELETE FROM handoff_events`, "handoff " + ids[0] + " is linked"},
		{"a link to another's event", `UPDATE handoff_events SET event_id = 5 WHERE event_id = 6`, "handoff " + ids[5] + " is linked"},
		{"a link of no handoff", `INSERT INTO handoff_events VALUES(99, 1)`, "event 1 is linked"},
		{"a row gone", `DELETE FROM handoff_events WHERE handoff = 1; DELETE FROM handoffs WHERE seq = 1; UPDATE tallies SET n = n - 1 WHERE what = 'handoffs' AND part = 0`, "event 1 tells of handoff " + ids[0]},
		{"a row more", `INSERT INTO handoffs(seq, id, target, status, instruction, idempotency_key, digest, created_at) VALUES(99, 'ho_x', 'dj', 0, 'x', 'x', zeroblob(32), 1);
			UPDATE tallies SET n = n + 1 WHERE what = 'handoffs' AND part = 0`, "no event tells of handoff ho_x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.edit); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := ledger.VerifyFile(context.Background(), path, nil)
			if err != nil || r.OK() || !strings.Contains(r.Problem, c.says) {
				t.Errorf("%q, %v; want %q", r.Problem, err, c.says)
			}
		})
	}
}

package handoff_test

import (
	"context"
	"encoding/json"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

var (
	targets = []string{"studio", "dj", "library"}
	agent   = handoff.By{Workspace: "api", Session: "conn-1"}
	person  = handoff.By{Person: true}
)

// update runs fn as one update and returns what it returned.
func update[T any](t testing.TB, l *ledger.Log, fn func(tx *ledger.Tx) (T, error)) (out T, err error) {
	t.Helper()
	_, err = l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		var err error
		out, err = fn(tx)
		return nil, err
	})
	return out, err
}

// look runs fn on a snapshot and returns what it returned.
func look[T any](t testing.TB, l *ledger.Log, fn func(v *ledger.View) (T, error)) (out T, err error) {
	t.Helper()
	err = l.View(context.Background(), func(v *ledger.View) error {
		var err error
		out, err = fn(v)
		return err
	})
	return out, err
}

func create(t testing.TB, l *ledger.Log, n handoff.NewHandoff, by handoff.By) (handoff.CreateResult, error) {
	t.Helper()
	return update(t, l, func(tx *ledger.Tx) (handoff.CreateResult, error) { return handoff.Create(tx, n, targets, by) })
}

// fresh makes a handoff with a key of its own.
func fresh(t testing.TB, l *ledger.Log, key string) handoff.Handoff {
	t.Helper()
	r, err := create(t, l, handoff.NewHandoff{Target: "dj", Instruction: "mix it", Key: key}, agent)
	if err != nil || !r.Created {
		t.Fatalf("create: %+v, %v", r, err)
	}
	return r.Handoff
}

func claim(t testing.TB, l *ledger.Log, id, worker string) handoff.ClaimResult {
	t.Helper()
	r, err := update(t, l, func(tx *ledger.Tx) (handoff.ClaimResult, error) { return handoff.Claim(tx, id, worker, agent) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func finish(t testing.TB, l *ledger.Log, c handoff.FinishCommand) (handoff.FinishResult, error) {
	t.Helper()
	return update(t, l, func(tx *ledger.Tx) (handoff.FinishResult, error) { return handoff.Finish(tx, c, agent) })
}

func release(t testing.TB, l *ledger.Log, c handoff.ReleaseCommand) (handoff.Handoff, error) {
	t.Helper()
	return update(t, l, func(tx *ledger.Tx) (handoff.Handoff, error) { return handoff.Release(tx, c, person) })
}

func settle(t testing.TB, l *ledger.Log, c handoff.SettleCommand) (handoff.Handoff, error) {
	t.Helper()
	return update(t, l, func(tx *ledger.Tx) (handoff.Handoff, error) { return handoff.Settle(tx, c, person) })
}

func get(t testing.TB, l *ledger.Log, ref string) handoff.Handoff {
	t.Helper()
	h, err := look(t, l, func(v *ledger.View) (handoff.Handoff, error) { return handoff.Get(v, ref) })
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func transitions(t testing.TB, l *ledger.Log, id handoff.ID) []handoff.Transition {
	t.Helper()
	out, err := look(t, l, func(v *ledger.View) ([]handoff.Transition, error) {
		items, _, err := handoff.Transitions(v, string(id))
		return items, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func head(t testing.TB, l *ledger.Log) ledger.Head {
	t.Helper()
	h, err := look(t, l, (*ledger.View).Head)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func events(t testing.TB, l *ledger.Log) []ledger.Event {
	t.Helper()
	out, err := look(t, l, func(v *ledger.View) ([]ledger.Event, error) {
		e, _, err := v.Events(0, 200)
		return e, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkCounts compares the kept counts with the rows, and the events with the
// transitions.
func checkCounts(t testing.TB, l *ledger.Log, want handoff.Count) {
	t.Helper()
	got, err := look(t, l, handoff.Counts)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		var linked, told int64
		if err := v.QueryRow(`SELECT count(*) FROM handoff_events`).Scan(&linked); err != nil {
			return err
		}
		if err := v.QueryRow(`SELECT count(*) FROM events e JOIN names n ON n.id = e.type WHERE n.name LIKE 'handoff!_%' ESCAPE '!'`).Scan(&told); err != nil {
			return err
		}
		if linked != told {
			t.Errorf("%d handoff events, %d linked", told, linked)
		}
		return nil
	})
}

func plain(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

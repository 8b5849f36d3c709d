package ticket

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

func by(workspace string) handoff.By { return handoff.By{Workspace: workspace} }

var person = handoff.By{Person: true}

func update[T any](t testing.TB, l *ledger.Log, fn func(tx *ledger.Tx) (T, error)) (out T, err error) {
	t.Helper()
	_, err = l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		var err error
		out, err = fn(tx)
		return nil, err
	})
	return out, err
}

func look[T any](t testing.TB, l *ledger.Log, fn func(v *ledger.View) (T, error)) T {
	t.Helper()
	var out T
	if err := l.View(context.Background(), func(v *ledger.View) error {
		var err error
		out, err = fn(v)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func asked(t testing.TB, l *ledger.Log, q Question) Ticket {
	t.Helper()
	if q.Stream == "" {
		q.Stream = q.AskedBy
	}
	q.Reversible = true
	r, err := update(t, l, func(tx *ledger.Tx) (AskResult, error) { return Ask(tx, q, by(q.AskedBy)) })
	if err != nil || !r.Created {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Ticket
}

// The queue is in the file: it survives the service, and an expiry that passed
// meanwhile has passed.
func TestTheQueueSurvives(t *testing.T) {
	clock := ledgertest.NewClock()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(t.Context(), ledger.Options{Path: path, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	q := Question{AskedBy: "api", Question: "Go?", Options: []string{"yes", "no"}, Context: "a\nb", Urgency: Blocking, Default: "no", Timeout: time.Minute}
	first, second := asked(t, l, q), asked(t, l, Question{AskedBy: "web", Question: "Stay?", Timeout: time.Hour})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Add(2 * time.Minute)
	l = ledgertest.OpenWith(t, ledger.Options{Path: path, Now: clock.Now})
	got := look(t, l, func(v *ledger.View) (Ticket, error) { return Get(v, first.ID, v.Now()) })
	if got.Status != Expired || got.Answer != "no" || got.AnsweredBy != Default || got.Context != q.Context || len(got.Options) != 2 || got.Urgency != Blocking {
		t.Errorf("%+v", got)
	}
	if next := look(t, l, NextExpiry); next != first.ExpiresAt {
		t.Errorf("the next expiry to write down is %v, want %v", next, first.ExpiresAt)
	}
	// Nobody has written it down; a late answer is refused all the same.
	_, err = update(t, l, func(tx *ledger.Tx) (AnswerResult, error) { return Answer(tx, first.ID, "yes", nil, person) })
	if !errors.Is(err, ErrExpired) {
		t.Errorf("a late answer: %v", err)
	}
	if n, err := update(t, l, RecordExpired); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := update(t, l, RecordExpired); n != 0 || err != nil {
		t.Errorf("a second time: %d, %v", n, err)
	}
	if next := look(t, l, NextExpiry); next != second.ExpiresAt {
		t.Errorf("then %v, want %v", next, second.ExpiresAt)
	}
	again := look(t, l, func(v *ledger.View) (Ticket, error) { return Get(v, first.ID, v.Now()) })
	again.seq, got.seq = 0, 0
	if fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("written down it is\n%+v, before it was\n%+v", again, got)
	}
}

func TestOneCardManyAskers(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	var ids []string
	for _, who := range []string{"a", "b", "c"} {
		ids = append(ids, asked(t, l, Question{AskedBy: who, Question: "Same?", Timeout: time.Hour}).ID)
	}
	other := asked(t, l, Question{AskedBy: "a", Question: "Other?", Urgency: Blocking, Timeout: time.Hour})
	count := func() Count {
		return look(t, l, func(v *ledger.View) (Count, error) { c, _, err := Counts(v, v.Now()); return c, err })
	}
	if c := count(); c != (Count{2, 1}) {
		t.Errorf("%+v", c)
	}
	// The card showed two of the three.
	r, err := update(t, l, func(tx *ledger.Tx) (AnswerResult, error) { return Answer(tx, ids[0], "yes", ids[:2], person) })
	if err != nil || len(r.Answered) != 2 || len(r.Missed) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if c := count(); c != (Count{2, 1}) {
		t.Errorf("the third still waits: %+v", c)
	}
	// A page that was behind reaches the one that is left, and is told of the others.
	r, err = update(t, l, func(tx *ledger.Tx) (AnswerResult, error) { return Answer(tx, ids[0], "no", ids, person) })
	if err != nil || len(r.Answered) != 1 || r.Answered[0].ID != ids[2] || len(r.Missed) != 2 || r.Ticket.Answer != "yes" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := update(t, l, func(tx *ledger.Tx) (AnswerResult, error) { return Answer(tx, ids[0], "no", ids, person) }); !errors.Is(err, ErrAnswered) {
		t.Errorf("nothing left: %v", err)
	}
	if _, err := update(t, l, func(tx *ledger.Tx) (AnswerResult, error) { return Answer(tx, other.ID, "no", ids, person) }); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("another question's ids: %v", err)
	}
	undone, err := update(t, l, func(tx *ledger.Tx) ([]Ticket, error) { return Undo(tx, ids[0], ids[:2], person) })
	if err != nil || len(undone) != 2 {
		t.Errorf("%+v, %v", undone, err)
	}
}

// Keys are each asker's own, for ever, also after the ticket has ended.
func TestKeys(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	ask := func(q Question) AskResult {
		t.Helper()
		q.Reversible, q.Stream = true, "s"
		r, err := update(t, l, func(tx *ledger.Tx) (AskResult, error) { return Ask(tx, q, by(q.AskedBy)) })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	q := Question{AskedBy: "a", Question: "Go?", Timeout: time.Minute, Key: "k"}
	first := ask(q)
	clock.Add(time.Hour)
	if r := ask(q); !r.Duplicate || r.Ticket.ID != first.Ticket.ID || r.Ticket.Status != Expired {
		t.Errorf("again: %+v", r)
	}
	q.Question = "Stay?"
	if r := ask(q); !r.Conflict || r.Ticket.Question != "Go?" {
		t.Errorf("another question: %+v", r)
	}
	q.AskedBy = "b"
	if r := ask(q); !r.Created {
		t.Errorf("another asker: %+v", r)
	}
}

func TestTooManyQuestions(t *testing.T) {
	l := ledgertest.Open(t, ledgertest.NewClock())
	_, err := update(t, l, func(tx *ledger.Tx) (n int, err error) {
		for range MaxPending {
			if _, err = Ask(tx, Question{Stream: "s", AskedBy: "a", Question: "Go?"}, by("a")); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := update(t, l, func(tx *ledger.Tx) (AskResult, error) {
		return Ask(tx, Question{Stream: "s", AskedBy: "a", Question: "Go?"}, by("a"))
	}); !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
}

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

func update(t testing.TB, l *ledger.Log, fn func(tx *ledger.Tx) ([]byte, error)) ([]byte, error) {
	t.Helper()
	return l.Update(context.Background(), nil, [32]byte{}, fn)
}

func TestAppendReadsBack(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	in := ledger.Event{
		Actor: "api-server", Type: "done", Object: "migration-42", ObjectType: "migration", Workspace: "api", Session: "01J", Caller: "api",
		Outcome: "two\nlines\tand 下载完成", File: "db/42.sql", Injectable: true, Source: ledger.Observed, SaidAt: ledger.At(clock.Now().Add(-time.Hour)),
		Metrics: ledger.Metrics{{Key: "tests", Value: "48"}, {Key: "a", Value: "1.50"}}, Data: []byte(`{ "x": [1, 2] }`),
	}
	kept := ledgertest.Append(t, l, in)[0]
	if kept.ID != 1 || kept.At != ledger.At(clock.Now()) || kept.Outcome != "two lines and 下载完成" || string(kept.Data) != `{"x":[1,2]}` {
		t.Errorf("kept %+v", kept)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		got, err := v.Event(1)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", kept) {
			t.Errorf("got  %+v\nwant %+v", got, kept)
		}
		_, missing := v.Event(2)
		if !errors.Is(missing, ledger.ErrNotFound) {
			t.Errorf("event 2: %v", missing)
		}
		return err
	})
	ledgertest.Verify(t, l)
}

func TestOneFailureLeavesTheOthersOfItsCommit(t *testing.T) {
	l := ledgertest.Open(t, nil)
	boom := errors.New("boom")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			_, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
				// A new name in each, so that a rolled back one leaves nothing behind.
				if _, err := tx.Append(ledger.Event{Actor: fmt.Sprintf("a%d", i), Type: "failed"}); err != nil {
					return nil, err
				}
				switch i % 4 {
				case 1:
					return nil, boom
				case 2:
					panic("a bug")
				}
				return nil, nil
			})
			switch i % 4 {
			case 1:
				if !errors.Is(err, boom) {
					t.Errorf("update %d: %v", i, err)
				}
			case 2:
				if err == nil || !strings.Contains(err.Error(), "panicked") {
					t.Errorf("update %d: %v", i, err)
				}
			default:
				if err != nil {
					t.Errorf("update %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if r := ledgertest.Verify(t, l); r.Events != 100 {
		t.Errorf("%d events, want 100", r.Events)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		h, err := v.Head()
		if h.Unresolved != 100 {
			t.Errorf("%d unresolved", h.Unresolved)
		}
		return err
	})
}

func TestChangedMissesNothing(t *testing.T) {
	l := ledgertest.Open(t, nil)
	const n = 200
	go func() {
		for range n {
			update(t, l, func(tx *ledger.Tx) ([]byte, error) {
				_, err := tx.Append(ledger.Event{Actor: "a", Type: "note"})
				return nil, err
			})
		}
	}()
	var last int64
	for last < n {
		ch := l.Changed()
		ledgertest.View(t, l, func(v *ledger.View) error {
			h, err := v.Head()
			last = h.LastID
			return err
		})
		if last < n {
			<-ch
		}
	}
}

func TestSlotsMakeACallTakeEffectOnce(t *testing.T) {
	l := ledgertest.Open(t, nil)
	runs := 0
	call := func(s ledger.Stamp, digest byte) (string, error) {
		r, err := l.Update(context.Background(), &s, [32]byte{digest}, func(tx *ledger.Tx) ([]byte, error) {
			runs++
			e, err := tx.Append(ledger.Event{Actor: "a", Type: "done"})
			return fmt.Appendf(nil, `{"event_id":%d}`, e.ID), err
		})
		return string(r), err
	}
	s := ledger.Stamp{Bridge: "01B", Slot: 3, Seq: 5}
	first, err := call(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := call(s, 1)
	if err != nil || again != first || runs != 1 {
		t.Errorf("again: %q, %v, %d runs", again, err, runs)
	}
	if _, err := call(s, 2); !errors.Is(err, ledger.ErrReused) {
		t.Errorf("another payload: %v", err)
	}
	if _, err := call(ledger.Stamp{Bridge: "01B", Slot: 3, Seq: 4}, 1); !errors.Is(err, ledger.ErrSuperseded) {
		t.Errorf("older number: %v", err)
	}
	if _, err := call(ledger.Stamp{Bridge: "01B", Slot: 3, Seq: 6}, 1); err != nil || runs != 2 {
		t.Errorf("next: %v, %d runs", err, runs)
	}
	for _, bad := range []ledger.Stamp{{Slot: 0, Seq: 1}, {Bridge: "b", Slot: 32, Seq: 1}, {Bridge: "b", Slot: -1, Seq: 1}, {Bridge: "b"}} {
		if _, err := call(bad, 1); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	// A refusal is not an answer: the same stamp may ask again.
	s.Seq = 7
	refusal := errors.New("no")
	if _, err := l.Update(context.Background(), &s, [32]byte{9}, func(*ledger.Tx) ([]byte, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Errorf("refusal: %v", err)
	}
	if _, err := call(s, 1); err != nil || runs != 3 {
		t.Errorf("after a refusal: %v, %d runs", err, runs)
	}
}

func TestSlotsOfBridgesLongGoneAreForgotten(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	stamp := func(bridge string, slot int) {
		t.Helper()
		if _, err := l.Update(context.Background(), &ledger.Stamp{Bridge: bridge, Slot: slot, Seq: 1}, [32]byte{}, func(*ledger.Tx) ([]byte, error) { return []byte("{}"), nil }); err != nil {
			t.Fatal(err)
		}
	}
	stamp("old", 0)
	stamp("old", 1)
	stamp("spooling", 0)
	stamp("half", 0)
	clock.Add(31 * 24 * time.Hour)
	stamp("half", 1)
	stamp("new", 0)
	var gone int
	if _, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
		var err error
		gone, err = tx.ForgetSlots(map[string]bool{"spooling": true})
		return nil, err
	}); err != nil || gone != 2 {
		t.Errorf("%d rows went (%v), want the 2 of old", gone, err)
	}
}

func TestACallerWhoGivesUp(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	inside, leave := make(chan bool), make(chan bool)
	first := make(chan error)
	go func() {
		_, err := l.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			inside <- true
			<-leave
			_, err := tx.Append(ledger.Event{Actor: "a", Type: "done"})
			return nil, err
		})
		first <- err
	}()
	<-inside
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up after the start: %v", err)
	}
	second := make(chan error)
	go func() {
		_, err := l.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			t.Error("an update ran whose caller had gone")
			return nil, nil
		})
		second <- err
	}()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up before: %v", err)
	}
	close(leave)
	ledgertest.Append(t, l, ledger.Event{Actor: "b", Type: "done"})
	if r := ledgertest.Verify(t, l); r.Events != 2 {
		t.Errorf("%d events: the started one stays, the other never ran", r.Events)
	}
}

func TestClosedLogRefuses(t *testing.T) {
	l := ledgertest.Open(t, nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := update(t, l, func(*ledger.Tx) ([]byte, error) { return nil, nil }); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("update: %v", err)
	}
	if err := l.View(context.Background(), func(*ledger.View) error { return nil }); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("view: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestTxIsOfNoUseAfterItsUpdate(t *testing.T) {
	l := ledgertest.Open(t, nil)
	var kept *ledger.Tx
	update(t, l, func(tx *ledger.Tx) ([]byte, error) { kept = tx; return nil, nil })
	if _, err := kept.Append(ledger.Event{Actor: "a", Type: "done"}); err == nil {
		t.Error("append after the update")
	}
	if _, err := kept.Exec(`DELETE FROM focus`); err == nil {
		t.Error("exec after the update")
	}
}

func TestAViewCannotWrite(t *testing.T) {
	l := ledgertest.Open(t, nil)
	err := l.View(context.Background(), func(v *ledger.View) error {
		rows, err := v.Query(`INSERT INTO focus(workspace, event_id) VALUES(1, 1) RETURNING 1`)
		if err == nil {
			rows.Next()
			err = rows.Err()
			rows.Close()
		}
		return err
	})
	if err == nil {
		t.Error("a view wrote")
	}
	ledgertest.Verify(t, l)
}

func TestClockGoingBackwards(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	a := ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})[0]
	clock.Add(-3 * time.Hour)
	b := ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done"})[0]
	if b.ID != a.ID+1 || b.At >= a.At {
		t.Errorf("a %d at %s, b %d at %s: the order is the id, the time is the clock's", a.ID, a.At, b.ID, b.At)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		_, _, m, err := v.Movers("", ledger.At(clock.Now().Add(-30*time.Minute)), 10)
		if len(m) != 1 || m[0].LastID != b.ID {
			t.Errorf("movers %+v", m)
		}
		return err
	})
	ledgertest.Verify(t, l)
}

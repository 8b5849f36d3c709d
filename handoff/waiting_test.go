package handoff_test

import (
	"fmt"
	"testing"
	"time"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

type waits struct {
	n    int64
	next ledger.Millis
}

func waiting(t testing.TB, l *ledger.Log) waits {
	t.Helper()
	w, err := look(t, l, func(v *ledger.View) (w waits, err error) {
		w.n, w.next, err = handoff.Waiting(v, 10*time.Minute)
		return w, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWaiting(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	after := func(d time.Duration) ledger.Millis { return ledger.At(clock.Now().Add(d)) }
	want := func(n int64, next ledger.Millis) {
		t.Helper()
		if got := waiting(t, l); got != (waits{n, next}) {
			t.Errorf("%d wait, one more at %v; want %d, %v", got.n, got.next, n, next)
		}
	}
	want(0, 0)
	first := fresh(t, l, "k1")
	want(0, after(10*time.Minute))
	clock.Add(4 * time.Minute)
	if r, err := create(t, l, handoff.NewHandoff{Target: "studio", Instruction: "x", Key: "k2"}, agent); err != nil || !r.Created {
		t.Fatal(err)
	}
	want(0, after(6*time.Minute))
	clock.Add(6*time.Minute - time.Millisecond)
	want(0, after(time.Millisecond))
	clock.Add(time.Millisecond)
	want(1, after(4*time.Minute))

	// Claimed, nobody waits for it; released, it waits from then on.
	claim(t, l, string(first.ID), "w")
	want(0, after(4*time.Minute))
	clock.Add(4 * time.Minute)
	want(1, 0)
	if _, err := release(t, l, handoff.ReleaseCommand{Ref: string(first.ID)}); err != nil {
		t.Fatal(err)
	}
	want(1, after(10*time.Minute))
	clock.Add(10 * time.Minute)
	want(2, 0)
	if _, err := settle(t, l, handoff.SettleCommand{Ref: string(first.ID), Status: handoff.Cancelled}); err != nil {
		t.Fatal(err)
	}
	want(1, 0)
}

// Of many, those created last are looked at; the others are older.
func TestWaitingOfMany(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	for i := range 230 {
		fresh(t, l, fmt.Sprint(i))
		if i == 99 {
			clock.Add(9 * time.Minute)
		}
	}
	if got := waiting(t, l); got != (waits{30, ledger.At(clock.Now().Add(time.Minute))}) {
		t.Errorf("%+v", got)
	}
	clock.Add(time.Minute)
	if got := waiting(t, l); got != (waits{100, ledger.At(clock.Now().Add(9 * time.Minute))}) {
		t.Errorf("%+v", got)
	}
}

package handoff_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

// together runs fn n times at once and returns what each returned.
func together[T any](t *testing.T, n int, fn func(i int) (T, error)) []T {
	t.Helper()
	out, errs := make([]T, n), make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			out[i], errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	return out
}

func TestClaimRace(t *testing.T) {
	l := ledgertest.Open(t, nil)
	const rounds, workers = 5, 32
	for round := range rounds {
		h := fresh(t, l, fmt.Sprint(round))
		got := together(t, workers, func(i int) (handoff.ClaimResult, error) {
			return update(t, l, func(tx *ledger.Tx) (handoff.ClaimResult, error) {
				return handoff.Claim(tx, string(h.ID), fmt.Sprint("w", i), agent)
			})
		})
		owner := get(t, l, string(h.ID)).Worker
		won := 0
		for i, r := range got {
			if r.Claimed {
				won++
				if owner != fmt.Sprint("w", i) {
					t.Errorf("w%d was told that it won; the owner is %s", i, owner)
				}
			}
			if r.Owner != owner || r.Fence != 1 || r.Status != handoff.Claimed {
				t.Errorf("w%d was told %+v; the owner is %s", i, r, owner)
			}
		}
		if won != 1 {
			t.Errorf("%d winners", won)
		}
		if tr := transitions(t, l, h.ID); len(tr) != 2 {
			t.Errorf("%d transitions", len(tr))
		}
	}
	checkCounts(t, l, handoff.Count{Claimed: rounds})
	ledgertest.Verify(t, l)
}

func TestCreateRace(t *testing.T) {
	l := ledgertest.Open(t, nil)
	const callers = 32
	for name, payloads := range map[string]int{"one payload": 1, "two payloads": 2} {
		t.Run(name, func(t *testing.T) {
			before := head(t, l).LastID
			got := together(t, callers, func(i int) (handoff.CreateResult, error) {
				n := handoff.NewHandoff{Target: "dj", Instruction: fmt.Sprint("job ", i%payloads), Key: name}
				return update(t, l, func(tx *ledger.Tx) (handoff.CreateResult, error) {
					return handoff.Create(tx, n, targets, handoff.By{Workspace: fmt.Sprint("ws", i)})
				})
			})
			created := -1
			for i, r := range got {
				if r.Created {
					if created >= 0 {
						t.Fatalf("%d and %d were created", created, i)
					}
					created = i
				}
			}
			if created < 0 {
				t.Fatal("none was created")
			}
			for i, r := range got {
				same := i%payloads == created%payloads
				if r.Handoff.ID != got[created].Handoff.ID || i != created && (r.Duplicate != same || r.Conflict == same) {
					t.Errorf("%d: %+v; %d was created", i, r, created)
				}
			}
			if n := head(t, l).LastID - before; n != 1 {
				t.Errorf("%d events", n)
			}
		})
	}
	checkCounts(t, l, handoff.Count{Pending: 2})
	ledgertest.Verify(t, l)
}

// TestFinishMeetsRelease lets the person's release and the owner's finish race:
// whichever is second meets the first.
func TestFinishMeetsRelease(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for round := range 20 {
		h := fresh(t, l, fmt.Sprint(round))
		id := string(h.ID)
		c := claim(t, l, id, "w")
		did := together(t, 2, func(i int) (bool, error) {
			_, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
				if i == 0 {
					_, err := handoff.Release(tx, handoff.ReleaseCommand{Ref: id}, person)
					return nil, err
				}
				_, err := handoff.Finish(tx, handoff.FinishCommand{Ref: id, Worker: "w", Status: handoff.Done, Fence: &c.Fence}, agent)
				return nil, err
			})
			return err == nil, nil
		})
		want := handoff.Done
		if did[0] {
			want = handoff.Pending
		}
		if got := get(t, l, id).Status; did[0] == did[1] || got != want {
			t.Fatalf("released %v, finished %v, and it is %s", did[0], did[1], got)
		}
	}
	ledgertest.Verify(t, l)
}

package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

const (
	long  = ledger.Millis(30 * 60 * 1000)
	short = ledger.Millis(5 * 60 * 1000)
)

// Activity counts what Movers counts, and is right about when that changes.
func TestActivity(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	read := func() (out []ledger.Activity) {
		t.Helper()
		ledgertest.View(t, l, func(v *ledger.View) (err error) {
			if out, err = v.Activity(long, short); err != nil {
				return err
			}
			for i, span := range []ledger.Millis{long, short} {
				total, more, _, err := v.Movers("", v.Now()-span, 0)
				if err != nil {
					return err
				}
				if total != out[i].Total || more != out[i].More || (total == 0) != (out[i].Next == 0) {
					t.Fatalf("%+v of %v, but %d movers, more %v", out[i], span, total, more)
				}
			}
			return nil
		})
		return out
	}
	for range 60 {
		for range rnd.IntN(4) {
			clock.Add(time.Duration(rnd.IntN(200)) * time.Second)
			ledgertest.Append(t, l, ledger.Event{Actor: fmt.Sprint("a", rnd.IntN(6)), Workspace: fmt.Sprint("w", rnd.IntN(2)), Type: []string{"done", "failed", "focus"}[rnd.IntN(3)]})
		}
		now := read()
		for i := range now {
			if now[i].Next == 0 {
				continue
			}
			wait := now[i].Next.Time().Sub(clock.Now())
			clock.Add(wait - time.Millisecond)
			if got := read()[i]; got != now[i] {
				t.Fatalf("a millisecond before: %+v, was %+v", got, now[i])
			}
			clock.Add(time.Millisecond)
			if got := read()[i]; got.Total >= now[i].Total {
				t.Fatalf("at that moment: %+v, was %+v", got, now[i])
			}
			now = read()
		}
	}
}

func TestActivityOfNobody(t *testing.T) {
	l := ledgertest.Open(t, ledgertest.NewClock())
	ledgertest.View(t, l, func(v *ledger.View) error {
		if none, err := v.Activity(); err != nil || len(none) != 0 {
			t.Errorf("%v, %v", none, err)
		}
		got, err := v.Activity(long, short)
		if got[0] != (ledger.Activity{}) || got[1] != (ledger.Activity{}) {
			t.Errorf("%+v", got)
		}
		return err
	})
}

// Counting stops, and says so for each stretch that it may have cut.
func TestActivityOfMany(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	report := func(n int, name string) {
		_, err := l.Update(t.Context(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for i := range n {
				if _, err := tx.Append(ledger.Event{Actor: fmt.Sprint(name, i), Type: "done"}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	report(700, "early")
	clock.Add(10 * time.Minute)
	report(600, "late")
	read := func() (out []ledger.Activity) {
		ledgertest.View(t, l, func(v *ledger.View) (err error) {
			out, err = v.Activity(long, short)
			return err
		})
		return out
	}
	if got := read(); got[0].Total != 1000 || !got[0].More || got[1].Total != 600 || got[1].More {
		t.Errorf("%+v", got)
	}
	report(500, "later")
	if got := read(); got[0].Total != 1000 || !got[0].More || got[1].Total != 1000 || !got[1].More {
		t.Errorf("%+v", got)
	}
}

func TestKeyCount(t *testing.T) {
	l := ledgertest.Open(t, ledgertest.NewClock())
	for i := range 30 {
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Injectable: i%3 == 0}) // ids 1, 4 … 28
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		for _, c := range []struct {
			since int64
			limit int
			n     int64
			more  bool
		}{{0, 200, 10, false}, {0, 10, 10, false}, {0, 9, 9, true}, {1, 200, 9, false}, {27, 5, 1, false}, {28, 5, 0, false}, {99, 5, 0, false}} {
			if n, more, err := v.KeyCount(c.since, c.limit); err != nil || n != c.n || more != c.more {
				t.Errorf("after %d, at most %d: %d, %v, %v", c.since, c.limit, n, more, err)
			}
		}
		return nil
	})
}

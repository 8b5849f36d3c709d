package handoff_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

// BenchmarkCycle and BenchmarkReceipt run the same number of updates at 16
// callers; their ratio is what a handoff's call costs beside a plain receipt.
func BenchmarkCycle(b *testing.B) {
	l := ledgertest.Open(b, nil)
	var key atomic.Int64
	callers(b, func() error {
		n := handoff.NewHandoff{Target: "dj", Instruction: "mix the second take, keep the first", Key: fmt.Sprint(key.Add(1))}
		r, err := create(b, l, n, agent)
		if err != nil {
			return err
		}
		claim(b, l, string(r.Handoff.ID), "w")
		_, err = finish(b, l, handoff.FinishCommand{Ref: string(r.Handoff.ID), Worker: "w", Status: handoff.Done, Outcome: "mixed"})
		return err
	})
}

func BenchmarkReceipt(b *testing.B) {
	l := ledgertest.Open(b, nil)
	callers(b, func() error {
		for range 3 {
			if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
				_, err := tx.Append(ledger.Event{Actor: "w", Type: "done", Object: "take-2", Outcome: "mixed", Injectable: true})
				return nil, err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// callers runs fn b.N times from 16 goroutines and reports updates a second, at
// three an fn.
func callers(b *testing.B, fn func() error) {
	const n = 16
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := fn(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(3*float64(b.N)/b.Elapsed().Seconds(), "updates/s")
}

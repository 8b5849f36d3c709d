package rig

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Outcome is what a load came to.
type Outcome struct {
	Rate      float64   // calls answered a second, over the measured span
	Latencies []float64 // seconds, of every call begun in the span
	Slowest   float64   // seconds, the greatest of Latencies
}

// Load lets n clients call as fast as they are answered: warm for a while
// unmeasured, then span measured. call gets the client's number and a count that
// starts at zero; its first error ends the load.
func Load(n int, warm, span time.Duration, call func(client, i int) error) (Outcome, error) {
	var (
		wg       sync.WaitGroup
		stop     atomic.Bool
		mu       sync.Mutex
		out      Outcome
		answered int
		failed   []error
	)
	from := time.Now().Add(warm)
	until := from.Add(span)
	for client := range n {
		wg.Go(func() {
			var mine []float64
			done := 0
			for i := 0; !stop.Load(); i++ {
				begin := time.Now()
				if begin.After(until) {
					break
				}
				if err := call(client, i); err != nil {
					stop.Store(true)
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
					return
				}
				end := time.Now()
				if end.After(from) && !end.After(until) {
					done++
				}
				if !begin.Before(from) {
					mine = append(mine, end.Sub(begin).Seconds())
				}
			}
			mu.Lock()
			defer mu.Unlock()
			answered += done
			out.Latencies = append(out.Latencies, mine...)
			for _, l := range mine {
				out.Slowest = max(out.Slowest, l)
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return Outcome{}, errors.Join(failed...)
	}
	out.Rate = float64(answered) / span.Seconds()
	return out, nil
}

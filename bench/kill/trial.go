package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"steward/bench/internal/rig"
	"steward/ledger"
)

// trial lets workspaces report through their bridges while the service is killed
// again and again, and then holds the ledger against what the clients were told.
type trial struct {
	binary  string
	bridges int
	kills   int
	restart bool // the trial starts the next service at once, as a supervisor would; else the bridges do
	seed    uint64
	within  time.Duration // how long all of it may take
}

// verdict is what a trial came to. A trial passes when lost, doubled and refused
// are zero.
type verdict struct {
	kills        int
	acknowledged int           // receipts the clients were told are kept
	kept         int           // events in the ledger that are receipts
	lost         int           // acknowledged and not in the ledger
	doubled      int           // more than once in the ledger
	refused      int           // calls that a client saw fail
	slowest      time.Duration // the longest a client waited for one receipt
	took         time.Duration
}

func (v verdict) passed() bool { return v.lost == 0 && v.doubled == 0 && v.refused == 0 }

func (v verdict) String() string {
	return fmt.Sprintf("%d kills in %.0f s: %d receipts acknowledged, %d lost, %d doubled, %d calls failed, slowest call %.2f s",
		v.kills, v.took.Seconds(), v.acknowledged, v.lost, v.doubled, v.refused, v.slowest.Seconds())
}

// betweenKills is the most receipts that the clients see acknowledged between
// two kills; how many it is each time is drawn.
const betweenKills = 40

func (t trial) run(ctx context.Context) (v verdict, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	place, err := rig.NewPlace(t.binary)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	bridges, err := t.open(place)
	if err != nil {
		return v, err
	}
	defer func() {
		for _, b := range bridges {
			err = errors.Join(err, b.Stop())
		}
	}()

	begin := time.Now()
	writers := start(bridges)
	v.kills, err = t.kill(ctx, place, &writers.acknowledged)
	writers.end(&v)
	v.took = time.Since(begin)
	if err != nil {
		return v, err
	}
	// Every bridge is the process it was, and answers.
	for i, b := range bridges {
		if _, err := b.Call("situation_report", []byte("{}")); err != nil {
			return v, fmt.Errorf("bridge %d after the kills: %w", i, err)
		}
	}
	if out, err := place.Command("stop").CombinedOutput(); err != nil {
		return v, fmt.Errorf("steward stop: %w\n%s", err, out)
	}
	if out, err := place.Command("verify").CombinedOutput(); err != nil {
		return v, fmt.Errorf("steward verify: %w\n%s", err, out)
	}
	return v, count(ctx, place.Ledger, writers.receipts, &v)
}

func (t trial) open(place *rig.Place) ([]*rig.Process, error) {
	var all []*rig.Process
	for i := range t.bridges {
		b, err := place.Bridge(rig.Workspace(i))
		if err == nil {
			all = append(all, b)
			err = b.Initialize()
		}
		if err != nil {
			for _, b := range all {
				err = errors.Join(err, b.Stop())
			}
			return nil, err
		}
	}
	return all, nil
}

// kill ends the service t.kills times, each time after a drawn number of
// receipts were acknowledged since the last.
func (t trial) kill(ctx context.Context, place *rig.Place, acknowledged *atomic.Int64) (kills int, err error) {
	draw := rand.New(rand.NewPCG(t.seed, 0))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	last := 0
	for kills < t.kills {
		next := acknowledged.Load() + 1 + draw.Int64N(betweenKills)
		for acknowledged.Load() < next {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return kills, fmt.Errorf("after %d kills no receipt came through: %w", kills, ctx.Err())
			}
		}
		// Receipts of the service killed last may still have been on their way, so
		// the one that answers is asked for until it is another.
		pid, err := place.Owner(ctx)
		if err != nil || pid == last {
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
				return kills, fmt.Errorf("after %d kills nobody serves: %w", kills, errors.Join(err, ctx.Err()))
			}
		}
		service, err := os.FindProcess(pid)
		if err == nil {
			err = service.Kill()
		}
		if err != nil {
			return kills, fmt.Errorf("kill %d: %w", kills, err)
		}
		last = pid
		kills++
		if t.restart {
			if err := startAuto(place); err != nil {
				return kills, err
			}
		}
	}
	return kills, nil
}

// startAuto starts a service as a bridge does. It leaves by itself when another
// is faster.
func startAuto(place *rig.Place) error {
	cmd := place.Command("serve", "--auto")
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() //nolint:errcheck // how it ended shows on the socket
	return nil
}

// writing is the clients of all bridges at work.
type writing struct {
	wg           sync.WaitGroup
	stop         atomic.Bool
	acknowledged atomic.Int64

	mu       sync.Mutex
	receipts map[string]bool // sent, by object: whether it was acknowledged
	refused  int
	slowest  time.Duration
}

func start(bridges []*rig.Process) *writing {
	w := &writing{receipts: map[string]bool{}}
	for i, b := range bridges {
		w.wg.Go(func() {
			for n := 0; !w.stop.Load(); n++ {
				object := fmt.Sprintf("receipt-%03d-%07d", i, n)
				begin := time.Now()
				_, err := b.Call("report_done", fmt.Appendf(nil, `{"actor":"agent-%03d","object_id":%q,"outcome":"kept"}`, i, object))
				took := time.Since(begin)
				if err == nil {
					w.acknowledged.Add(1)
				}
				w.mu.Lock()
				w.receipts[object] = err == nil
				w.slowest = max(w.slowest, took)
				if err != nil {
					w.refused++
				}
				w.mu.Unlock()
			}
		})
	}
	return w
}

// end lets every client finish its call and writes down what they saw.
func (w *writing) end(v *verdict) {
	w.stop.Store(true)
	w.wg.Wait()
	v.acknowledged = int(w.acknowledged.Load())
	v.refused, v.slowest = w.refused, w.slowest
}

// count reads the whole ledger and compares it with what the clients saw.
func count(ctx context.Context, path string, receipts map[string]bool, v *verdict) error {
	lock, err := ledger.Lock(path, "bench")
	if err != nil {
		return err
	}
	log, err := ledger.Open(ctx, ledger.Options{Path: path})
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	times := map[string]int{}
	since, more := int64(0), true
	for more && err == nil {
		err = log.View(ctx, func(view *ledger.View) error {
			events, rest, err := view.Events(since, 200)
			for _, e := range events {
				times[e.Object]++
				since = e.ID
			}
			more = rest
			return err
		})
	}
	for object, acknowledged := range receipts {
		v.kept += times[object]
		if acknowledged && times[object] == 0 {
			v.lost++
		}
		if times[object] > 1 {
			v.doubled++
		}
	}
	return errors.Join(err, log.Close(), lock.Release())
}

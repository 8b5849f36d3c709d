//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"steward/ledger"
)

// load is bridges that leave receipts as fast as they can.
type load struct {
	t       *testing.T
	bridges []*bridge
	stop    chan struct{}
	all     sync.WaitGroup

	answered atomic.Int64 // grows with every answer
	mu       sync.Mutex
	ids      map[int64]string // event id → outcome, of live answers
	spooled  map[string]bool  // outcomes of calls kept on disk
	failed   []error
	worst    time.Duration
}

// press starts n bridges on the house.
func (h *house) press(n int) *load {
	h.t.Helper()
	l := &load{t: h.t, stop: make(chan struct{}), ids: map[int64]string{}, spooled: map[string]bool{}}
	for i := range n {
		b := h.bridge()
		l.bridges = append(l.bridges, b)
		l.all.Go(func() { l.work(b, strconv.Itoa(i)) })
	}
	return l
}

func (l *load) work(b *bridge, name string) {
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		outcome := name + "-" + strconv.Itoa(n)
		begin := time.Now()
		r, err := b.report("load", outcome)
		took := time.Since(begin)
		l.answered.Add(1)
		l.mu.Lock()
		l.worst = max(l.worst, took)
		switch {
		case err != nil:
			l.failed = append(l.failed, fmt.Errorf("%s after %s: %w", outcome, took, err))
		case r.Spooled:
			l.spooled[outcome] = true
		case l.ids[r.EventID] != "":
			l.failed = append(l.failed, fmt.Errorf("%s and %s are both event %d", outcome, l.ids[r.EventID], r.EventID))
		default:
			l.ids[r.EventID] = outcome
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// flows waits until calls are being answered: n more of them.
func (l *load) flows(n int64) {
	l.t.Helper()
	from := l.answered.Load()
	eventually(l.t, fmt.Sprintf("%d more answers", n), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.answered.Load() >= from+n || len(l.failed) > 0
	})
}

// end stops the load, and checks that what was acknowledged is in the ledger
// once, that nothing else is, and that the chain holds.
func (l *load) end(h *house) {
	l.t.Helper()
	close(l.stop)
	l.all.Wait()
	for _, err := range l.failed {
		l.t.Errorf("a call failed: %v", err)
	}
	for _, b := range l.bridges {
		b.close()
	}
	h.ok("status") // its welcome comes after the spool is empty
	h.ok("verify")
	times := map[string]int{}
	var all []ledger.Event
	for _, e := range h.events() {
		if e.Actor == "load" {
			all = append(all, e)
			times[e.Outcome]++
		}
		if want := l.ids[e.ID]; want != "" && e.Outcome != want {
			l.t.Errorf("event %d is %s; it was acknowledged as %s", e.ID, e.Outcome, want)
		}
	}
	for _, outcome := range l.ids {
		if times[outcome] != 1 {
			l.t.Errorf("%s was acknowledged and is there %d times", outcome, times[outcome])
		}
	}
	for outcome := range l.spooled {
		if times[outcome] != 1 {
			l.t.Errorf("%s was kept on disk and is there %d times", outcome, times[outcome])
		}
	}
	if want := len(l.ids) + len(l.spooled); len(all) != want && len(l.failed) == 0 {
		l.t.Errorf("%d events; %d were acknowledged", len(all), want)
	}
}

// Twenty hand-overs under load: no call fails, none takes over two seconds.
func TestHandOversUnderLoad(t *testing.T) {
	const handOvers, limit = 20, 2 * time.Second
	h := newHouse(t)
	l := h.press(8)
	l.flows(50)
	var owner *process
	for n := 0; n < handOvers; n++ {
		if owner == nil { // an auto serves: a serve takes over on request
			owner = h.serve(thisVersion)
		} else { // the serve leaves: an auto follows
			owner.signal(syscall.SIGTERM)
			next := h.start(h.command(thisVersion, "serve", "--auto"))
			if code := owner.exits(); code != 0 {
				t.Errorf("hand-over %d: the owner ended with %d", n, code)
			}
			eventually(t, "an auto serving", func() bool { i := h.info(); return i.Role == "auto" && i.State == "serving" })
			owner, _ = nil, next
		}
		l.flows(20)
	}
	l.end(h)
	t.Logf("%d hand-overs, %d calls by %d bridges, none failed, the slowest took %s", handOvers, len(l.ids), len(l.bridges), l.worst.Round(time.Millisecond))
	if l.worst > limit {
		t.Errorf("the slowest call took %s; promised are at most %s", l.worst, limit)
	}
	if len(l.spooled) > 0 {
		t.Errorf("%d calls went to the spool; want every one answered", len(l.spooled))
	}
}

// The service is killed again and again while bridges write: nothing that was
// acknowledged is lost or there twice, and the bridges live on.
// STEWARD_TEST_KILLS sets how often.
func TestKillsUnderLoad(t *testing.T) {
	kills := 40
	if v := os.Getenv("STEWARD_TEST_KILLS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	h := newHouse(t)
	l := h.press(8)
	l.flows(20)
	for n := 0; n < kills; n++ {
		var pid int
		eventually(t, "a service", func() bool { pid = h.info().PID; return pid != 0 })
		kill(t, pid)
		eventually(t, "its end", func() bool { return h.holder() != pid })
		// The bridges start one at most every two seconds; so do we.
		h.start(h.command(thisVersion, "serve", "--auto"))
		l.flows(5 + int64(n%17)) // another moment of the commit each time
	}
	l.end(h)
	t.Logf("%d kills, %d calls answered, %d of them from the spool, the slowest after %s", kills, l.answered.Load(), len(l.spooled), l.worst.Round(time.Millisecond))
}

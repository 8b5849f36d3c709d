// Package ledgertest opens real ledgers for tests.
package ledgertest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"steward/ledger"
)

// Clock is a wall clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at 2026-11-30 12:00:00 UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock, back when d is negative.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
}

// Open opens a fresh ledger in a folder of the test and closes it at its end.
// With a nil clock the time is real.
func Open(t testing.TB, clock *Clock) *ledger.Log {
	t.Helper()
	o := ledger.Options{Path: filepath.Join(t.TempDir(), "ledger.db")}
	if clock != nil {
		o.Now = clock.Now
	}
	return OpenWith(t, o)
}

// OpenWith opens a ledger with options and closes it at the test's end.
func OpenWith(t testing.TB, o ledger.Options) *ledger.Log {
	t.Helper()
	l, err := ledger.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// Append adds events in one update each and returns them as kept.
func Append(t testing.TB, l *ledger.Log, events ...ledger.Event) []ledger.Event {
	t.Helper()
	out := make([]ledger.Event, len(events))
	for i, e := range events {
		_, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			var err error
			out[i], err = tx.Append(e)
			return nil, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// View runs fn on a snapshot and fails the test on an error.
func View(t testing.TB, l *ledger.Log, fn func(v *ledger.View) error) {
	t.Helper()
	if err := l.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// Verify checks the whole ledger and fails the test when anything is wrong.
func Verify(t testing.TB, l *ledger.Log) ledger.Report {
	t.Helper()
	r, err := l.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Errorf("verify: %s (event %d)", r.Problem, r.FirstBad)
	}
	return r
}

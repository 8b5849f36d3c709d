package mcp

import (
	"context"
	"sync"
	"time"
)

const (
	wrongWithin = time.Minute
	wrongPause  = time.Second
)

// wrongs remembers when the last wrong tokens came, from wherever: a guesser has
// many addresses.
type wrongs struct {
	mu    sync.Mutex
	times []time.Time // oldest first, at most as many as are let by
}

// count notes a wrong token and tells whether that many came within a minute
// before it.
func (g *wrongs) count(now time.Time, most int) (tooMany bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.times) < most {
		g.times = append(g.times, now)
		return false
	}
	tooMany = now.Sub(g.times[0]) < wrongWithin
	g.times = append(g.times[1:], now)
	return tooMany
}

// Wrong counts a wrong token, or another secret that somebody tries to guess.
// After 5 within a minute it takes 1 s, less when ctx or the service ends, and
// is true: answer 429 then. How many wait at once is bounded by the connections.
func (h *HTTP) Wrong(ctx context.Context) (tooMany bool) {
	if !h.wrong.count(time.Now(), h.limits.wrong) {
		return false
	}
	timer := time.NewTimer(wrongPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-h.stopping.Done():
	}
	return true
}

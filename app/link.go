package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"steward/mcp/ops"
)

// The states of a Link, as the page is told.
const (
	linkLive    = "live"    // the ledger answers
	linkOpening = "opening" // it will in a moment
	linkLost    = "lost"    // it cannot be read; code and reason say why
)

// The names of the events that the page listens to.
const (
	eventShape = "steward:shape"
	eventNews  = "steward:event"
	eventLink  = "steward:link"
)

const (
	// patience is how long a call waits for a ledger that is being opened, or
	// handed from one process to another.
	patience = 5 * time.Second
	// gather is the least time between two notices to the page: what happens in
	// between comes in one. It is a third of what a receipt may take to show.
	gather = 60 * time.Millisecond
	// endTime is how long the last event's id may take; the follower begins a
	// little later without.
	endTime = 2 * time.Second
)

// linkState is the data of a steward:link event.
type linkState struct {
	State  string   `json:"state"`
	Code   ops.Code `json:"code,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Hint   string   `json:"hint,omitempty"`
}

// Link leads from the page to the ledger, whichever process owns it at the
// moment. It is safe for concurrent use.
type Link struct {
	emit   func(event string, data any) // to the page
	logger *slog.Logger

	mu      sync.Mutex
	state   linkState
	why     *ops.Error // while lost
	backend Backend    // nil unless live
	changed chan struct{}
	page    bool // somebody listens
	last    int64
	stop    context.CancelFunc // of the follower; nil without one
	done    chan struct{}      // closed when the follower has ended
}

// NewLink returns a link whose ledger is being opened.
func NewLink(logger *slog.Logger, emit func(event string, data any)) *Link {
	return &Link{emit: emit, logger: logger, state: linkState{State: linkOpening}, changed: make(chan struct{}), last: -1}
}

// Use makes b what calls go to. Its follower goes on where the one before it
// ended, so that the page misses nothing.
func (l *Link) Use(b Backend) { l.become(linkState{State: linkLive}, nil, b) }

// Opening says that the ledger answers in a moment: calls wait for it.
func (l *Link) Opening() { l.become(linkState{State: linkOpening}, nil, nil) }

// Lost says that the ledger cannot be read. Calls are refused with err.
func (l *Link) Lost(err *ops.Error) {
	l.become(linkState{State: linkLost, Code: err.Code, Reason: err.Message, Hint: err.Hint}, err, nil)
}

// Attached tells whether the ledger is another process's.
func (l *Link) Attached() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.backend != nil && l.backend.Attached()
}

// Listen begins to tell the page what happens, from now on: a page that has just
// come up asks for everything else itself.
func (l *Link) Listen() {
	l.mu.Lock()
	l.page, l.last = true, -1
	l.mu.Unlock()
	l.follow()
	l.mu.Lock()
	state := l.state
	l.mu.Unlock()
	l.emit(eventLink, state)
}

func (l *Link) become(to linkState, why *ops.Error, b Backend) {
	l.mu.Lock()
	if to == l.state && b == l.backend {
		l.mu.Unlock()
		return
	}
	told := l.page && to != l.state
	l.state, l.why, l.backend = to, why, b
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	l.follow() // first, so that nothing happens between what the page asks now and what it hears
	if told {
		l.emit(eventLink, to)
	}
}

// follow replaces the follower by one of the present backend.
func (l *Link) follow() {
	l.mu.Lock()
	stop, done := l.stop, l.done
	l.stop, l.done = nil, nil
	l.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil || l.backend == nil || !l.page {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	l.stop, l.done = cancel, ended
	b, after := l.backend, l.last
	if after < 0 {
		after = end(ctx, b)
	}
	go func() {
		defer close(ended)
		defer cancel()
		err := b.Follow(ctx, after, func(n ops.Notice) {
			l.emit(eventNews, n)
			l.mu.Lock()
			l.last = n.ID
			l.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		})
		if ctx.Err() == nil {
			l.logger.Warn("nothing more is heard from the ledger", "attached", b.Attached(), "error", err)
		}
	}()
}

// end is the id of the last event there is, -1 if that cannot be said.
func end(ctx context.Context, b Backend) int64 {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	var last struct {
		ID int64 `json:"last_id"`
	}
	got, err := b.Call(ctx, "recent_events", json.RawMessage(`{"limit":1}`))
	if err != nil || json.Unmarshal(got, &last) != nil {
		return -1
	}
	return last.ID
}

// Call runs an operation offered to windows.
func (l *Link) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, *ops.Error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		l.mu.Lock()
		b, why, changed := l.backend, l.why, l.changed
		l.mu.Unlock()
		switch {
		case b != nil:
			return b.Call(ctx, name, args)
		case why != nil:
			return nil, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ops.AsError(ctx.Err())
		case <-limit.C:
			return nil, &ops.Error{Code: ops.Unavailable, Message: "the ledger is still being opened", Hint: "try again in a moment"}
		}
	}
}

// Close ends the follower.
func (l *Link) Close() {
	l.mu.Lock()
	l.page = false
	l.mu.Unlock()
	l.follow()
}

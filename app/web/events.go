package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// Events answers GET /api/events with a stream of what happens: hello at once,
// then, with Last-Event-ID, what came after that event (or reset when that is
// too much), then everything as it comes. A comment line every 15 s of silence
// says that the stream lives; bye says that the service leaves. The guard's
// deadline for writes ends a stream whose client does not read.
func (w *Web) Events() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !allow(rw, r, http.MethodGet, http.MethodHead) || !w.owner(rw, r) {
			return
		}
		after, bad := lastEventID(r)
		if bad != nil {
			refuse(rw, 0, bad)
			return
		}
		last, err := w.lastID(r.Context())
		if err != nil {
			refuse(rw, 0, ops.AsError(err))
			return
		}
		h := rw.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Accel-Buffering", "no") // nginx passes events on one by one
		rw.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return
		}
		s := &stream{w: rw, rc: http.NewResponseController(rw)}
		if s.hello(w.cfg.Version, last, w.cfg.Heartbeat) != nil {
			return
		}
		if after > last { // of another ledger than the one that is here now
			if s.event(ops.Notice{Type: ops.NoticeReset, ID: last, Data: fmt.Appendf(nil, `{"last_id":%d}`, last)}) != nil {
				return
			}
			after = last
		}
		if after < 0 {
			after = last
		}
		w.follow(r.Context(), s, after)
	})
}

// follow writes what happens after an event until the client or the service
// goes. Its follower waits while a slow client is written to, with nothing of
// the ledger open.
func (w *Web) follow(ctx context.Context, s *stream, after int64) {
	ctx, cancel := context.WithCancel(ctx)
	notices := make(chan ops.Notice)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := w.cfg.Set.Follow(ctx, after, func(n ops.Notice) error {
			select {
			case notices <- n:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if ctx.Err() == nil {
			w.log.Warn("a stream of events ends", "error", err)
		}
	}()
	defer func() {
		cancel()
		<-ended
	}()
	silence := time.NewTimer(w.cfg.Heartbeat)
	defer silence.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ended: // the ledger cannot be read: the page comes again and hears why
			return
		case <-w.cfg.Stopping:
			_ = s.write("event: bye\ndata: {}\n\n") // the client may be gone
			return
		case n := <-notices:
			err = s.event(n)
		case <-silence.C:
			err = s.write(": \n\n")
		}
		if err != nil {
			return
		}
		silence.Reset(w.cfg.Heartbeat)
	}
}

// lastID returns the id of the newest event.
func (w *Web) lastID(ctx context.Context) (last int64, err error) {
	err = w.cfg.Log.View(ctx, func(v *ledger.View) error {
		head, err := v.Head()
		last = head.LastID
		return err
	})
	return last, err
}

// lastEventID is where the client left off; -1 when it does not say so.
func lastEventID(r *http.Request) (int64, *ops.Error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		return -1, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, &ops.Error{Code: ops.Invalid, Field: "Last-Event-ID", Message: "Last-Event-ID: an event's id, 0 or more; got something else"}
	}
	return id, nil
}

// stream writes events to one client.
type stream struct {
	w  io.Writer
	rc *http.ResponseController
}

// hello says who serves, where the stream begins and how many seconds it is silent
// at most.
func (s *stream) hello(version string, last int64, beat time.Duration) error {
	b, err := json.Marshal(struct {
		Version   string  `json:"version"`
		LastID    int64   `json:"last_id"`
		Heartbeat float64 `json:"heartbeat"`
	}{version, last, beat.Seconds()})
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: hello\ndata: %s\n\n", b))
}

func (s *stream) event(n ops.Notice) error {
	return s.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", n.ID, n.Type, n.Data))
}

// write sends text at once.
func (s *stream) write(text string) error {
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.rc.Flush()
}

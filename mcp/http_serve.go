package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve answers requests from l until Drain, and closes it. It may be called
// for several listeners.
func (h *HTTP) Serve(l net.Listener) error {
	err := h.server.Serve(&boundedListener{Listener: l, at: h.conns, done: h.stopping.Done()})
	if h.stopping.Err() != nil {
		return nil
	}
	return err
}

// newServer is the http.Server around h: every time-out that net/http leaves
// open, said.
func (h *HTTP) newServer() *http.Server {
	var one http.Protocols
	one.SetHTTP1(true) // TLS is a proxy's, and h2 with it
	return &http.Server{
		Handler:           h,
		Protocols:         &one,
		ReadHeaderTimeout: h.limits.header,
		IdleTimeout:       h.limits.idle,
		// Where each request begins; reply pushes it on with every write.
		WriteTimeout:                 h.limits.write,
		MaxHeaderBytes:               h.limits.headerBytes,
		DisableGeneralOptionsHandler: true, // OPTIONS * goes through the guard as well
		ConnState:                    h.conns.follow,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
}

// Drain ends the service: no new connection, no new request, the answers of
// what runs, then the end of every connection. Waits and event streams end at
// once; their clients ask the next owner. What runs longer than ctx, or 2 s,
// loses its connection and is reported in the error.
func (h *HTTP) Drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	h.stop()
	h.conns.drain()
	err := h.server.Shutdown(ctx)
	_ = h.library.Shutdown(ctx) // its sweeper, and the sessions it keeps
	select {
	case <-h.quiet():
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	_ = h.server.Close()
	if running := h.Active(); running > 0 {
		return fmt.Errorf("drain: %d HTTP requests were cut off: %w", running, err)
	}
	return nil // a client only did not read what waited for it
}

// presence counts what keeps an automatic service alive.
type presence struct {
	mu     sync.Mutex
	active int
	since  time.Time     // when the last one ended
	none   chan struct{} // closed when nothing is active any more; nil while nobody waits for that
}

func (p *presence) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active++
}

func (p *presence) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active--; p.active == 0 {
		p.since = time.Now()
		if p.none != nil {
			close(p.none)
			p.none = nil
		}
	}
}

// Active is how many requests that passed the guard are being answered, open
// event streams among them. /healthz does not count: whoever looks whether the
// service is there does not need it to stay.
func (h *HTTP) Active() int {
	h.presence.mu.Lock()
	defer h.presence.mu.Unlock()
	return h.presence.active
}

// IdleSince is when the last request ended, or when the HTTP was made. It means
// something only while Active is 0.
func (h *HTTP) IdleSince() time.Time {
	h.presence.mu.Lock()
	defer h.presence.mu.Unlock()
	return h.presence.since
}

// Streams is how many event streams are open.
func (h *HTTP) Streams() int { return int(h.streams.n.Load()) }

// Sessions is how many clients have initialized and neither left nor been idle
// for half an hour.
func (h *HTTP) Sessions() int { return h.sessions.count() }

// quiet returns what is closed when nothing is active.
func (h *HTTP) quiet() <-chan struct{} {
	h.presence.mu.Lock()
	defer h.presence.mu.Unlock()
	if h.presence.active == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if h.presence.none == nil {
		h.presence.none = make(chan struct{})
	}
	return h.presence.none
}

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// Pauses between tries, when something is in the way.
const (
	attachAgain = 500 * time.Millisecond
	serveAgain  = 250 * time.Millisecond
	refuseFirst = 2 * time.Second  // a ledger that cannot be used is tried again after that,
	refuseMost  = 15 * time.Second // then after twice as long, up to that
)

// service is what the window's process does for the others: it owns the ledger,
// or waits for it and attaches to its owner meanwhile.
type service struct {
	options daemon.Options // Notify, Ready, Stop and Gone are set by serve
	link    *Link
	logger  *slog.Logger
	stopped func() // somebody has asked the service to stop
	lost    bool   // the ledger could not be used the last time; only the goroutine of Run uses it

	mu     sync.Mutex
	attach context.CancelFunc // ends what attaches; nil while nothing does
	ended  chan struct{}      // closed when that has ended
}

// serve serves until ctx ends, or, after gone is closed, until nobody needs the
// service any more. What keeps the ledger from being served is tried again.
func (s *service) serve(ctx context.Context, gone <-chan struct{}) {
	defer s.detach()
	refuse := refuseFirst
	for {
		o := s.options
		o.Refuse = refuse
		var asked atomic.Bool
		o.Gone, o.Notify = gone, func(st daemon.State, on any) { s.notify(ctx, st, on) }
		var served atomic.Bool
		o.Ready = func(set *ops.Set, _ *ledger.Log) { served.Store(true); s.ready(set) }
		o.Stop = func() { asked.Store(true); s.stopped() }
		err := daemon.Run(ctx, o)
		s.detach()
		select {
		case <-gone:
			return
		default:
		}
		if asked.Load() || ctx.Err() != nil {
			return
		}
		if refuse = min(2*refuse, refuseMost); served.Load() {
			refuse = refuseFirst
		}
		if err != nil {
			s.logger.Error("the ledger is not served; it is tried again", "error", err)
			s.link.Lost(ops.AsError(err))
		} else {
			s.link.Opening()
		}
		select {
		case <-ctx.Done():
			return
		case <-gone:
			return
		case <-time.After(serveAgain):
		}
	}
}

func (s *service) ready(set *ops.Set) {
	s.detach()
	s.lost = false
	s.link.Use(embedded{set})
}

func (s *service) notify(ctx context.Context, st daemon.State, on any) {
	switch st {
	case daemon.Waiting:
		s.detach()
		s.mu.Lock()
		ctx, s.attach = context.WithCancel(ctx)
		ended := make(chan struct{})
		s.ended = ended
		s.mu.Unlock()
		go func() {
			defer close(ended)
			s.stayAttached(ctx)
		}()
	case daemon.Opening:
		s.detach()
	case daemon.Refusing:
		err, ok := on.(*ops.Error)
		if !ok {
			err = &ops.Error{Code: ops.Unavailable, Message: fmt.Sprint(on)}
		}
		s.lost = true
		s.link.Lost(err)
	case daemon.Draining:
		if !s.lost { // else the page knows better
			s.link.Opening()
		}
	}
}

// detach leaves the other process's service, if this window is attached to one.
func (s *service) detach() {
	s.mu.Lock()
	cancel, ended := s.attach, s.ended
	s.attach, s.ended = nil, nil
	s.mu.Unlock()
	if cancel != nil {
		cancel()
		<-ended
	}
}

// stayAttached is attached to the owner of the ledger for as long as that serves.
func (s *service) stayAttached(ctx context.Context) {
	defer s.link.Opening()
	p := s.options.Paths
	for ctx.Err() == nil {
		proof, err := p.Proof(s.logger)
		var to *local.Attached
		if err == nil {
			to, err = local.Attach(ctx, p.Socket, local.Hello{Version: s.options.Version, Schema: ledger.SchemaVersion, Ledger: p.Key, Proof: proof})
		}
		if err == nil {
			s.logger.Info("attached to the service of another process", "version", to.Welcome().Version)
			s.link.Use(attached{to, daemon.Desktop(s.options.Env)})
			select {
			case <-to.Done():
			case <-ctx.Done():
			}
			s.link.Opening()
			_ = to.Close() // it has ended, or nobody needs it
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if refused, ok := errors.AsType[*local.Refused](err); ok {
			s.logger.Warn("the owner of the ledger does not let this window in", "error", err)
			s.link.Lost(&ops.Error{Code: ops.Code(refused.Code), Message: refused.Message, Hint: refused.Hint, Err: err})
		} else {
			s.logger.Debug("cannot attach yet", "error", err)
			s.link.Opening()
		}
		select {
		case <-ctx.Done():
		case <-time.After(attachAgain):
		}
	}
}

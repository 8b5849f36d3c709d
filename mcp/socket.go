package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"steward/mcp/local"
)

// drainTime is the longest a drain takes.
const drainTime = 2 * time.Second

// acceptPause is the longest pause after a failed accept (too many open files,
// say); the first is a two-hundredth of it.
const acceptPause = time.Second

// timing is how long things may take; tests make it shorter.
type timing struct {
	hello   time.Duration // until the first line has come
	opening time.Duration // between two welcomes while the ledger is being opened
	write   time.Duration // without the client reading anything of what waits for it
}

// SocketConfig is what a Socket needs of the service. Every function may be nil,
// and is called from the goroutine of one connection.
type SocketConfig struct {
	Logger  *slog.Logger // nil discards. Payloads are never logged
	Version string       // Steward's, for the welcome
	Schema  int          // of the ledger, for the welcome
	Ledger  string       // hash of the ledger's real path; a hello that names another is refused. "" takes any

	// OnYield decides whether the service hands over to the asker, and why not
	// (older, busy, kept). When granted, the asker is told at once; its
	// connection lives until Drain, which the caller starts by itself.
	OnYield func(local.Yield) (granted bool, why string)
	// OnStop is called after the asker has been told that the service stops.
	// Like OnYield it must not wait for Drain: its own connection is drained too.
	OnStop func(local.Stop)
	// BeforeWelcome runs before a hello is welcomed to a serving socket: what
	// that bridge left in the spool comes before what it sends. An error
	// refuses the hello with its code.
	BeforeWelcome func(local.Hello) error
	// Person tells whether proof lets a window decide as the person. nil lets
	// none in.
	Person func(proof string) bool
	// OnSignIn makes a link with which a browser signs in as the person, for an
	// asker who brings that proof. nil makes none.
	OnSignIn func(proof string) (link string, refused *local.Refused)
	// Info answers doctor. State and Connections are filled in here.
	Info func() local.Info
}

// Socket serves the connections of one service: the hello of each, then MCP.
// It may accept before there is anything to serve: connections are told how far
// the opening is until Ready or Refuse.
type Socket struct {
	cfg    SocketConfig
	log    *slog.Logger
	crew   *crew
	timing timing
	done   atomic.Uint64 // Float64bits of how far the opening is

	mu        sync.Mutex
	phase     phase
	changed   chan struct{} // closed and replaced when phase changes
	draining  bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	active    int // connections past their hello
	idleSince time.Time
	all       sync.WaitGroup // connections
}

// phase is what a hello is answered with: nothing yet, a server, or a refusal.
type phase struct {
	server  *Server
	refusal *local.Refused
}

// NewSocket returns a socket that is still opening.
func NewSocket(cfg SocketConfig) *Socket {
	s := &Socket{
		cfg: cfg, log: cfg.Logger, crew: newCrew(),
		timing:    timing{hello: local.HelloTimeout, opening: 500 * time.Millisecond, write: 10 * time.Second},
		changed:   make(chan struct{}),
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
		idleSince: time.Now(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Serve accepts connections from l until Drain, and closes it. It returns after
// l is closed; connections live on.
func (s *Socket) Serve(l net.Listener) {
	defer l.Close()
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()

	pause := acceptPause / 200
	for {
		nc, err := l.Accept()
		if err == nil {
			pause = acceptPause / 200
			if c := newConn(s, nc); s.join(c) {
				go s.converse(c)
			} else {
				_ = nc.Close()
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) || s.isDraining() {
			return
		}
		s.log.Warn("cannot accept a connection", "error", err)
		time.Sleep(pause)
		pause = min(2*pause, acceptPause)
	}
}

// Ready serves waiting and coming connections with srv.
func (s *Socket) Ready(srv *Server) { s.enter(phase{server: srv}) }

// Refuse answers every waiting and coming hello with r. Yield, stop and info
// are answered as ever.
func (s *Socket) Refuse(r local.Refused) { s.enter(phase{refusal: &r}) }

// Progress says how far the opening is, from 0 to 1.
func (s *Socket) Progress(done float64) {
	s.done.Store(math.Float64bits(min(max(done, 0), 1)))
}

func (s *Socket) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = p
	close(s.changed)
	s.changed = make(chan struct{})
}

// now returns the phase and what is closed when it changes.
func (s *Socket) now() (phase, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase, s.changed
}

// Active is how many connections have said hello and are open.
func (s *Socket) Active() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// IdleSince is when the last connection that had said hello ended, or when the
// socket was made. It means something only while Active is 0.
func (s *Socket) IdleSince() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idleSince
}

// Drain ends the service: no new connection, no new request, the answers of
// what runs, then the end of every connection. Waits end without an answer;
// their clients ask the next owner. It does not remove the socket's path, which
// may be the successor's by then. It takes at most 2 s; what runs longer loses
// its connection and is reported in the error.
func (s *Socket) Drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()

	s.mu.Lock()
	first := !s.draining
	s.draining = true
	for l := range s.listeners {
		_ = l.Close()
	}
	for c := range s.conns {
		c.stopReading()
	}
	if first {
		close(s.changed)
		s.changed = make(chan struct{})
	}
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		s.all.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = s.abandon(ended)
	}
	if first {
		s.crew.dismiss()
	}
	return err
}

// abandon closes what is left of the connections.
func (s *Socket) abandon(ended <-chan struct{}) error {
	s.mu.Lock()
	left, running := make([]*conn, 0, len(s.conns)), 0
	for c := range s.conns {
		left = append(left, c)
		running += c.load()
	}
	s.mu.Unlock()
	for _, c := range left {
		c.abandon()
	}
	select { // mostly they only waited for a client to read
	case <-ended:
		if running == 0 {
			return nil
		}
	case <-time.After(drainTime / 20):
	}
	return fmt.Errorf("drain: %d connections with %d requests were cut off", len(left), running)
}

func (s *Socket) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// join admits a connection, unless the socket drains.
func (s *Socket) join(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.conns[c] = struct{}{}
	s.all.Add(1)
	return true
}

// leave is the end of a connection that has joined.
func (s *Socket) leave(c *conn) {
	_ = c.nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if c.active {
		if s.active--; s.active == 0 {
			s.idleSince = time.Now()
		}
	}
	s.all.Done()
}

// activate counts a connection as active from its hello on, and lets it read
// for as long as it likes. False when the socket drains.
func (s *Socket) activate(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	c.active = true
	s.active++
	return c.nc.SetReadDeadline(time.Time{}) == nil
}

package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"steward/app/web"
	"steward/frontend"
	"steward/ledger"
	"steward/mcp"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// Work is what a service must not be torn from.
type Work interface {
	Active() bool // an agent's task is running: the service neither yields nor leaves
	Wanted() bool // a person is being asked, or a page is open: the service may yield, but does not leave for idleness
}

// Options say what to run, and where. Paths, Role and Version are required.
type Options struct {
	Paths    Paths
	Env      Env
	Role     Role
	Version  string                      // of this program
	Settings *Settings                   // default: the file of Paths, under Env
	Listen   string                      // where HTTP is served, as ListenAddress returns it; default: as Settings say
	Logger   *slog.Logger                // default: none
	Work     Work                        // default: none
	Notify   func(s State, on any)       // told of every change of state; on is the lock's text while Waiting, the error while Refusing, the *Door while Serving with HTTP. Must not block
	Now      func() time.Time            // the wall clock of the ledger; default time.Now
	Ready    func(*ops.Set, *ledger.Log) // told, once, what a window in this process works with, before the first client is let in. Both end with Run
	Page     fs.FS                       // the page for browsers; default: the one this program was built with
	Gone     <-chan struct{}             // closed when a Window has closed while a task was active: from then on an Auto, which leaves when no task is
	Stop     func()                      // told that somebody has asked the service to stop, as `steward stop` does, before Run returns. Must not block
	Idle     time.Duration               // how long an Auto service stays with nobody there; default 10 minutes
	Refuse   time.Duration               // how long Refusing lasts; default 60 seconds
}

const (
	idleAfter   = 10 * time.Minute
	refuseFor   = 60 * time.Second
	drainWithin = 2 * time.Second
	lookAfter   = 30 * time.Second // between looks at the ledger's and the socket's path
	taskPause   = time.Second      // between looks for a task that is active, after the window has gone
)

// service is one run from the lock to its return.
type service struct {
	Options
	since time.Time
	leave chan string        // why the owner should go; the first reason counts
	going context.Context    // ends when the owner should go, for what can be left for the next one
	hurry context.CancelFunc // ends it
	sock  *mcp.Socket
	door  *door         // nil: no HTTP
	http  *mcp.HTTP     // nil until the door is open
	text  string        // what the lock file says of this process
	fixed bool          // Listen does not come from Settings
	set   *ops.Set      // nil until the ledger is open
	kept  chan struct{} // closed when no daily copy is being made any more; nil before Serving

	mu     sync.Mutex
	state  State
	alone  bool     // the window has gone
	page   *web.Web // nil while no HTTP is served
	spool  *spool   // nil until the ledger is open
	wanted string   // where HTTP should be by the newest settings
}

// Run serves until ctx ends, another process takes over or asks it to stop, or,
// in the Auto role, nobody needs it. It returns nil then, and also when an Auto
// service finds another one at work. Otherwise the error is an *ops.Error that
// says why the ledger could not be served.
func Run(ctx context.Context, o Options) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Settings == nil {
		o.Settings = NewSettings(o.Paths.Config, o.Env)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Idle == 0 {
		o.Idle = idleAfter
	}
	if o.Refuse == 0 {
		o.Refuse = refuseFor
	}
	if o.Page == nil {
		o.Page = frontend.Page()
	}
	if o.Work == nil {
		o.Work = noWork{}
	}
	s := &service{Options: o, since: time.Now(), leave: make(chan string, 1), fixed: o.Listen != "", wanted: o.Settings.Config().Listen}
	if !s.fixed {
		s.Listen = s.wanted
	}
	if s.Listen != "" && s.Role == Serve { // before an owner leaves for one that cannot start
		if err := MayListen(s.Env, s.Listen); err != nil {
			return err
		}
	}
	s.text = lockText(s.Options, s.since)
	s.going, s.hurry = context.WithCancel(ctx)
	defer s.hurry()
	lock, unusable, err := s.acquire(ctx)
	if err != nil || lock == nil {
		return err
	}
	defer func() {
		if err := lock.Release(); err != nil {
			s.Logger.Warn("the lock was not given back in order; it goes with the process", "error", err)
		}
	}()
	return s.own(ctx, unusable)
}

type noWork struct{}

func (noWork) Active() bool { return false }
func (noWork) Wanted() bool { return false }

// own is what the holder of the lock does. unusable, if not nil, says that the
// ledger cannot be written and need not be tried.
func (s *service) own(ctx context.Context, unusable error) error {
	if unusable == nil {
		var err error
		if s.door, err = s.prepareDoor(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // as asked
			}
			return err
		}
	}
	defer s.closeDoor()
	listener, err := s.listen()
	if err != nil {
		return err
	}
	var mine os.FileInfo
	if runtime.GOOS != "windows" { // a pipe is no file
		if mine, err = os.Lstat(s.Paths.Socket); err != nil {
			s.Logger.Warn("the socket's path cannot be seen; it will stay", "error", err)
		}
	}
	s.sock = mcp.NewSocket(mcp.SocketConfig{
		Logger: s.Logger, Version: s.Version, Schema: ledger.SchemaVersion, Ledger: s.Paths.Key,
		OnYield: s.onYield, OnStop: s.onStop, BeforeWelcome: s.beforeWelcome, Person: s.Paths.isOwner, OnSignIn: s.onSignIn, Info: s.info,
	})
	s.become(Opening, nil)
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.sock.Serve(listener)
	}()
	log, err := (*ledger.Log)(nil), unusable
	if err == nil {
		log, err = s.open(ctx)
	}
	if err != nil {
		err = s.refuse(ctx, err)
	} else {
		err = s.serve(ctx, log, mine)
	}
	s.drain(log)
	<-served
	s.removeSocket(mine)
	return err
}

// listen binds the socket. The lock is held, so a socket at its path on which
// nobody listens is a leftover; one that answers is another program's.
func (s *service) listen() (net.Listener, error) {
	l, err := mcp.Listen(s.Paths.Socket)
	if err != nil {
		return nil, &ops.Error{Code: ops.Unavailable, Message: "cannot listen: " + err.Error(),
			Hint: "`steward doctor` shows what is in use; STEWARD_SOCKET names another place", Err: err}
	}
	return l, nil
}

// open opens the ledger and applies what was spooled while nobody served.
func (s *service) open(ctx context.Context) (*ledger.Log, error) {
	start := time.Now()
	log, err := ledger.Open(ctx, ledger.Options{Path: s.Paths.Ledger, BackupDir: s.Paths.Backups, Now: s.Now, Logger: s.Logger})
	if err != nil {
		return nil, err
	}
	if lost := log.Orphan(); lost != "" {
		s.Logger.Error("the ledger file was gone, its write-ahead log was not; a new ledger was begun", "ledger", log.Path(), "kept", lost)
		if err := losing.fails(ctx, log, errLost, lost); err != nil {
			s.Logger.Error("the ledger's loss", "err", err)
		}
	}
	s.set = ops.NewSet(&ops.Env{
		Log: log, Targets: s.Settings.Targets, Backups: s.Paths.Backups, Logger: s.Logger,
		Settings: s.Settings, About: s.about, Opener: desktop{s.Env},
	}, ops.All()...)
	sp := &spool{dir: s.Paths.Spool, log: log, set: s.set, logger: s.Logger}
	s.sock.Progress(0.25)
	s.importOlder(s.going, log)
	s.sock.Progress(0.5)
	sp.drain(ctx, func(done float64) { s.sock.Progress(0.5 + done/2) })
	sp.tidy(ctx)
	s.mu.Lock()
	s.spool = sp
	s.mu.Unlock()
	server := mcp.NewServer(s.Version, s.set, s.Logger)
	if s.Ready != nil {
		s.Ready(s.set, log)
	}
	s.openDoor(server, s.set, log)
	if s.door == nil {
		s.become(Serving, nil)
	} else {
		s.become(Serving, &s.door.Door)
	}
	s.sock.Ready(server)
	s.Logger.Info("serving", "role", s.Role, "version", s.Version, "ledger", log.Path(), "socket", s.Paths.Socket, "took", took(start))
	return log, nil
}

// serve waits for a reason to go, and meanwhile sees to the daily copies.
func (s *service) serve(ctx context.Context, log *ledger.Log, mine os.FileInfo) error {
	defer s.keep(log)()
	defer s.expiries(log)()
	defer s.updates()()
	look := min(s.Idle, lookAfter)
	idle := time.NewTimer(look)
	defer idle.Stop()
	gone := s.Gone
	for {
		select {
		case <-ctx.Done():
			s.Logger.Info("leaving", "because", "asked by a signal")
			return nil
		case why := <-s.leave:
			s.Logger.Info("leaving", "because", why)
			return nil
		case <-log.Gone():
			s.Logger.Error("leaving", "because", ledger.ErrMoved, "ledger", s.Paths.Ledger)
			return nil
		case <-gone:
			s.Logger.Info("the window has gone while a task is active; serving on until it ends")
			gone, look = nil, min(look, taskPause)
			s.mu.Lock()
			s.alone = true
			s.mu.Unlock()
			idle.Reset(0)
		case <-idle.C:
			if gone == nil && s.Gone != nil && !s.Work.Active() {
				s.Logger.Info("leaving", "because", "the window has gone and no task is active")
				return nil
			}
			active, since := s.present()
			wait := s.untilIdle(time.Now(), active, since)
			if wait <= 0 && asked(ctx, log) {
				wait = max(s.Idle/10, time.Millisecond)
			}
			if log.InPlace() != nil {
				continue // Gone is closed now
			}
			if wait <= 0 {
				s.Logger.Info("leaving", "because", "nobody was here for "+s.Idle.String())
				return nil
			}
			if err := s.unreachable(mine); err != nil {
				s.Logger.Error("leaving", "because", err)
				return err
			}
			idle.Reset(min(wait, look))
		}
	}
}

// unreachable says that the socket's path no longer leads here: a cleaner of
// temporary files or a person has taken it away. Nobody could reach this service
// any more, nor start another beside it, so it makes room for one.
func (s *service) unreachable(mine os.FileInfo) error {
	if mine == nil {
		return nil
	}
	now, err := os.Lstat(s.Paths.Socket)
	if err == nil && os.SameFile(mine, now) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return &ops.Error{Code: ops.Unavailable, Message: "the socket " + s.Paths.Socket + " was removed or replaced while the service ran",
		Hint: "start it again; the next call of a client does so by itself"}
}

// keep lets a keeper work until stop is called.
func (s *service) keep(log *ledger.Log) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(s.going)
	k := &keeper{folder: s.Paths.Backups, log: log, now: s.Now, logger: s.Logger, on: func() bool { return s.config().BackupDaily }}
	s.kept = make(chan struct{})
	go func() {
		defer close(s.kept)
		k.run(ctx)
	}()
	return stop
}

// config is what the settings say now.
func (s *service) config() Config {
	c := s.Settings.Config()
	s.watchListen(c)
	return c
}

// untilIdle is how long the service has to stay at least, with that many
// connections and requests now or the last one gone at idleSince; 0 if it may go. While
// somebody is there, that is a whole idle time from now.
func (s *service) untilIdle(now time.Time, active int, idleSince time.Time) time.Duration {
	switch {
	case s.role() != Auto, active > 0:
		return s.Idle
	case s.Work.Active(), s.Work.Wanted():
		return max(s.Idle/10, time.Millisecond)
	}
	return max(idleSince.Add(s.Idle).Sub(now), 0)
}

// refuse tells every connection for a while why the ledger is not served, so
// that clients get the reason instead of silence, and returns it.
func (s *service) refuse(ctx context.Context, cause error) error {
	s.closeDoor()
	err := Explain(cause, s.Paths)
	s.Logger.Error("the ledger cannot be served", "code", err.Code, "error", cause)
	s.become(Refusing, err)
	code := string(err.Code)
	if errors.Is(cause, ledger.ErrForeign) {
		code = local.RefusedLedger // no use to ask again, nor to keep receipts for it
	}
	s.sock.Refuse(local.Refused{Code: code, Message: err.Message, Hint: err.Hint})
	timer := time.NewTimer(s.Refuse)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil // as asked
	case <-s.leave:
		return nil
	case <-timer.C:
		return err
	}
}

// drain lets what is running be answered, closes the connections and then the
// ledger.
func (s *service) drain(log *ledger.Log) {
	s.become(Draining, nil)
	ctx, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	web := make(chan error, 1)
	go func() { web <- s.drainDoor(ctx) }()
	if err := errors.Join(s.sock.Drain(ctx), <-web); err != nil {
		s.Logger.Warn("not everything was answered before leaving", "error", err)
	}
	if log == nil {
		return
	}
	select {
	case <-s.kept: // a copy that was being made is given up
	case <-ctx.Done():
		s.Logger.Warn("a daily copy is still being given up; what there is of it goes at the next start")
	}
	if err := log.Close(); err != nil {
		s.Logger.Warn("the ledger was not closed in order; nothing acknowledged is lost", "error", err)
	}
}

// removeSocket takes the socket's path away if it is still this process's own.
func (s *service) removeSocket(mine os.FileInfo) {
	if mine == nil {
		return
	}
	if now, err := os.Lstat(s.Paths.Socket); err != nil || !os.SameFile(mine, now) {
		return
	}
	if err := os.Remove(s.Paths.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Logger.Warn("the socket's path stays", "error", err)
	}
}

func (s *service) become(st State, on any) {
	s.mu.Lock()
	s.state = st
	s.mu.Unlock()
	if s.Notify != nil {
		s.Notify(st, on)
	}
}

// role is why the process serves now.
func (s *service) role() Role {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone {
		return Auto
	}
	return s.Role
}

func (s *service) now() (State, *spool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.spool
}

func (s *service) goAway(why string) {
	select {
	case s.leave <- why:
		s.hurry()
	default: // it is leaving already
	}
}

func (s *service) onYield(y local.Yield) (bool, string) {
	st, _ := s.now()
	me := owner{role: s.role(), version: s.Version, schema: ledger.SchemaVersion, state: st, active: s.Work.Active()}
	granted, why := me.yields(y)
	if granted {
		s.goAway("a " + y.Role + " of version " + y.Version + " takes over")
	}
	return granted, why
}

func (s *service) onStop(local.Stop) {
	if s.Stop != nil {
		s.Stop()
	}
	s.goAway("asked to stop")
}

// beforeWelcome applies what a client has spooled before that client is told
// to go on: its later calls must not overtake the earlier ones.
func (s *service) beforeWelcome(local.Hello) error {
	s.config() // a new connection is a good moment to see a changed file
	if _, sp := s.now(); sp != nil {
		if err := sp.log.InPlace(); err != nil {
			return err
		}
		sp.drain(context.Background(), nil)
	}
	return nil
}

func (s *service) info() local.Info {
	st, _ := s.now()
	return local.Info{PID: os.Getpid(), Role: string(s.role()), Version: s.Version, Schema: ledger.SchemaVersion, State: st.String(),
		Ledger: s.Paths.Key, Path: s.Paths.Ledger, Since: ledger.At(s.since).String()}
}

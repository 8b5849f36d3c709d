package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// patience is how long a test waits for what must happen at once.
const patience = 20 * time.Second

// stand-in for running tasks and waiting people.
type work struct{ active, wanted atomic.Bool }

func (w *work) Active() bool { return w.active.Load() }
func (w *work) Wanted() bool { return w.wanted.Load() }

// place is a new state folder with a short path, so that its socket fits.
func place(t *testing.T) Paths {
	t.Helper()
	return find(t, env(t))
}

func env(t *testing.T) Env {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return Env{"HOME": dir, "LOCALAPPDATA": dir, "STEWARD_HOME": filepath.Join(dir, "home")}
}

type change struct {
	state State
	on    any
}

// running is a service in this process.
type running struct {
	t       *testing.T
	paths   Paths
	stop    context.CancelFunc
	changes chan change
	ended   chan error
	log     *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs a service and ends it with the test.
func start(t *testing.T, o Options) *running {
	t.Helper()
	r := &running{t: t, paths: o.Paths, changes: make(chan change, 100), ended: make(chan error, 1), log: &safeBuffer{}}
	o.Notify = func(s State, on any) { r.changes <- change{s, on} }
	o.Logger = slog.New(slog.NewTextHandler(r.log, nil))
	if o.Version == "" {
		o.Version = "1.0.0"
	}
	if o.Role == "" {
		o.Role = Serve
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- Run(ctx, o)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if t.Failed() {
			t.Logf("log of the %s:\n%s", o.Role, r.log)
		}
	})
	return r
}

// reaches waits for a state and returns what came with it.
func (r *running) reaches(want State) any {
	r.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case c := <-r.changes:
			if c.state == want {
				return c.on
			}
		case err := <-r.ended:
			r.t.Fatalf("the service ended (%v) before it was %s\n%s", err, want, r.log)
		case <-limit:
			r.t.Fatalf("the service was not %s within %s\n%s", want, patience, r.log)
		}
	}
}

// ends waits for the service's return.
func (r *running) ends() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(patience):
		r.t.Fatalf("the service did not end within %s\n%s", patience, r.log)
		return nil
	}
}

// client is one connection to a service.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	n    int
}

// knock says hello and returns the first answer that is not "opening".
func knock(t *testing.T, p Paths) (*client, local.Line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := local.Dial(ctx, p.Socket)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // may be closed already
	c := &client{t: t, conn: conn, r: bufio.NewReader(conn)}
	hello := local.Hello{Role: local.RoleBridge, ID: local.NewID(), Version: "1.0.0", Schema: ledger.SchemaVersion, Ledger: p.Key, Stream: "lane"}
	if err := local.WriteLine(conn, local.Line{Hello: &hello}); err != nil {
		t.Fatalf("hello: %v", err)
	}
	for {
		l, err := local.ReadLine(c.r)
		if err != nil {
			t.Fatalf("answer to the hello: %v", err)
		}
		if l.Welcome == nil || l.Welcome.State != local.StateOpening {
			return c, l
		}
	}
}

func connect(t *testing.T, p Paths) *client {
	t.Helper()
	c, l := knock(t, p)
	if l.Welcome == nil {
		t.Fatalf("not welcome: %+v", l.Refused)
	}
	return c
}

// call calls a tool and returns its result's object.
func (c *client) call(tool string, args any) map[string]any {
	c.t.Helper()
	c.n++
	b, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", c.n, tool, b); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	var answer struct {
		Result struct {
			Structured map[string]any `json:"structuredContent"`
			IsError    bool           `json:"isError"`
		} `json:"result"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil || answer.Result.IsError {
		c.t.Fatalf("%s: %s", tool, line)
	}
	return answer.Result.Structured
}

// events reads the ledger of a service that has ended.
func events(t *testing.T, p Paths) (all []ledger.Event) {
	t.Helper()
	lock, err := ledger.Lock(p.Ledger, "a test")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release() //nolint:errcheck // the test is over with it
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // only read
	if err := log.View(context.Background(), func(v *ledger.View) error {
		all, _, err = v.Events(0, 200)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestServeAnswersAndEnds(t *testing.T) {
	p := place(t)
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	if text, held, err := ledger.Holder(p.Ledger); err != nil || !held || HolderPID(text) != os.Getpid() || !strings.Contains(text, "serve, version 1.0.0") {
		t.Errorf("lock: %q, held %v, %v", text, held, err)
	}
	c := connect(t, p)
	if got := c.call("report_done", map[string]any{"actor": "me", "outcome": "hello"}); got["event_id"] != float64(1) {
		t.Errorf("report_done: %v", got)
	}
	info, err := local.AskInfo(context.Background(), p.Socket)
	if err != nil || info.PID != os.Getpid() || info.Role != "serve" || info.Ledger != p.Key || info.Path != p.Ledger || info.Connections != 1 {
		t.Errorf("info: %+v, %v", info, err)
	}
	s.stop()
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, held, _ := ledger.Holder(p.Ledger); held {
		t.Error("the lock is still held")
	}
	if _, err := os.Lstat(p.Socket); runtime.GOOS != "windows" && !os.IsNotExist(err) {
		t.Errorf("the socket's path is still there: %v", err)
	}
	if all := events(t, p); len(all) != 1 || all[0].Workspace != "lane" {
		t.Errorf("events: %+v", all)
	}
}

func TestStopRequestEndsTheService(t *testing.T) {
	p := place(t)
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	if err := local.AskStop(context.Background(), p.Socket, local.Stop{PID: 1}); err != nil {
		t.Error(err)
	}
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestAutoLeavesWhenNobodyIsThere(t *testing.T) {
	p := place(t)
	s := start(t, Options{Paths: p, Role: Auto, Idle: 30 * time.Millisecond})
	s.reaches(Serving)
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(s.log.String(), "nobody was here for 30ms") {
		t.Error("the log does not say why it left")
	}
}

func TestAutoStaysWhileSomebodyIsThere(t *testing.T) {
	p := place(t)
	w := &work{}
	w.wanted.Store(true) // until there is a connection
	s := start(t, Options{Paths: p, Role: Auto, Idle: 30 * time.Millisecond, Work: w})
	s.reaches(Serving)
	c := connect(t, p)
	w.wanted.Store(false)
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		c.call("recent_events", map[string]any{})
	}
	_ = c.conn.Close() // that is its going
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestUntilIdle(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		name           string
		role           Role
		active         int
		gone           time.Duration // since the last connection
		task, somebody bool
		want           time.Duration
	}{
		{"just begun", Auto, 0, 0, false, false, 10 * time.Minute},
		{"half the time", Auto, 0, 5 * time.Minute, false, false, 5 * time.Minute},
		{"all of it", Auto, 0, 10 * time.Minute, false, false, 0},
		{"long past", Auto, 0, time.Hour, false, false, 0},
		{"a connection", Auto, 1, time.Hour, false, false, 10 * time.Minute},
		{"a task", Auto, 0, time.Hour, true, false, time.Minute},
		{"a person is asked", Auto, 0, time.Hour, false, true, time.Minute},
		{"a serve", Serve, 0, time.Hour, false, false, 10 * time.Minute},
		{"a window", Window, 0, time.Hour, false, false, 10 * time.Minute},
	} {
		w := &work{}
		w.active.Store(c.task)
		w.wanted.Store(c.somebody)
		s := service{Options: Options{Role: c.role, Idle: 10 * time.Minute, Work: w}}
		if got := s.untilIdle(now, c.active, now.Add(-c.gone)); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

func TestTakeOver(t *testing.T) {
	for _, c := range []struct {
		name             string
		owner, asker     Role
		ownerIs, askerIs string
	}{
		{"a serve from an auto", Auto, Serve, "1.0.0", "1.0.0"},
		{"a window from an auto", Auto, Window, "1.0.0", "1.0.0"},
		{"a newer serve from a serve", Serve, Serve, "1.0.0", "1.1.0"},
		{"a newer auto from an auto", Auto, Auto, "1.0.0", "1.1.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := place(t)
			first := start(t, Options{Paths: p, Role: c.owner, Version: c.ownerIs})
			first.reaches(Serving)
			connect(t, p).call("report_done", map[string]any{"actor": "me"})
			second := start(t, Options{Paths: p, Role: c.asker, Version: c.askerIs})
			second.reaches(Serving)
			if err := first.ends(); err != nil {
				t.Errorf("the first ended with %v", err)
			}
			if got := connect(t, p).call("report_done", map[string]any{"actor": "me"}); got["event_id"] != float64(2) {
				t.Errorf("after the take-over: %v", got)
			}
		})
	}
}

func TestStandBy(t *testing.T) {
	for _, c := range []struct {
		name             string
		owner, asker     Role
		ownerIs, askerIs string
	}{
		{"a serve behind a serve", Serve, Serve, "1.0.0", "1.0.0"},
		{"a window behind a serve, however new", Serve, Window, "1.0.0", "9.0.0"},
		{"a serve behind a window", Window, Serve, "1.0.0", "9.0.0"},
		{"an older serve behind a serve", Serve, Serve, "1.1.0", "1.0.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := place(t)
			first := start(t, Options{Paths: p, Role: c.owner, Version: c.ownerIs})
			first.reaches(Serving)
			second := start(t, Options{Paths: p, Role: c.asker, Version: c.askerIs})
			holder, ok := second.reaches(Waiting).(string)
			if !ok || HolderPID(holder) != os.Getpid() || !strings.Contains(holder, string(c.owner)+", version "+c.ownerIs) {
				t.Errorf("waiting on %q; want it to say who holds the lock", holder)
			}
			connect(t, p).call("report_done", map[string]any{"actor": "me"})
			first.stop()
			second.reaches(Serving)
			if err := first.ends(); err != nil {
				t.Errorf("the first ended with %v", err)
			}
			connect(t, p).call("report_done", map[string]any{"actor": "me"})
		})
	}
}

func TestStandByEndsOnASignal(t *testing.T) {
	p := place(t)
	start(t, Options{Paths: p}).reaches(Serving)
	second := start(t, Options{Paths: p})
	second.reaches(Waiting)
	second.stop()
	if err := second.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	connect(t, p).call("recent_events", map[string]any{})
}

func TestKeptWhileATaskIsActive(t *testing.T) {
	p := place(t)
	w := &work{}
	w.active.Store(true)
	first := start(t, Options{Paths: p, Role: Auto, Work: w, Idle: time.Millisecond})
	first.reaches(Serving)
	granted, why, err := local.AskYield(context.Background(), p.Socket, local.Yield{Role: "window", Version: "9.0.0", Schema: 99})
	if err != nil || granted || why != keptBusy {
		t.Errorf("granted %v, %q, %v; want busy", granted, why, err)
	}
	second := start(t, Options{Paths: p, Role: Window})
	second.reaches(Waiting)
	connect(t, p).call("recent_events", map[string]any{}) // by the first, still
	w.active.Store(false)
	second.reaches(Serving)
	if err := first.ends(); err != nil {
		t.Errorf("the first ended with %v", err)
	}
}

func TestAutosMakeOneService(t *testing.T) {
	p := place(t)
	all := make([]*running, 5)
	for i := range all {
		all[i] = start(t, Options{Paths: p, Role: Auto})
	}
	serving := make(chan *running, len(all))
	for _, r := range all {
		go func() {
			for c := range r.changes {
				if c.state == Serving {
					serving <- r
				}
			}
		}()
	}
	winner := <-serving
	for _, r := range all {
		if r != winner {
			if err := r.ends(); err != nil {
				t.Errorf("a second one ended with %v", err)
			}
		}
	}
	connect(t, p).call("recent_events", map[string]any{})
	if len(serving) > 0 {
		t.Error("more than one served")
	}
}

func TestAutoGivesUpOnASilentHolder(t *testing.T) {
	p := place(t)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := ledger.Lock(p.Ledger, "pid 4711, a stranger")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release() //nolint:errcheck // the test is over with it
	begin := time.Now()
	s := start(t, Options{Paths: p, Role: Auto})
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(begin); took < autoWait/2 || took > 10*autoWait {
		t.Errorf("tried for %s; want about %s", took, autoWait)
	}
	if !strings.Contains(s.log.String(), "4711") {
		t.Error("the log does not name the holder")
	}
}

func TestTwoStateFoldersOneLedger(t *testing.T) {
	a := env(t)
	file := filepath.Join(a["HOME"], "shared.db")
	a["STEWARD_DB"] = file
	b := Env{"HOME": a["HOME"], "LOCALAPPDATA": a["HOME"], "STEWARD_HOME": filepath.Join(a["HOME"], "second"), "STEWARD_DB": file}
	first := start(t, Options{Paths: find(t, a), Env: a})
	first.reaches(Serving)
	second := start(t, Options{Paths: find(t, b), Env: b})
	if holder, _ := second.reaches(Waiting).(string); HolderPID(holder) != os.Getpid() {
		t.Errorf("the second is told %q", holder)
	}
	connect(t, find(t, b)).call("report_done", map[string]any{"actor": "b"})
	connect(t, find(t, a)).call("report_done", map[string]any{"actor": "a"})
}

func TestAnotherLedgersHelloIsRefused(t *testing.T) {
	p := place(t)
	start(t, Options{Paths: p}).reaches(Serving)
	p.Key = strings.Repeat("0", 64)
	if _, l := knock(t, p); l.Refused == nil || l.Refused.Code != local.RefusedLedger {
		t.Errorf("%+v; want a refusal of code ledger", l)
	}
}

func TestClockGoesBackwards(t *testing.T) {
	p := place(t)
	var clock atomic.Int64
	clock.Store(2e12)
	s := start(t, Options{Paths: p, Now: func() time.Time { return time.UnixMilli(clock.Load()) }})
	s.reaches(Serving)
	c := connect(t, p)
	c.call("report_done", map[string]any{"actor": "before"})
	clock.Add(-3600_000)
	c.call("report_done", map[string]any{"actor": "after"})
	if r := c.call("situation_report", map[string]any{}); len(r["key_events"].([]any)) != 2 {
		t.Errorf("key events: %v", r["key_events"])
	}
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	all := events(t, p)
	if len(all) != 2 || all[0].ID >= all[1].ID || all[0].At-all[1].At != 3600_000 {
		t.Errorf("%+v; want the order of the ids and the times as the clock had them", all)
	}
}

func TestRefusing(t *testing.T) {
	future := header("STWR")
	future[63] = 99 // user_version
	for _, c := range []struct {
		name string
		file []byte
		code ops.Code
		wire string
	}{
		{"a corrupt file", []byte(strings.Repeat("no database ", 1000)), ops.Corrupt, local.RefusedCorrupt},
		{"a file cut short", []byte("SQLite format 3\x00"), ops.Corrupt, local.RefusedCorrupt},
		{"a newer file", future, ops.Version, local.RefusedVersion},
		{"another program's file", header("\x00\x00\x00\x01"), ops.Unavailable, local.RefusedLedger},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := place(t)
			write(t, p.Ledger, c.file)
			s := start(t, Options{Paths: p})
			if err, _ := s.reaches(Refusing).(error); ops.CodeOf(err) != c.code {
				t.Errorf("told %v", err)
			}
			_, l := knock(t, p)
			if l.Refused == nil || l.Refused.Code != c.wire || !strings.Contains(l.Refused.Message, p.Ledger) || l.Refused.Hint == "" {
				t.Errorf("%+v; want a refusal of code %s with the file and a hint", l.Refused, c.wire)
			}
			auto := start(t, Options{Paths: p, Role: Auto})
			if err := auto.ends(); err != nil {
				t.Errorf("an auto meanwhile ended with %v", err)
			}
			if after, err := os.ReadFile(p.Ledger); err != nil || !bytes.Equal(after, c.file) {
				t.Errorf("the file was changed: %v", err)
			}
			s.stop()
			if err := s.ends(); err != nil {
				t.Errorf("stopped, it ended with %v", err)
			}
			brief := start(t, Options{Paths: p, Refuse: time.Millisecond})
			if err := brief.ends(); ops.CodeOf(err) != c.code {
				t.Errorf("after its time it ended with %v; want code %s", err, c.code)
			}
		})
	}
}

func TestReplacedLedgerServesAfterRefusing(t *testing.T) {
	p := place(t)
	write(t, p.Ledger, []byte(strings.Repeat("no database ", 1000)))
	start(t, Options{Paths: p}).reaches(Refusing)
	if err := os.Remove(p.Ledger); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Paths: p}).reaches(Serving) // one that refuses yields to anyone
	connect(t, p).call("report_done", map[string]any{"actor": "me"})
}

func TestLedgerRemovedUnderTheService(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	p := place(t)
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(p.Ledger + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if _, l := knock(t, p); l.Refused == nil || l.Refused.Code != "unavailable" || !strings.Contains(l.Refused.Message, "was removed") {
		t.Errorf("%+v; want a refusal that says so", l)
	}
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	start(t, Options{Paths: p}).reaches(Serving)
	connect(t, p).call("report_done", map[string]any{"actor": "me"})
}

func TestSocketRemovedUnderTheService(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pipe has no path to remove")
	}
	p := place(t)
	s := start(t, Options{Paths: p, Idle: 20 * time.Millisecond})
	s.reaches(Serving)
	if err := os.Remove(p.Socket); err != nil {
		t.Fatal(err)
	}
	if err := s.ends(); ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), p.Socket) {
		t.Errorf("ended with %v; want it to say that the socket was removed", err)
	}
	start(t, Options{Paths: p}).reaches(Serving)
	connect(t, p).call("report_done", map[string]any{"actor": "me"})
}

func TestSocketOfAnotherProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pipe is made by other means")
	}
	p := place(t)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(p.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over with it
	err = start(t, Options{Paths: p}).ends()
	if ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), p.Socket) {
		t.Errorf("%v; want unavailable, naming the socket", err)
	}
	if _, err := os.Lstat(p.Socket); err != nil {
		t.Errorf("the other program's socket is gone: %v", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pipe goes with its process")
	}
	p := place(t)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(p.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Paths: p}).reaches(Serving)
	connect(t, p).call("recent_events", map[string]any{})
}

func TestOnlyTheOwnSocketIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a pipe has no path to remove")
	}
	p := place(t)
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	if err := os.Rename(p.Socket, p.Socket+".mine"); err != nil {
		t.Fatal(err)
	}
	write(t, p.Socket, []byte("someone else's"))
	s.stop()
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Stat(p.Socket); err != nil {
		t.Errorf("what stood at the path is gone: %v", err)
	}
}

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// patience bounds everything a test waits for. It is never reached by one that
// passes, also on a machine that does other things.
const patience = time.Minute

type textArgs struct {
	Text string `json:"text" arg:"max=100000" doc:"Any text"`
}

type textOut struct {
	Text string `json:"text"`
}

// echo answers what it is given: the smallest operation, validated like any.
func echo() ops.Op {
	return ops.Act(ops.Spec{Name: "test_echo", Title: "Echo", Text: "Answers its argument.", Surfaces: ops.Agent | ops.Shell},
		func(_ context.Context, _ *ops.Env, _ ops.Caller, in textArgs) (textOut, error) {
			return textOut(in), nil
		})
}

// whoami answers how the connection is seen.
func whoami() ops.Op {
	return ops.Act(ops.Spec{Name: "test_whoami", Title: "Who am I", Text: "Answers the caller.", Surfaces: ops.Agent | ops.Shell},
		func(_ context.Context, _ *ops.Env, c ops.Caller, _ struct{}) (textOut, error) {
			return textOut{fmt.Sprintf("session=%s client=%s workspace=%s stream=%s", c.Session, c.Client, c.Workspace, c.Stream)}, nil
		})
}

// shellOnly is offered in the shell alone.
func shellOnly() ops.Op {
	return ops.Read(ops.Spec{Name: "test_shell", Title: "Shell", Text: "For the shell.", Surfaces: ops.Shell},
		func(*ledger.View, ops.Caller, textArgs) (textOut, error) { return textOut{"hello, shell"}, nil })
}

// failing answers with the error that its text names.
func failing() ops.Op {
	return ops.Act(ops.Spec{Name: "test_fail", Title: "Fail", Text: "Fails as it is told.", Surfaces: ops.Agent},
		func(_ context.Context, _ *ops.Env, _ ops.Caller, in textArgs) (textOut, error) {
			switch in.Text {
			case "unavailable":
				return textOut{}, ledger.ErrUnavailable
			case "version":
				return textOut{}, ledger.ErrNewer
			case "corrupt":
				return textOut{}, ledger.ErrCorrupt
			case "panic":
				panic("secret")
			}
			return textOut{}, fmt.Errorf("secret: %s", in.Text)
		})
}

// gate holds calls of test_hold until it is opened.
type gate struct {
	entered chan string   // the text of each call that has begun
	open    chan struct{} // closed by release
	once    sync.Once
}

func newGate() *gate { return &gate{entered: make(chan string, 1024), open: make(chan struct{})} }

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// hold is an operation that runs until the gate opens or its context ends.
func (g *gate) hold() ops.Op {
	return ops.Act(ops.Spec{Name: "test_hold", Title: "Hold", Text: "Holds until let go.", Surfaces: ops.Agent},
		func(ctx context.Context, _ *ops.Env, c ops.Caller, in textArgs) (textOut, error) {
			if c.Progress != nil {
				c.Progress(1, 3, "one of three")
				c.Progress(2.5, 0, "")
			}
			select {
			case g.entered <- in.Text:
			default: // nobody counts that far
			}
			select {
			case <-g.open:
				return textOut(in), nil
			case <-ctx.Done():
				return textOut{}, ctx.Err()
			}
		})
}

// waitEvents is a wait for the ledger's event with the number in its argument.
func (g *gate) waitEvents() ops.Op {
	type args struct {
		ID int64 `json:"id" arg:"required,min=1" doc:"Event to wait for"`
	}
	type out struct {
		Ready bool `json:"ready"`
	}
	return ops.Wait(ops.Spec{Name: "test_wait", Title: "Wait", Text: "Waits for an event.", Surfaces: ops.Agent}, nil,
		func(v *ledger.View, _ ops.Caller, in args) (out, bool, error) {
			h, err := v.Head()
			return out{h.LastID >= in.ID}, h.LastID >= in.ID, err
		}, nil)
}

// fixture is a serving socket over real operations on a real ledger.
type fixture struct {
	t       testing.TB
	socket  *Socket
	server  *Server
	address string
	gate    *gate
	log     *strings.Builder
	logMu   sync.Mutex
}

// newFixture starts a socket that is still opening; change sets its timing or
// its configuration before the first connection.
func newFixture(t testing.TB, change func(*SocketConfig, *timing), more ...ops.Op) *fixture {
	t.Helper()
	f := &fixture{t: t, gate: newGate(), log: new(strings.Builder)}
	logger := slog.New(slog.NewTextHandler(f, nil))
	env := &ops.Env{
		Log:     ledgertest.Open(t, ledgertest.NewClock()),
		Targets: func() []string { return []string{"studio", "dj", "library"} },
		Logger:  logger,
	}
	set := ops.NewSet(env, append(append(ops.All(), echo(), whoami(), shellOnly(), failing(), f.gate.hold(), f.gate.waitEvents()), more...)...)
	f.server = NewServer("1.2.3", set, logger)
	cfg := SocketConfig{Logger: logger, Version: "1.2.3", Schema: 1, Ledger: "abcd1234"}
	tm := NewSocket(cfg).timing
	if change != nil {
		change(&cfg, &tm)
	}
	f.socket = NewSocket(cfg)
	f.socket.timing = tm
	f.address = address(t)
	l, err := Listen(f.address)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		f.socket.Serve(l)
		close(served)
	}()
	t.Cleanup(func() {
		f.gate.release()
		if err := f.socket.Drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
		<-served
	})
	return f
}

// serving is newFixture with its server.
func serving(t testing.TB, more ...ops.Op) *fixture {
	t.Helper()
	f := newFixture(t, nil, more...)
	f.socket.Ready(f.server)
	return f
}

// Write is the fixture's log.
func (f *fixture) Write(b []byte) (int, error) {
	f.logMu.Lock()
	defer f.logMu.Unlock()
	return f.log.Write(b)
}

func (f *fixture) logged() string {
	f.logMu.Lock()
	defer f.logMu.Unlock()
	return f.log.String()
}

// address is a fresh one for Listen.
func address(t testing.TB) string {
	if runtime.GOOS == "windows" {
		return `\\.\pipe\steward-test-` + local.NewID()
	}
	return filepath.Join(t.TempDir(), "run", "s.sock")
}

// client is one connection of a test.
type client struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func (f *fixture) dial(t testing.TB) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	nc, err := local.Dial(ctx, f.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &client{t, nc, bufio.NewReaderSize(nc, 64<<10)}
}

// hello dials and waits for the welcome. A hello without role is a bridge's.
func (f *fixture) hello(t testing.TB, h local.Hello) *client {
	t.Helper()
	c := f.dial(t)
	if h.Role == "" {
		h.Role = local.RoleBridge
	}
	if h.ID == "" {
		h.ID = local.NewID()
	}
	c.say(local.Line{Hello: &h})
	if l := c.line(); l.Welcome == nil || l.Welcome.State != local.StateServing {
		t.Fatalf("hello: got %+v", l)
	}
	return c
}

func (c *client) say(l local.Line) {
	c.t.Helper()
	if err := local.WriteLine(c, l); err != nil {
		c.t.Fatal(err)
	}
}

// line reads one of Steward's own lines.
func (c *client) line() local.Line {
	c.t.Helper()
	l, err := local.ReadLine(c.r)
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

// send writes lines.
func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// next reads one line, without its line feed.
func (c *client) next() string {
	c.t.Helper()
	s, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading: %v after %q", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

// ended waits for the end of the connection and fails when a line comes first.
func (c *client) ended() {
	c.t.Helper()
	if s, err := c.r.ReadString('\n'); err == nil || timedOut(err) {
		c.t.Fatalf("want the end of the connection, got %q, %v", s, err)
	}
}

// response is any answer of the server, or a notification.
type response struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result *struct {
		Content []struct {
			Type, Text string
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code, Hint, ID string
		} `json:"data"`
	} `json:"error"`
}

// answer reads and decodes one line.
func (c *client) answer() response {
	c.t.Helper()
	line := c.next()
	var r response
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		c.t.Fatalf("%q: %v", line, err)
	}
	return r
}

// call is a tools/call line.
func call(id any, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// text calls a tool and returns the text of its result.
func (c *client) text(id any, tool, args string) string {
	c.t.Helper()
	c.send(call(id, tool, args))
	r := c.answer()
	if r.Result == nil || r.Result.IsError || string(r.ID) != fmt.Sprint(id) {
		c.t.Fatalf("%s: %+v", tool, r)
	}
	return r.Result.Content[0].Text
}

// within runs fn and fails when it takes longer than patience.
func within(t testing.TB, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
}

// eventually polls a condition of a real process or socket.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/local"
)

func TestOpeningThenServing(t *testing.T) {
	f := newFixture(t, func(_ *SocketConfig, tm *timing) { tm.opening = time.Millisecond })
	c := f.dial(t)
	c.say(local.Line{Hello: &local.Hello{Role: local.RoleBridge, ID: local.NewID()}})
	// What a client sends too early waits in the socket.
	c.send(call(1, "test_echo", `{"text":"early"}`))
	if l := c.line(); l.Welcome == nil || l.Welcome.State != local.StateOpening || l.Welcome.Done != 0 {
		t.Fatalf("got %+v", l)
	}
	if i, err := local.AskInfo(t.Context(), f.address); err != nil || i.State != local.StateOpening || i.Connections != 1 {
		t.Errorf("info %+v, %v", i, err)
	}
	f.socket.Progress(0.4)
	for l := c.line(); l.Welcome.Done != 0.4; l = c.line() {
		if l.Welcome.State != local.StateOpening || l.Welcome.Done != 0 {
			t.Fatalf("got %+v", l.Welcome)
		}
	}
	f.socket.Ready(f.server)
	l := c.line()
	for l.Welcome.State == local.StateOpening {
		l = c.line()
	}
	want := local.Welcome{State: local.StateServing, Version: "1.2.3", Schema: 1, Tools: local.Digest(), Slots: ledger.Slots}
	if *l.Welcome != want {
		t.Errorf("got %+v, want %+v", *l.Welcome, want)
	}
	if r := c.answer(); string(r.ID) != "1" || r.Result == nil {
		t.Errorf("got %+v", r)
	}
	if i, err := local.AskInfo(t.Context(), f.address); err != nil || i.State != local.StateServing {
		t.Errorf("info %+v, %v", i, err)
	}
}

func TestRefusing(t *testing.T) {
	f := newFixture(t, nil)
	hello := local.Line{Hello: &local.Hello{Role: local.RoleBridge, ID: local.NewID()}}
	waiting := f.dial(t)
	waiting.say(hello)
	waiting.line() // opening
	refusal := local.Refused{Code: local.RefusedCorrupt, Message: "the ledger is damaged", Hint: "run steward verify"}
	f.socket.Refuse(refusal)
	later := f.dial(t)
	later.say(hello)
	for _, c := range []*client{waiting, later} {
		if l := c.line(); l.Refused == nil || *l.Refused != refusal {
			t.Errorf("got %+v", l)
		}
		c.ended()
	}
	if i, err := local.AskInfo(t.Context(), f.address); err != nil || i.State != "refusing" {
		t.Errorf("info %+v, %v", i, err)
	}
	if granted, kept, err := local.AskYield(t.Context(), f.address, local.Yield{}); granted || kept != "kept" || err != nil {
		t.Errorf("yield: %v %q %v", granted, kept, err)
	}
}

func TestBeforeWelcome(t *testing.T) {
	var asked local.Hello
	var answer error
	f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.BeforeWelcome = func(h local.Hello) error {
			asked = h
			return answer
		}
	})
	f.socket.Ready(f.server)
	h := local.Hello{Role: local.RoleBridge, ID: local.NewID(), Stream: "api"}
	f.hello(t, h)
	if asked != h {
		t.Errorf("asked with %+v", asked)
	}
	for _, tc := range []struct {
		err  error
		code string
	}{
		{ledger.ErrFull, "unavailable"},
		{ledger.ErrCorrupt, "corrupt"},
		{errors.New("secret"), "internal"},
	} {
		answer = tc.err
		c := f.dial(t)
		c.say(local.Line{Hello: &h})
		l := c.line()
		if l.Refused == nil || l.Refused.Code != tc.code || strings.Contains(l.Refused.Message, "secret") {
			t.Errorf("%v: got %+v", tc.err, l)
		}
		c.ended()
	}
}

func TestSlowHello(t *testing.T) {
	f := newFixture(t, func(_ *SocketConfig, tm *timing) { tm.hello = 100 * time.Millisecond })
	f.socket.Ready(f.server)
	// A byte now and then does not buy more time.
	drip := f.dial(t)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := drip.Write([]byte{' '}); err != nil {
				return
			}
		}
	}()
	silent := f.dial(t)
	for _, c := range []*client{drip, silent} {
		if l := c.line(); l.Refused == nil || l.Refused.Code != "invalid" {
			t.Errorf("got %+v", l)
		}
		if _, err := c.r.ReadByte(); err == nil || timedOut(err) {
			t.Errorf("the connection goes on: %v", err)
		}
	}
	// Once said, the time-out is over.
	c := f.hello(t, local.Hello{})
	silent2 := f.dial(t)
	silent2.line() // refused: more than the time-out has passed since c's hello
	c.text(1, "test_echo", `{"text":"still here"}`)
	if n := f.socket.Active(); n != 1 {
		t.Errorf("%d active", n)
	}
}

func TestHelloTooLong(t *testing.T) {
	f := serving(t)
	hello := func(pad int) string {
		return `{"steward":1,"hello":{"role":"bridge","id":"b","workspace":"` + strings.Repeat("w", pad) + `"}}`
	}
	c := f.dial(t)
	c.send(hello(local.MaxLine - len(hello(0)) - 1))
	if l := c.line(); l.Welcome == nil {
		t.Errorf("a hello of %d bytes: %+v", local.MaxLine, l)
	}
	for _, pad := range []int{local.MaxLine - len(hello(0)) + 1, 100_000} {
		c := f.dial(t)
		go func() { _, _ = fmt.Fprintln(c, hello(pad)) }() // the server may close before it has read all
		if l := c.line(); l.Refused == nil || l.Refused.Code != "invalid" || !strings.Contains(l.Refused.Message, "4096") {
			t.Errorf("a hello of %d bytes: %+v", len(hello(pad)), l)
		}
	}
}

func TestClaimsAreClipped(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{ID: "b"})
	c.say(local.Line{Client: &local.ClientInfo{Name: strings.Repeat("名", 200), Version: "1"}})
	got := c.text(1, "test_whoami", `{}`)
	if n := strings.Count(got, "名"); n != 2*(ledger.MaxWorkspace-1) || strings.Count(got, "…") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestYieldGranted(t *testing.T) {
	var asked local.Yield
	f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.OnYield = func(y local.Yield) (bool, string) {
			asked = y
			return true, ""
		}
	})
	f.socket.Ready(f.server)
	y := local.Yield{Role: "window", Version: "2.0.0", Schema: 3}
	c := f.dial(t)
	c.say(local.Line{Yield: &y})
	if l := c.line(); !l.Yielding || asked != y {
		t.Fatalf("got %+v, asked %+v", l, asked)
	}
	if n := f.socket.Active(); n != 0 {
		t.Errorf("%d active", n)
	}
	if err := f.socket.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	c.ended()
}

func TestStop(t *testing.T) {
	var f *fixture
	stopped := make(chan local.Stop, 1)
	f = newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.OnStop = func(s local.Stop) {
			stopped <- s
			go func() { _ = f.socket.Drain(t.Context()) }()
		}
	})
	f.socket.Ready(f.server)
	ask := local.Stop{PID: 71, Reason: "update"}
	within(t, "stop", func() {
		if err := local.AskStop(t.Context(), f.address, ask); err != nil {
			t.Error(err)
		}
	})
	if got := <-stopped; got != ask {
		t.Errorf("asked %+v", got)
	}
}

func TestActiveAndIdle(t *testing.T) {
	f := serving(t)
	start := f.socket.IdleSince()
	if start.IsZero() || f.socket.Active() != 0 {
		t.Fatalf("idle since %v, %d active", start, f.socket.Active())
	}
	f.dial(t) // no hello, so not active
	a, b := f.hello(t, local.Hello{}), f.hello(t, local.Hello{Role: local.RoleShell})
	if n := f.socket.Active(); n != 2 {
		t.Errorf("%d active", n)
	}
	a.Close()
	eventually(t, "one left", func() bool { return f.socket.Active() == 1 })
	if !f.socket.IdleSince().Equal(start) {
		t.Error("idle while a connection is open")
	}
	b.Close()
	eventually(t, "none left", func() bool { return f.socket.Active() == 0 })
	if !f.socket.IdleSince().After(start) {
		t.Errorf("idle since %v, before %v", f.socket.IdleSince(), start)
	}
}

// TestFirstLineIsMCP covers what the conversations cannot: a request too long
// for a first line.
func TestFirstLineIsMCP(t *testing.T) {
	f := serving(t)
	c := f.dial(t)
	go func() {
		_, _ = fmt.Fprintln(c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"pad":"`+strings.Repeat("x", 2*local.MaxLine)+`"}}`)
	}()
	var l local.Line
	if err := json.Unmarshal([]byte(c.next()), &l); err != nil || l.Refused == nil || l.Refused.Code != "invalid" {
		t.Errorf("got %+v, %v", l, err)
	}
}

// tiredListener fails a few times, as when the process has too many files open.
type tiredListener struct {
	net.Listener
	failures atomic.Int32
}

func (l *tiredListener) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestAcceptFailsForAWhile(t *testing.T) {
	f := serving(t)
	f.address = address(t)
	l, err := Listen(f.address)
	if err != nil {
		t.Fatal(err)
	}
	tired := &tiredListener{Listener: l}
	tired.failures.Store(4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.socket.Serve(tired)
	}()
	f.hello(t, local.Hello{}).text(1, "test_echo", `{"text":"served after all"}`)
	if log := f.logged(); strings.Count(log, "cannot accept") != 4 {
		t.Errorf("log: %s", log)
	}
	if err := f.socket.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	within(t, "Serve returns", func() { <-done })

	late, err := Listen(address(t))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "Serve of a drained socket returns", func() { f.socket.Serve(late) })
	if _, err := late.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a drained socket left a listener open: %v", err)
	}
}

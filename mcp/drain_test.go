package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcp/local"
	"steward/mcp/ops"
)

func TestDrainAnswersWhatRuns(t *testing.T) {
	f := serving(t)
	const clients = 8
	var conns [clients]*client
	for i := range conns {
		conns[i] = f.hello(t, local.Hello{})
		conns[i].send(call(1, "test_hold", `{"text":"runs"}`))
		<-f.gate.entered
	}
	idle := f.hello(t, local.Hello{})
	half := f.hello(t, local.Hello{})
	if _, err := fmt.Fprint(half, `{"jsonrpc":"2.0","id":1,`); err != nil {
		t.Fatal(err)
	}
	drained := make(chan error, 1)
	go func() { drained <- f.socket.Drain(t.Context()) }()
	idle.ended()
	half.ended() // half a line is no line
	if c, err := local.Dial(t.Context(), f.address); err == nil {
		// Some systems let a connection in that was on its way; nobody answers it.
		c.Close()
	}
	// What is sent now is not begun: it is for the next owner.
	conns[0].send(call(2, "report_done", `{"actor":"late"}`))
	select {
	case err := <-drained:
		t.Fatalf("drained while calls run: %v", err)
	default:
	}
	f.gate.release()
	for _, c := range conns {
		if r := c.answer(); string(r.ID) != "1" || r.Result == nil {
			t.Errorf("got %+v", r)
		}
		c.ended()
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		if _, err := os.Lstat(f.address); err != nil {
			t.Errorf("the path is the successor's to remove: %v", err)
		}
	}
}

func TestDrainCutsWaits(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	c.send(call(1, "test_wait", `{"id":1}`))
	c.text(2, "test_echo", `{"text":"the wait has begun"}`)
	start := time.Now()
	if err := f.socket.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > drainTime/2 {
		t.Errorf("drained after %v", d)
	}
	c.ended()
}

func TestDrainWhileOpening(t *testing.T) {
	f := newFixture(t, nil)
	said, silent := f.dial(t), f.dial(t)
	said.say(local.Line{Hello: &local.Hello{Role: local.RoleBridge, ID: "b"}})
	said.line() // opening
	within(t, "drain", func() {
		if err := f.socket.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
	said.ended()
	silent.ended()
	f.socket.Ready(f.server) // too late, and no harm
}

func TestDrainGivesUpOnWhatHangs(t *testing.T) {
	entered, let := make(chan struct{}), make(chan struct{})
	f := servingBackend(t, func(context.Context, ops.Caller, string, json.RawMessage) (ops.Result, error) {
		close(entered)
		<-let // and not its context
		return ops.Result{}, nil
	})
	c := f.hello(t, local.Hello{})
	c.send(call(1, "test_echo", `{}`))
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := f.socket.Drain(ctx)
	if err == nil || !strings.Contains(err.Error(), "1 connections with 1 requests") {
		t.Errorf("got %v", err)
	}
	c.ended()
	close(let)
}

// TestSoak has 64 clients live through 200 sessions of everything at once, then
// drains under load and looks for goroutines left behind.
func TestSoak(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("load", func(t *testing.T) {
		f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
			cfg.OnYield = func(local.Yield) (bool, string) { return false, "busy" }
		})
		f.socket.Ready(f.server)
		f.gate.release()
		const clients, sessions, calls = 64, 200, 16
		turns := make(chan int, sessions)
		for i := range sessions {
			turns <- i
		}
		close(turns)
		var receipts sync.Map
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for i := range turns {
					soakSession(t, f, i, calls, &receipts)
				}
			})
		}
		all.Wait()
		n := 0
		receipts.Range(func(any, any) bool { n++; return true })
		if want := sessions * calls / 4; n != want {
			t.Errorf("%d receipts with a number of their own; want %d", n, want)
		}
		eventually(t, "all sessions ended", func() bool { return f.socket.Active() == 0 })
	})
	eventually(t, "the goroutines ended", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// soakSession sends its calls without waiting for answers, in two eras, with
// rubbish and cancellations between them, and wants exactly one answer to each.
func soakSession(t *testing.T, f *fixture, n, calls int, receipts *sync.Map) {
	c := f.hello(t, local.Hello{Stream: fmt.Sprintf("s%d", n)})
	defer c.Close()
	go func() {
		for i := range calls {
			var line string
			switch i % 4 {
			case 0:
				line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report_done","arguments":{"actor":"a%d"},"_meta":{"steward/stamp":{"slot":%d,"seq":1}}}}`, i, n, i/4)
			case 1:
				line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"situation_report","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, i)
			case 2:
				line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"test_hold","arguments":{"text":"x"},"_meta":{"progressToken":"p%d"}}}`, i, i)
			case 3:
				line = "rubbish\n" + fmt.Sprintf(`{"jsonrpc":"2.0","id":"w%d","method":"tools/call","params":{"name":"test_wait","arguments":{"id":1000000}}}`, i) +
					"\n" + fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w%d"}}`, i) +
					"\n" + fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
			}
			if _, err := fmt.Fprintln(c, line); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	answered := make(map[string]bool)
	rubbish, progress := 0, 0
	for len(answered) < calls || rubbish < calls/4 {
		line, err := c.r.ReadString('\n')
		var r response
		if err == nil {
			err = json.Unmarshal([]byte(line), &r)
		}
		switch {
		case err != nil:
			t.Errorf("session %d: %v after %d answers: %s", n, err, len(answered), line)
			return
		case r.Method == "notifications/progress":
			progress++
		case string(r.ID) == "null":
			rubbish++
		case answered[string(r.ID)] || r.Error != nil || strings.HasPrefix(string(r.ID), `"w`):
			t.Errorf("session %d: got %s", n, line)
			return
		default:
			answered[string(r.ID)] = true
			if text := r.Result.Content; len(text) > 0 && strings.Contains(text[0].Text, `"event_id"`) && !strings.Contains(text[0].Text, "headline") {
				if _, again := receipts.LoadOrStore(text[0].Text[:strings.Index(text[0].Text, ",")], n); again {
					t.Errorf("session %d: a second %s", n, text[0].Text)
				}
			}
		}
	}
	if progress != 2*calls/4 {
		t.Errorf("session %d: %d progress notifications; want %d", n, progress, 2*calls/4)
	}
}

// TestWhatCanBeAskedForAgainEndsWithItsCaller: an import that nobody waits for
// any more must not go on for ever.
func TestWhatCanBeAskedForAgainEndsWithItsCaller(t *testing.T) {
	begun, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	long := ops.Act(ops.Spec{Name: "test_long", Title: "Long", Text: "Takes for ever.", Surfaces: ops.Agent, Idempotent: true},
		func(ctx context.Context, _ *ops.Env, _ ops.Caller, in textArgs) (textOut, error) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			return textOut(in), ctx.Err()
		})
	over := func(what string) {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("it goes on after %s", what)
		}
	}
	f := serving(t, long)
	c := f.hello(t, local.Hello{})
	c.send(call(1, "test_long", `{"text":"x"}`))
	<-begun
	c.Close()
	over("its client went")
	c = f.hello(t, local.Hello{})
	c.send(call(1, "test_long", `{"text":"x"}`))
	<-begun
	if err := f.socket.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	over("the service stopped")
	c.ended()
}

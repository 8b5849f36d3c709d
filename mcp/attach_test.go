package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"steward/mcp/local"
)

const proof = "what the token file holds"

func attachable(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.Person = func(p string) bool { return p == proof }
	})
	f.socket.Ready(f.server)
	return f
}

func (f *fixture) attach(t testing.TB) *local.Attached {
	t.Helper()
	a, err := local.Attach(t.Context(), f.address, local.Hello{Version: "1.2.3", Ledger: "abcd1234", Proof: proof})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestAWindowNeedsItsProof(t *testing.T) {
	for name, f := range map[string]*fixture{"a service that lets windows in": attachable(t), "one that lets none in": serving(t)} {
		for _, p := range []string{"", "another"} {
			_, err := local.Attach(t.Context(), f.address, local.Hello{Proof: p})
			var refused *local.Refused
			if !errors.As(err, &refused) || refused.Code != local.RefusedForbidden {
				t.Errorf("%s, proof %q: got %v", name, p, err)
			}
		}
	}
}

// What only a person may do is done through a window's connection, and through
// no other.
func TestAnAttachedWindowDecides(t *testing.T) {
	f := attachable(t)
	bridge := f.hello(t, local.Hello{Client: "codex 0.50", Proof: proof})
	bridge.text(1, "report_done", `{"actor":"ada","type":"failed","object_id":"x"}`)

	bridge.send(call(2, "failure_acknowledge", `{"event_id":1}`))
	if r := bridge.answer(); r.Result == nil || !r.Result.IsError || !strings.Contains(string(r.Result.Structured), `"forbidden"`) {
		t.Fatalf("a bridge: %+v", r)
	}
	bridge.send(`{"jsonrpc":"2.0","id":3,"method":"steward/follow","params":{}}`)
	if r := bridge.answer(); r.Error == nil || r.Error.Code != -32601 {
		t.Fatalf("a bridge follows: %+v", r)
	}

	window := f.attach(t)
	got, err := window.Call(t.Context(), "failure_acknowledge", json.RawMessage(`{"event_id":1}`))
	if err != nil || !strings.Contains(string(got), `"event_id":2`) {
		t.Fatalf("%s, %v", got, err)
	}
	got, err = window.Call(t.Context(), "recent_events", json.RawMessage("{\n\"since_id\":1}"))
	if err != nil || !strings.Contains(string(got), `"actor":"user"`) || !strings.Contains(string(got), `"source":"person"`) || strings.Contains(string(got), "session_id") {
		t.Errorf("the decision's event: %s, %v", got, err)
	}

	_, err = window.Call(t.Context(), "failure_acknowledge", json.RawMessage(`{"event_id":1}`))
	var e *local.CallError
	if !errors.As(err, &e) || e.Code != "closed" || !strings.Contains(string(e.Data), `"field":"event_id"`) {
		t.Errorf("a second time: %+v", err)
	}
	_, err = window.Call(t.Context(), "report_done", json.RawMessage(`{}`))
	if !errors.As(err, &e) || e.Code != "forbidden" && e.Code != "invalid" {
		t.Errorf("got %+v", err)
	}
}

func TestAnAttachedWindowFollows(t *testing.T) {
	f := attachable(t)
	bridge := f.hello(t, local.Hello{})
	for i := range 3 {
		bridge.text(i, "report_done", `{"actor":"ada"}`)
	}
	window := f.attach(t)
	ids := make(chan int64, 16)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- window.Follow(ctx, 1, func(typ string, id int64, data json.RawMessage) {
			if typ == "ledger" && strings.Contains(string(data), fmt.Sprintf(`"last_id":%d`, id)) {
				ids <- id
			}
		})
	}()
	within(t, "the replay", func() {
		if id := <-ids; id != 3 {
			t.Errorf("got %d", id)
		}
	})
	bridge.text(9, "report_done", `{"actor":"ada"}`)
	within(t, "what comes later", func() {
		if id := <-ids; id != 4 {
			t.Errorf("got %d", id)
		}
	})
	if err := window.Follow(ctx, 0, nil); err == nil {
		t.Error("a second follower at one time")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// It can begin anew, and calls go on meanwhile.
	if _, err := window.Call(t.Context(), "situation_report", nil); err != nil {
		t.Error(err)
	}
}

// The end of the service ends a follower, a call, and Done.
func TestAnAttachedWindowLosesItsService(t *testing.T) {
	f := attachable(t)
	window := f.attach(t)
	ended := make(chan error, 1)
	go func() {
		ended <- window.Follow(t.Context(), -1, func(string, int64, json.RawMessage) {})
	}()
	if _, err := window.Call(t.Context(), "situation_report", nil); err != nil {
		t.Fatal(err)
	}
	if err := f.socket.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, "the end", func() { <-window.Done() })
	var e *local.CallError
	if err := <-ended; !errors.As(err, &e) || e.Code != "unavailable" {
		t.Errorf("the follower: %v", err)
	}
	if _, err := window.Call(t.Context(), "situation_report", nil); !errors.As(err, &e) || e.Code != "unavailable" || len(e.Data) == 0 {
		t.Errorf("a call: %v", err)
	}
}

// A client that asks for much and reads none of it costs the service a few
// answers, not all of them.
func TestUnreadAnswersAreBounded(t *testing.T) {
	f := newFixture(t, func(_ *SocketConfig, tm *timing) { tm.write = patience })
	f.socket.Ready(f.server)
	c := f.hello(t, local.Hello{})
	long := strings.Repeat("x", 500)
	for i := range 200 {
		c.text(i, "report_done", fmt.Sprintf(`{"actor":"a","outcome":%q}`, long))
	}
	asks := make([]string, maxRunning)
	for i := range asks {
		asks[i] = call(1000+i, "recent_events", `{"limit":200}`)
	}
	c.send(asks...)
	// None is read. What is made of them stays with the few that may read at once.
	conn := f.only(t)
	eventually(t, "the requests to be taken", func() bool { return conn.load() == maxRunning || conn.out.full() })
	most := 0
	settled := 0
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for settled < 50 {
		<-tick.C
		conn.out.mu.Lock()
		n := len(conn.out.waiting)
		conn.out.mu.Unlock()
		if n > most {
			most, settled = n, 0
		} else {
			settled++
		}
	}
	one := 200 * (len(long) + 200) * 2
	if limit := maxBacklog + 6*one; most > limit {
		t.Errorf("%d bytes wait for a client that does not read; at most %d", most, limit)
	}
	for range maxRunning {
		if r := c.answer(); r.Result == nil {
			t.Fatalf("got %+v", r)
		}
	}
}

// only is the one connection there is.
func (f *fixture) only(t testing.TB) *conn {
	t.Helper()
	f.socket.mu.Lock()
	defer f.socket.mu.Unlock()
	for c := range f.socket.conns {
		return c
	}
	t.Fatal("no connection")
	return nil
}

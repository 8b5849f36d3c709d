package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestHTTPLargeBody sends a hundred megabytes and watches how much is taken.
func TestHTTPLargeBody(t *testing.T) {
	d := newDoor(t, nil)
	d.http.Mount("/api/", TokenOwner, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if _, long := errors.AsType[*http.MaxBytesError](err); !long {
			t.Errorf("a mounted handler read %v", err)
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	const size = 100 << 20
	for name, tc := range map[string]struct{ path, auth, length string }{
		"length":           {"/mcp", asAgent, fmt.Sprintf("Content-Length: %d", size)},
		"chunked":          {"/mcp", asAgent, "Transfer-Encoding: chunked"},
		"mounted":          {"/api/x", asOwner, fmt.Sprintf("Content-Length: %d", size)},
		"mounted, chunked": {"/api/x", asOwner, "Transfer-Encoding: chunked"},
		"no token":         {"/mcp", "X: y", fmt.Sprintf("Content-Length: %d", size)},
		"no token, chunks": {"/mcp", "X: y", "Transfer-Encoding: chunked"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := d.connect(t)
			c.send(d.request("POST", tc.path, "", tc.auth, tc.length, sendsJSON, modernOnes))
			sent := make(chan int)
			go func() {
				piece := strings.Repeat("x", 1<<20)
				if strings.Contains(tc.length, "chunked") {
					piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
				}
				n := 0
				for err := error(nil); err == nil && n < size; n += len(piece) {
					_, err = io.WriteString(c, piece)
				}
				sent <- n
			}()
			want := http.StatusRequestEntityTooLarge
			if strings.HasPrefix(name, "no token") {
				want = http.StatusUnauthorized
			}
			g := c.response("POST")
			if g.StatusCode != want || !g.Close || tc.path == "/mcp" && g.code() == "" {
				t.Errorf("got %s, close %v, %s", g.Status, g.Close, g.body)
			}
			// What the sockets hold is sent all the same, but not the rest.
			if n := <-sent; n >= size/2 {
				t.Errorf("%d bytes were read", n)
			}
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 6*maxBody {
				t.Errorf("%d bytes were allocated", grown)
			}
		})
	}
	eventually(t, "all room to be given back", func() bool { return d.http.Active() == 0 && d.http.bodies.used.Load() == 0 })

	for n, want := range map[int]int{maxBody: 200, maxBody + 1: 413} {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"x":"`
		body := call + strings.Repeat("x", n-len(call)-len(`"}}`)) + `"}}`
		for _, chunked := range []bool{false, true} {
			request := d.request("POST", "/mcp", body, asAgent, sendsJSON, takesBoth, modernOnes, "Mcp-Method: tools/list")
			if chunked {
				request = d.request("POST", "/mcp", "", asAgent, sendsJSON, takesBoth, modernOnes, "Mcp-Method: tools/list", "Transfer-Encoding: chunked") +
					fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
			}
			c := d.connect(t)
			go io.WriteString(c, request) // not all of it, when it is too long
			if g := c.response("POST"); g.StatusCode != want {
				t.Errorf("%d bytes, chunked %v: got %s %.200s", n, chunked, g.Status, g.body)
			}
		}
	}
}

// TestHTTPManyBodies: all bodies together have a bound, too.
func TestHTTPManyBodies(t *testing.T) {
	d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.bodies = 3 * firstRead })
	body := strings.Repeat("x", 2*firstRead)
	first := d.connect(t)
	first.send(d.request("POST", "/mcp", "", asAgent, sendsJSON, fmt.Sprintf("Content-Length: %d", len(body))) + body[1:])
	eventually(t, "the first to be read", func() bool { return d.http.bodies.used.Load() > firstRead })
	g := d.raw(t, d.request("POST", "/mcp", body, asAgent, sendsJSON))
	if g.StatusCode != 429 || g.Header.Get("Retry-After") != "1" || g.code() != "unavailable" {
		t.Errorf("the second: %s %v %s", g.Status, g.Header, g.body)
	}
	first.send(body[:1])
	if g := first.response("POST"); g.StatusCode != 400 {
		t.Errorf("the first: %s", g.Status)
	}
	if g := d.raw(t, d.request("POST", "/mcp", body, asAgent, sendsJSON)); g.StatusCode != 400 {
		t.Errorf("the second, again: %s", g.Status)
	}
}

// TestHTTPTooMany: beyond the bounds requests are refused, and let in again when
// there is room.
func TestHTTPTooMany(t *testing.T) {
	full := func(t *testing.T, g got, what string) {
		t.Helper()
		if after, err := strconv.Atoi(g.Header.Get("Retry-After")); g.StatusCode != 429 || err != nil || after < 1 || g.code() != "unavailable" || !strings.Contains(g.body, what) {
			t.Errorf("want too many %s; got %s %v %s", what, g.Status, g.Header, g.body)
		}
	}
	t.Run("requests", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.requests = 2 })
		d.http.Mount("/", TokenNone, http.NotFoundHandler())
		var held []*wire
		for i := range 2 {
			c := d.connect(t)
			c.send(d.modernCall("/mcp", strconv.Itoa(i), "test_hold", `{"text":"x"}`, ""))
			held = append(held, c)
			<-d.gate.entered
		}
		full(t, d.raw(t, d.modernCall("/mcp", "1", "test_echo", `{}`, "")), "requests")
		if g := d.raw(t, d.request("GET", "/", "")); g.StatusCode != 404 {
			t.Errorf("what is mounted is locked out: %s", g.Status)
		}
		if d.http.Active() != 2 {
			t.Errorf("%d active", d.http.Active())
		}
		d.gate.release()
		for _, c := range held {
			if g := c.response("POST"); g.StatusCode != 200 {
				t.Error(g.Status)
			}
		}
		if g := d.raw(t, d.modernCall("/mcp", "1", "test_echo", `{}`, "")); g.StatusCode != 200 {
			t.Error(g.Status)
		}
	})
	t.Run("mounted", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.requests = 1 })
		in, out := make(chan struct{}), make(chan struct{})
		wait := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { in <- struct{}{}; <-out })
		d.http.Mount("/", TokenNone, wait)
		d.http.Mount("/api/", TokenOwner, wait)
		var held []*wire
		for _, path := range []string{"/", "/api/x"} { // neither locks the other out
			c := d.connect(t)
			c.send(d.request("GET", path, "", asOwner))
			<-in
			full(t, d.raw(t, d.request("GET", path, "", asOwner)), "requests")
			held = append(held, c)
		}
		close(out)
		for _, c := range held {
			c.response("GET")
		}
	})
	t.Run("streams", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.streams = 1 })
		s := "Mcp-Session-Id: " + d.initialize(t, "/mcp")
		listen := d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream", s)
		c := d.connect(t)
		c.send(listen)
		if r := c.head("GET"); r.StatusCode != 200 {
			t.Fatal(r.Status)
		}
		full(t, d.raw(t, listen), "event streams")
		modern := d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			asAgent, sendsJSON, takesBoth, modernOnes, "Mcp-Method: subscriptions/listen")
		full(t, d.raw(t, modern), "event streams")
		c.Close()
		eventually(t, "the stream to end", func() bool { return d.http.Streams() == 0 })
		// Nothing of Steward's changes that could be listened for, so this ends at once.
		// The acknowledgement before the result is the library's own notification, and
		// it loses one now and then.
		if g := d.raw(t, modern); g.StatusCode != 200 || !strings.Contains(g.body, "io.modelcontextprotocol/subscriptionId") {
			t.Errorf("got %s %s", g.Status, g.body)
		}
	})
	t.Run("sessions", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.sessions = 2 })
		first := d.initialize(t, "/mcp")
		second := d.initialize(t, "/mcp")
		begin := d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, asAgent, sendsJSON, takesBoth)
		// While both have a request under way nobody makes room.
		var held []*wire
		for _, s := range []string{first, second} {
			c := d.connect(t)
			c.send(d.legacyCall(s, "/mcp", "1", "test_hold", `{"text":"x"}`))
			held = append(held, c)
			<-d.gate.entered
		}
		full(t, d.raw(t, begin), "sessions")
		d.gate.release()
		for _, c := range held {
			c.response("POST")
		}
		if g := d.raw(t, d.modernCall("/mcp", "1", "test_echo", `{}`, "")); g.StatusCode != 200 {
			t.Errorf("the newer era has no sessions: %s", g.Status)
		}
		d.raw(t, d.request("DELETE", "/mcp", "", asAgent, "Mcp-Session-Id: "+first))
		d.initialize(t, "/mcp")
	})
	t.Run("idle sessions", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.sessions = 3 })
		mine, idle := d.initialize(t, "/mcp"), d.initialize(t, "/mcp")
		for range 10 { // a client that begins one after the other
			d.initialize(t, "/mcp")
			if g := d.raw(t, d.legacyCall(mine, "/mcp", "1", "test_echo", `{"text":"x"}`)); g.StatusCode != 200 {
				t.Fatalf("a session in use made room: %s %s", g.Status, g.body)
			}
		}
		if g := d.raw(t, d.legacyCall(idle, "/mcp", "1", "test_echo", `{"text":"x"}`)); g.StatusCode != 404 {
			t.Errorf("the idle one: %s", g.Status)
		}
		if n := d.http.Sessions(); n != 3 {
			t.Errorf("%d sessions", n)
		}
	})
	t.Run("bound sessions", func(t *testing.T) {
		d := newDoor(t, nil)
		s := d.initializeAs(t, "/mcp/a", asOwner)
		call := d.legacyCall(s, "/mcp/a", "1", "test_echo", `{"text":"x"}`)
		own := strings.Replace(call, asAgent, asOwner, 1)
		for what, request := range map[string]string{
			"another token":              call,
			"another stream":             strings.Replace(own, "/mcp/a", "/mcp/b", 1),
			"no stream":                  strings.Replace(own, "/mcp/a", "/mcp", 1),
			"the end, by another token":  d.request("DELETE", "/mcp/a", "", asAgent, "Mcp-Session-Id: "+s),
			"events, for another stream": d.request("GET", "/mcp/b", "", asOwner, "Accept: text/event-stream", "Mcp-Session-Id: "+s),
		} {
			if g := d.raw(t, request); g.StatusCode != 404 || g.code() != "not_found" {
				t.Errorf("%s: %s %s", what, g.Status, g.body)
			}
		}
		if g := d.raw(t, own); g.StatusCode != 200 {
			t.Errorf("its own: %s %s", g.Status, g.body)
		}
	})
	t.Run("connections", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.conns = 2 })
		session := d.initialize(t, "/mcp")
		streams := make([]*wire, 2)
		for i := range streams { // these are answered, so they stay
			streams[i] = d.connect(t)
			streams[i].send(d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream", "Mcp-Session-Id: "+session))
			streams[i].head("GET")
		}
		late := d.connect(t) // the system's queue takes it
		late.send(d.request("GET", "/healthz", ""))
		streams[0].Close()
		if g := late.response("GET"); g.StatusCode != 200 {
			t.Error(g.Status)
		}
	})
	t.Run("connections that do nothing", func(t *testing.T) {
		d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.conns = 3; l.header = time.Hour; l.idle = time.Hour })
		idle, silent, slow := d.connect(t), d.connect(t), d.connect(t)
		idle.send(d.request("GET", "/healthz", ""))
		idle.response("GET")
		eventually(t, "all to wait", func() bool { // idle is answered a moment before it counts as waiting
			s := d.http.conns
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.waiting.Len() == 3
		})
		slow.send("GET /healthz HTTP/1.1\r\n") // and no more
		// Each new client is answered, and takes the place of one of them.
		for range 3 {
			c := d.connect(t)
			c.send(d.request("GET", "/healthz", ""))
			if g := c.response("GET"); g.StatusCode != 200 {
				t.Error(g.Status)
			}
			defer c.Close()
		}
		for _, c := range []*wire{idle, silent, slow} {
			c.ended()
		}
	})
	t.Run("header", func(t *testing.T) {
		d := newDoor(t, nil)
		if g := d.raw(t, d.request("GET", "/healthz", "", "X: "+strings.Repeat("x", 80<<10))); g.StatusCode != 431 {
			t.Error(g.Status)
		}
	})
}

// TestHTTPDrain: calls that run are answered; waits, streams and idle
// connections end at once.
func TestHTTPDrain(t *testing.T) {
	d := newDoor(t, nil)
	session := d.initialize(t, "/mcp")
	open := func(request string) *wire {
		c := d.connect(t)
		c.send(request)
		return c
	}
	silent := d.connect(t)
	idle := open(d.request("GET", "/healthz", ""))
	idle.response("GET")
	stream := open(d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream", "Mcp-Session-Id: "+session))
	stream.head("GET")
	waits := open(d.modernCall("/mcp", "5", "test_wait", `{"id":99}`, ""))
	legacyWait := open(d.legacyCall(session, "/mcp", "6", "test_wait", `{"id":99}`))
	held := open(d.modernCall("/mcp", "7", "test_hold", `{"text":"held"}`, `,"progressToken":1`))
	<-d.gate.entered
	eventually(t, "all to be in", func() bool { return d.http.Active() == 4 })

	drained := make(chan error, 1)
	begun := time.Now()
	go func() { drained <- d.http.Drain(context.Background()) }()

	for _, c := range []*wire{waits, legacyWait} {
		g := c.response("POST")
		m := g.one(t)
		if g.StatusCode != 503 || g.Header.Get("Retry-After") == "" || m.Error == nil || m.Error.Code != codeUnavailable || m.Error.Data.Code != "unavailable" || len(m.ID) != 1 {
			t.Errorf("a wait: %s %s", g.Status, g.body)
		}
	}
	if rest, err := io.ReadAll(stream.r); timedOut(err) {
		t.Errorf("the stream: %q, %v", rest, err)
	}
	silent.ended()
	idle.ended()
	if c, err := net.Dial("tcp", d.addr); err == nil {
		c.Close()
		t.Error("a new connection was accepted")
	}
	d.gate.release()
	g := held.response("POST")
	if m := g.messages(t); len(m) != 3 || m[2].Result == nil || m[2].Result.Content[0].Text != `{"text":"held"}` {
		t.Errorf("the call that ran: %s %s", g.Status, g.body)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > drainTime {
		t.Errorf("it took %v", took)
	}
	if d.http.Active() != 0 || d.http.Streams() != 0 || d.http.Sessions() != 0 {
		t.Errorf("%d active, %d streams, %d sessions", d.http.Active(), d.http.Streams(), d.http.Sessions())
	}
}

// TestHTTPDrainCutsOff: what does not end is cut off, and said.
func TestHTTPDrainCutsOff(t *testing.T) {
	d := newDoor(t, nil)
	c := d.connect(t)
	c.send(d.modernCall("/mcp", "7", "test_hold", `{"text":"x"}`, ""))
	<-d.gate.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.http.Drain(ctx); err == nil || !strings.Contains(err.Error(), "1 HTTP requests were cut off") {
		t.Errorf("got %v", err)
	}
	c.ended()
	d.gate.release()
	eventually(t, "the call to end", func() bool { return d.http.Active() == 0 })
}

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// pipes is a listener whose connections are made in the process, so that they
// keep a test's time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8971} }

// stub answers a wait and an append when the test lets it.
type stub struct {
	begun chan context.Context
	free  chan struct{}
}

func (s *stub) Ops() []ops.Op {
	spec := func(name string) ops.Spec {
		return ops.Spec{Name: name, Title: name, Text: name, Surfaces: ops.Agent}
	}
	type none struct{}
	return []ops.Op{
		ops.Wait(spec("stub_wait"), nil, func(*ledger.View, ops.Caller, none) (none, bool, error) { return none{}, false, nil }, nil),
		ops.Append(spec("stub_append"), func(*ledger.Tx, ops.Caller, none) (none, error) { return none{}, nil }),
		ops.Read(spec("stub_read"), func(*ledger.View, ops.Caller, none) (none, error) { return none{}, nil }),
	}
}

func (s *stub) Call(ctx context.Context, _ ops.Caller, _ string, _ json.RawMessage) (ops.Result, error) {
	s.begun <- ctx
	select {
	case <-s.free:
		return ops.Result{JSON: []byte(`{}`), Text: "{}"}, nil
	case <-ctx.Done():
		return ops.Result{}, ctx.Err()
	}
}

// timed is a door in a test's own time.
type timed struct {
	*door
	pipes *pipes
	stub  *stub
}

// inTime runs test with a door in a bubble of time.
func inTime(t *testing.T, test func(*testing.T, *timed)) {
	synctest.Test(t, func(t *testing.T) {
		d := &timed{
			door:  &door{t: t, addr: "localhost"},
			pipes: &pipes{make(chan net.Conn), make(chan struct{})},
			stub:  &stub{make(chan context.Context, 8), make(chan struct{})},
		}
		d.http = NewHTTP(HTTPConfig{Server: NewServer("1", d.stub, nil), AgentToken: func() string { return agentSecret }})
		go d.http.Serve(d.pipes)
		defer func() {
			if err := d.http.Drain(t.Context()); err != nil {
				t.Errorf("drain: %v", err)
			}
			synctest.Wait()
		}()
		test(t, d)
	})
}

func (d *timed) open(t *testing.T) *wire {
	c, s := net.Pipe()
	d.pipes.conns <- s
	t.Cleanup(func() { c.Close() })
	return &wire{t, c, bufio.NewReader(c)}
}

func (d *timed) session(t *testing.T) string {
	c := d.open(t)
	defer c.Close()
	c.send(d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"p","version":"9"}}}`,
		asAgent, sendsJSON, takesBoth))
	return c.response("POST").Header.Get(headerSession)
}

func (d *timed) listen(t *testing.T, session string) *wire {
	c := d.open(t)
	c.send(d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream", "Mcp-Session-Id: "+session))
	return c
}

// TestHTTPStreamLives: an event stream and its session stay for as long as
// somebody reads, and are gone when nobody does.
func TestHTTPStreamLives(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		c := d.listen(t, d.session(t))
		r := c.head("GET")
		if r.StatusCode != 200 {
			t.Fatal(r.Status)
		}
		const hours = 3 * time.Hour // six times what a session may be idle
		begun, left := time.Now(), int(hours/d.http.limits.heartbeat)
		for lines := bufio.NewScanner(r.Body); left > 0 && lines.Scan(); {
			if strings.Contains(lines.Text(), `"method":"ping"`) {
				left--
			}
		}
		if left > 0 || time.Since(begun) != hours || d.http.Sessions() != 1 || d.http.Streams() != 1 || d.http.Active() != 1 {
			t.Errorf("%d pings did not come in %v; %d sessions, %d streams, %d active", left, time.Since(begun), d.http.Sessions(), d.http.Streams(), d.http.Active())
		}
		c.Close()
		synctest.Wait()
		if d.http.Streams() != 0 || d.http.Active() != 0 || d.http.Sessions() != 1 || !d.http.IdleSince().Equal(time.Now()) {
			t.Errorf("after its end: %d streams, %d active, %d sessions, idle since %v", d.http.Streams(), d.http.Active(), d.http.Sessions(), d.http.IdleSince())
		}
		time.Sleep(d.http.limits.sessionIdle * 3 / 2) // the bubble's time, not ours
		synctest.Wait()
		if d.http.Sessions() != 0 {
			t.Error("the session was not swept")
		}
	})
}

// TestHTTPStalledReader: a client that stops reading its events loses them.
func TestHTTPStalledReader(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		c := d.listen(t, d.session(t))
		c.head("GET")
		time.Sleep(d.http.limits.heartbeat + d.http.limits.write + time.Second)
		synctest.Wait()
		if d.http.Streams() != 0 {
			t.Error("the stream is still open")
		}
	})
}

// TestHTTPStalledStream: so does one that stops reading what a mounted handler
// sends, at the first write that it does not take.
func TestHTTPStalledStream(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		var failed time.Time
		d.http.MountStream("/events", TokenAgent, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for {
				_, err := io.WriteString(w, ": \n\n")
				if err == nil {
					err = http.NewResponseController(w).Flush()
				}
				if err != nil {
					failed = time.Now()
					return
				}
				time.Sleep(15 * time.Second) // the bubble's time, not ours
			}
		}))
		c := d.open(t)
		c.send(d.request("GET", "/events", "", asAgent))
		c.head("GET")
		begin := time.Now()
		time.Sleep(3 * d.http.limits.write)
		synctest.Wait()
		if d.http.Streams() != 0 || d.http.Active() != 0 || failed.Sub(begin) > 2*d.http.limits.write {
			t.Errorf("%d streams, %d active, failed after %v", d.http.Streams(), d.http.Active(), failed.Sub(begin))
		}
	})
}

// TestHTTPDropped: the end of a connection ends a wait, and what only looks, but
// nothing that may have taken effect.
func TestHTTPDropped(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		for tool, ends := range map[string]bool{"stub_wait": true, "stub_append": false, "stub_read": false} {
			c := d.open(t)
			c.send(d.modernCall("/mcp", "1", tool, `{}`, ""))
			ctx := <-d.stub.begun
			c.Close()
			synctest.Wait()
			if (ctx.Err() != nil) != ends {
				t.Errorf("%s: %v", tool, ctx.Err())
			}
			if !ends {
				d.stub.free <- struct{}{}
			}
			synctest.Wait()
			if d.http.Active() != 0 {
				t.Errorf("%s: still active", tool)
			}
		}
	})
}

// TestHTTPSlowLoris: who sends a header or a body in drops is cut off, and holds
// nothing up meanwhile.
func TestHTTPSlowLoris(t *testing.T) {
	// drip sends one piece a second, until the connection is closed.
	drip := func(t *testing.T, c *wire, piece string) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for err := error(nil); err == nil; time.Sleep(time.Second) {
				_, err = io.WriteString(c, piece)
			}
		}()
		t.Cleanup(func() { c.Close(); <-done })
	}
	head := func(d *timed, extra ...string) string {
		return strings.TrimSuffix(d.request("POST", "/mcp", "", append(extra, sendsJSON, modernOnes)...), "\r\n")
	}
	t.Run("header", func(t *testing.T) {
		inTime(t, func(t *testing.T, d *timed) {
			c, begun := d.open(t), time.Now()
			c.send("POST /mcp HTTP/1.1\r\n")
			drip(t, c, "X: y\r\n")
			c.ended()
			if took := time.Since(begun); took != d.http.limits.header {
				t.Errorf("after %v", took)
			}
		})
	})
	for name, length := range map[string]string{"body": "Content-Length: 1000000\r\n\r\n", "chunked body": "Transfer-Encoding: chunked\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T, d *timed) {
				c, begun := d.open(t), time.Now()
				c.send(head(d, asAgent) + length)
				drip(t, c, "1\r\n{\r\n")
				g := c.response("POST")
				if took := time.Since(begun); g.StatusCode != 408 || g.code() != "invalid" || !strings.Contains(g.body, "within 1m0s; got ") || took != d.http.limits.body {
					t.Errorf("after %v: %s %s", took, g.Status, g.body)
				}
				c.ended()
				synctest.Wait()
				if d.http.Active() != 0 || d.http.bodies.used.Load() != 0 {
					t.Errorf("%d active, %d bytes", d.http.Active(), d.http.bodies.used.Load())
				}
			})
		})
	}
	t.Run("refused", func(t *testing.T) {
		inTime(t, func(t *testing.T, d *timed) {
			c, begun := d.open(t), time.Now()
			c.send(head(d) + "Content-Length: 100\r\n\r\n") // no token, and no body
			if g := c.response("POST"); g.StatusCode != 401 || time.Since(begun) != 0 {
				t.Errorf("after %v: %s", time.Since(begun), g.Status)
			}
			c.ended()
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("kept for %v", took)
			}
		})
	})
	t.Run("idle", func(t *testing.T) {
		inTime(t, func(t *testing.T, d *timed) {
			c := d.open(t)
			c.send(d.request("GET", "/healthz", ""))
			c.response("GET")
			begun := time.Now()
			c.ended()
			if took := time.Since(begun); took != d.http.limits.idle {
				t.Errorf("after %v", took)
			}
		})
	})
}

// TestHTTPLongAnswer: an answer may take longer in all than the write time-out,
// as long as the client goes on reading.
func TestHTTPLongAnswer(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		const size = 40 * writeChunk
		d.http.Mount("/", TokenNone, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = io.WriteString(w, strings.Repeat("x", size))
		}))
		c := d.open(t)
		c.send(d.request("GET", "/", ""))
		r, read := c.head("GET"), 0
		for b := make([]byte, 4<<10); ; time.Sleep(time.Second) {
			n, err := r.Body.Read(b)
			if read += n; err != nil {
				break
			}
		}
		if read != size {
			t.Errorf("%d of %d bytes", read, size)
		}
	})
}

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
	"steward/mcp/ops"
)

const (
	ownerSecret = "owner-secret-0123456789"
	agentSecret = "agent-secret-0123456789"
)

// door is an HTTP that serves real operations on a real listener.
type door struct {
	t    testing.TB
	http *HTTP
	log  *ledger.Log
	gate *gate
	addr string
	text *logText
}

// logText is a log that a test reads.
type logText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// burst reports its progress ten times and is done at once.
func burst() ops.Op {
	return ops.Act(ops.Spec{Name: "test_burst", Title: "Burst", Text: "Reports progress.", Surfaces: ops.Agent},
		func(_ context.Context, _ *ops.Env, c ops.Caller, in textArgs) (textOut, error) {
			for i := range 10 {
				if c.Progress != nil {
					c.Progress(float64(i+1), 10, in.Text)
				}
			}
			return textOut(in), nil
		})
}

// newDoor opens one; change sets its configuration and limits before.
func newDoor(t testing.TB, change func(*HTTPConfig, *limits)) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, gate: newGate(), addr: l.Addr().String(), text: new(logText), log: ledgertest.Open(t, ledgertest.NewClock())}
	logger := slog.New(slog.NewTextHandler(d.text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	set := ops.NewSet(&ops.Env{Log: d.log, Targets: func() []string { return []string{"studio"} }, Logger: logger},
		append(ops.All(), echo(), whoami(), shellOnly(), failing(), burst(), d.gate.hold(), d.gate.waitEvents())...)
	cfg := HTTPConfig{
		Server: NewServer("1.2.3", set, logger), Version: "1.2.3", Logger: logger, Bound: d.addr,
		OwnerToken: func() string { return ownerSecret },
		AgentToken: func() string { return agentSecret },
	}
	lim := defaultLimits()
	if change != nil {
		change(&cfg, &lim)
	}
	d.http = newHTTP(cfg, lim)
	served := make(chan error, 1)
	go func() { served <- d.http.Serve(l) }()
	t.Cleanup(func() {
		d.gate.release()
		if err := d.http.Drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

// got is a response read to its end.
type got struct {
	*http.Response
	body string
}

func (g got) code() string {
	var e struct {
		Error struct {
			Code any
		}
	}
	_ = json.Unmarshal([]byte(g.body), &e) // no JSON, no code
	return fmt.Sprint(e.Error.Code)
}

// raw sends bytes on a connection of their own and reads one response.
func (d *door) raw(t testing.TB, request string) got {
	t.Helper()
	c := d.connect(t)
	defer c.Close()
	c.send(request)
	return c.response("POST")
}

// wire is one connection of a test.
type wire struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func (d *door) connect(t testing.TB) *wire {
	t.Helper()
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &wire{t, c, bufio.NewReader(c)}
}

func (c *wire) send(request string) {
	c.t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		c.t.Fatal(err)
	}
}

// head reads the header of a response to a request of that method.
func (c *wire) head(method string) *http.Response {
	c.t.Helper()
	r, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *wire) response(method string) got {
	c.t.Helper()
	r := c.head(method)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return got{r, string(b)}
}

// ended waits for the end of the connection.
func (c *wire) ended() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err == nil || timedOut(err) {
		c.t.Fatalf("want the end of the connection; got %q, %v", b, err)
	}
}

// fields are header fields, name: value.
type fields []string

// request is a whole request, addressed to the door unless extra fields say
// otherwise.
func (d *door) request(method, path, body string, extra ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	if !strings.Contains(strings.Join(extra, "\n"), "Host:") {
		fmt.Fprintf(&b, "Host: %s\r\n", d.addr)
	}
	for _, f := range extra {
		b.WriteString(f + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

const (
	asAgent    = "Authorization: Bearer " + agentSecret
	asOwner    = "Authorization: Bearer " + ownerSecret
	sendsJSON  = "Content-Type: application/json"
	takesBoth  = "Accept: application/json, text/event-stream"
	modernOnes = "MCP-Protocol-Version: 2026-07-28"
)

// initialize begins a session at path and returns its id.
func (d *door) initialize(t testing.TB, path string) string {
	t.Helper()
	return d.initializeAs(t, path, asAgent)
}

// initializeAs does it with that token.
func (d *door) initializeAs(t testing.TB, path, token string) string {
	t.Helper()
	g := d.raw(t, d.request("POST", path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"9"}}}`,
		token, sendsJSON, takesBoth))
	id := g.Header.Get(headerSession)
	if g.StatusCode != 200 || id == "" || !strings.Contains(g.body, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("initialize: %s %q", g.Status, g.body)
	}
	return id
}

// legacyCall is a tools/call of the older era.
func (d *door) legacyCall(session, path, id, tool, args string) string {
	return d.request("POST", path, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args),
		asAgent, sendsJSON, takesBoth, "Mcp-Session-Id: "+session)
}

// modernCall is a tools/call of the newer era; meta is more of its _meta.
func (d *door) modernCall(path, id, tool, args, meta string) string {
	return d.request("POST", path, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"probe","version":"9"},"io.modelcontextprotocol/clientCapabilities":{}%s}}}`,
		id, tool, args, meta),
		asAgent, sendsJSON, takesBoth, modernOnes, "Mcp-Method: tools/call", "Mcp-Name: "+tool)
}

// messages are those of an event stream, or the one of a plain answer.
func (g got) messages(t testing.TB) []response {
	t.Helper()
	var out []response
	lines := []string{g.body}
	if strings.HasPrefix(g.Header.Get("Content-Type"), typeEvents) {
		lines = nil
		for event := range strings.SplitSeq(strings.TrimSpace(g.body), "\n\n") {
			_, data, ok := strings.Cut(event, "data: ")
			if !ok {
				t.Fatalf("an event without data: %q", event)
			}
			lines = append(lines, data)
		}
	}
	for _, l := range lines {
		var r response
		if err := json.Unmarshal(bytes.TrimSpace([]byte(l)), &r); err != nil {
			t.Fatalf("%v: %q", err, l)
		}
		out = append(out, r)
	}
	return out
}

// one is the only message of an answer.
func (g got) one(t testing.TB) response {
	t.Helper()
	m := g.messages(t)
	if len(m) != 1 {
		t.Fatalf("want one message, got %q", g.body)
	}
	return m[0]
}

package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
	"unicode"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// What one connection may have running. Beyond it nothing more is read from it,
// so the client is slowed down by its own socket. Waits are the exception: they
// end when something happens elsewhere, so one too many is refused instead, and
// the line stays open for the calls that end them.
const (
	maxRunning      = 64       // requests
	maxRunningBytes = 16 << 20 // bytes of their lines
	maxWaiting      = 32       // of the requests, those that wait
	maxReading      = 4        // of the requests, those that read at one time: their answers may be long
)

// conn is one client from its hello to its end.
type conn struct {
	socket *Socket
	nc     net.Conn
	lines  *lineReader
	out    *outbox
	server *Server
	active bool // counted as active; the socket's

	mu      sync.Mutex
	free    *sync.Cond // a request ended
	caller  ops.Caller
	named   bool                // the client's name is known from a line of its own
	flight  map[string]*request // by the raw JSON of the id; those that may still be cancelled
	running int
	waits   int
	reading chan struct{} // a place for each that reads
	bytes   int
	closing bool // no new request starts
}

func newConn(s *Socket, nc net.Conn) *conn {
	c := &conn{socket: s, nc: nc, lines: newLineReader(nc, local.MaxLine), flight: make(map[string]*request), reading: make(chan struct{}, maxReading)}
	c.free = sync.NewCond(&c.mu)
	c.out = newOutbox(nc, s.timing.write, c.broken)
	return c
}

// serve answers requests until the client is gone, the socket drains, or the
// connection breaks; it returns when nothing of it runs any more.
func (c *conn) serve() {
	c.lines.max = local.MaxMessage
	for c.out.room() {
		line, err := c.lines.next()
		if errors.Is(err, errLongLine) {
			c.out.send(errorLine(nil, codeInvalidRequest,
				fmt.Sprintf("a line has at most %d bytes; this one is longer and was skipped", local.MaxMessage), nil))
			continue
		}
		if err != nil || !c.take(line) {
			break
		}
	}
	c.settle()
}

// take handles one line. It returns false when no more may be read.
func (c *conn) take(line []byte) bool {
	m, bad := parse(line)
	if bad != nil {
		c.out.send(errorLine(bad.id, bad.code, bad.text, nil))
		return true
	}
	switch m.kind {
	case isNotification:
		if m.method == methodCancelled {
			c.cancel(m.params)
		}
		return true
	case isResponse:
		return true
	case isSteward:
		if l, err := local.ParseLine(line); err == nil && l.Client != nil {
			c.rename(l.Client.Name, l.Client.Version)
		}
		return true
	}
	r, refusal := c.begin(m)
	switch {
	case refusal != nil:
		c.out.send(refusal)
	case r == nil:
		return false
	case m.method == methodInitialize:
		r.run() // in line: what follows it may rely on it
	default:
		c.socket.crew.do(r)
	}
	return true
}

// begin admits a request, waiting for room. It returns nil twice when the
// connection is closing, and the line to answer when the request is refused.
func (c *conn) begin(m message) (*request, []byte) {
	wait := m.method == methodToolsCall && c.server.kinds[m.call.name] == ops.Waits || m.method == methodFollow
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closing && c.running > 0 && (c.running >= maxRunning || c.bytes+len(m.line) > maxRunningBytes) {
		c.free.Wait()
	}
	if c.closing {
		return nil, nil
	}
	if c.flight[string(m.id)] != nil {
		// With that id the refusal would be taken for the first one's answer.
		return nil, errorLine(nil, codeInvalidRequest, "id: "+string(m.id)+" is still running", nil)
	}
	if wait && c.waits >= maxWaiting {
		return nil, c.server.refuse(m.id, &ops.Error{Code: ops.Unavailable,
			Message: fmt.Sprintf("too many waits on one connection: at most %d at once", maxWaiting),
			Hint:    "let one end, or cancel it, then ask again"})
	}
	r := &request{conn: c, message: m, caller: c.caller, wait: wait}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if wait { // a bridge sends it again under the same id when the service has died
		sum := sha256.Sum256(m.id)
		r.caller.Request = hex.EncodeToString(sum[:8])
	}
	c.flight[string(m.id)] = r
	c.running++
	c.bytes += len(m.line)
	if wait {
		c.waits++
	}
	return r, nil
}

// cancel ends the request that a cancellation names; it gets no answer.
func (c *conn) cancel(params []byte) {
	if params == nil || params[0] != '{' {
		return
	}
	for o := (members{b: params}); o.next(); {
		if string(o.key) == "requestId" {
			c.mu.Lock()
			r := c.flight[string(o.value)]
			delete(c.flight, string(o.value))
			c.mu.Unlock()
			if r != nil {
				r.cancel()
			}
			return
		}
	}
}

// settle ends, without an answer, the connection's waits and what can be asked
// for again (its client does so, here or at the next owner), lets everything else be answered, and
// returns when nothing runs.
func (c *conn) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.drop(func(r *request) bool { return r.wait || c.server.again[r.call.name] })
	for c.running > 0 {
		c.free.Wait()
	}
}

// abandon ends everything without an answer and closes the connection.
func (c *conn) abandon() {
	c.mu.Lock()
	c.closing = true
	c.drop(func(*request) bool { return true })
	c.free.Signal()
	c.mu.Unlock()
	_ = c.nc.Close() // its reader and writer come back with an error
}

// stopReading makes the connection read no further request.
func (c *conn) stopReading() {
	_ = c.nc.SetReadDeadline(time.Unix(1, 0)) // fails only when it is closed already
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.free.Signal()
}

// load is how many requests run.
func (c *conn) load() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// drop takes the requests that match out of flight and cancels them. c.mu is held.
func (c *conn) drop(match func(*request) bool) {
	for id, r := range c.flight {
		if match(r) {
			delete(c.flight, id)
			r.cancel()
		}
	}
}

// broken is called by the outbox when the client cannot be written to.
func (c *conn) broken(err error) {
	if errors.Is(err, errStopped) {
		c.socket.log.Warn("closing a connection: "+err.Error(), "client", c.identity().Client)
	}
	go c.abandon() // the outbox holds its own lock here
}

// end takes r out of flight and tells whether it is still to be answered.
func (c *conn) end(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flight[string(r.id)] != r {
		return false
	}
	delete(c.flight, string(r.id))
	return true
}

// release gives back the room of r.
func (c *conn) release(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.bytes -= len(r.line)
	if r.wait {
		c.waits--
	}
	c.free.Signal() // the reader is the only one that waits
}

func (c *conn) identity() ops.Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caller
}

// rename takes the client's own name and version. A stream stays the workspace.
func (c *conn) rename(name, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named = true
	name = oneLine(name)
	c.caller.Client = oneLine(name + " " + oneLine(version))
	if c.caller.Stream == "" {
		c.caller.Workspace = name
	}
}

// introduce takes the name from MCP's own client info, unless a line of
// Steward's has given it.
func (c *conn) introduce(name, version string) {
	c.mu.Lock()
	named := c.named
	c.mu.Unlock()
	if !named && name != "" {
		c.rename(name, version)
	}
}

// greet fills the caller from the hello line.
func (c *conn) greet(h *local.Hello) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caller = ops.Caller{
		Surface: ops.Agent,
		Session: oneLine(h.ID),
		Client:  oneLine(h.Client),
		Stream:  oneLine(h.Stream),
	}
	switch h.Role {
	case local.RoleShell:
		c.caller.Surface = ops.Shell
	case local.RoleWindow: // objection has seen its proof; a person has no session and no workspace
		c.caller, c.named = ops.Caller{Surface: ops.Window, Person: true}, true
		return
	}
	c.named = c.caller.Client != ""
	if c.caller.Workspace = c.caller.Stream; c.caller.Workspace == "" {
		c.caller.Workspace = withoutVersion(c.caller.Client)
	}
}

// withoutVersion cuts the version off a client's "name version".
func withoutVersion(client string) string {
	i := strings.LastIndexByte(client, ' ')
	if i > 0 && strings.ContainsAny(client[i+1:], "0123456789") {
		return client[:i]
	}
	return client
}

// oneLine makes a claim fit to be stored: no control characters, at most 128
// characters.
func oneLine(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
	return ledger.Clip(strings.TrimSpace(strings.Join(parts, " ")), ledger.MaxWorkspace)
}

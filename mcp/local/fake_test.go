package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fake is a service for tests: it speaks the hello line and as much JSON-RPC as
// a bridge needs, keeps session slots as the ledger does, and drains a spool.
// What it knows outlives its connections, so closing and opening it again is a
// service that was killed and started anew.
type fake struct {
	t complainer

	// Set before use. greet answers a hello: nil welcomes it. handle sees each
	// request; nil carries it out and answers.
	greet  func(c *fakeConn, h Hello) *Line
	handle func(r *fakeRequest)
	spool  string // drained before a welcome
	// journal, if not nil, is told what takes effect before anybody else is.
	journal func(bridge string, slot int, seq uint64, outcome string)

	mu     sync.Mutex
	up     bool // for dial
	ln     net.Listener
	conns  map[*fakeConn]bool
	slots  map[string]fakeSlot
	events []string // outcomes, in the order in which they took effect
	files  map[string]bool
	hellos []Hello
	named  []ClientInfo
	notes  []string      // notifications received
	seen   chan struct{} // one token for each request seen
}

// complainer is the part of testing.T a fake needs.
type complainer interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
}

type fakeSlot struct {
	seq   uint64
	reply string
}

type fakeConn struct {
	net.Conn
	f     *fake
	hello Hello
	n     int // which connection it is, from 1
	wmu   sync.Mutex
}

type fakeRequest struct {
	c      *fakeConn
	line   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
		Args struct {
			Actor   string  `json:"actor"`
			Outcome string  `json:"outcome"`
			Millis  float64 `json:"timeout_ms"`
		} `json:"arguments"`
		Meta fakeMeta `json:"_meta"`
	} `json:"params"`
}

type fakeMeta struct{ Stamp *fakeStamp }

type fakeStamp struct {
	Slot int    `json:"slot"`
	Seq  uint64 `json:"seq"`
}

func (m *fakeMeta) UnmarshalJSON(b []byte) error {
	var x struct {
		Stamp *fakeStamp `json:"steward/stamp"`
	}
	if json.Unmarshal(b, &x) == nil { // a _meta of another type is not the fake's to refuse
		m.Stamp = x.Stamp
	}
	return nil
}

func newFake(t complainer) *fake {
	return &fake{t: t, up: true, conns: map[*fakeConn]bool{}, slots: map[string]fakeSlot{}, files: map[string]bool{}, seen: make(chan struct{}, 1<<16)}
}

// listen opens the fake on a real socket.
func (f *fake) listen(address string) {
	f.t.Helper()
	ln, err := net.Listen("unix", address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	f.ln = ln
	f.mu.Unlock()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
}

// dial is a DialFunc in memory, for tests with synthetic time.
func (f *fake) dial(context.Context, string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.up {
		return nil, syscall.ECONNREFUSED
	}
	here, there := net.Pipe()
	go f.serve(there)
	return here, nil
}

func (f *fake) setUp(up bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up = up
}

// kill drops the listener and every connection without a word.
func (f *fake) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up = false
	if f.ln != nil {
		f.ln.Close()
		f.ln = nil
	}
	for c := range f.conns {
		c.Close()
	}
}

func (f *fake) serve(nc net.Conn) {
	c := &fakeConn{Conn: nc, f: f}
	defer c.Close()
	r := bufio.NewReaderSize(nc, 64<<10)
	l, err := ReadLine(r)
	if err != nil {
		return
	}
	switch {
	case l.Yield != nil:
		if l.Yield.Schema > 1 {
			c.say(Line{Yielding: true})
		} else {
			c.say(Line{Kept: "older"})
		}
		return
	case l.Stop != nil:
		c.say(Line{Stopping: true})
		return
	case l.Info != nil:
		c.say(Line{Info: &Info{PID: 7, State: StateServing}})
		return
	case l.Hello == nil:
		return
	}
	f.mu.Lock()
	c.hello = *l.Hello
	f.hellos = append(f.hellos, c.hello)
	c.n = len(f.hellos)
	f.conns[c] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.conns, c)
		f.mu.Unlock()
	}()
	var answer *Line
	if f.greet != nil {
		answer = f.greet(c, c.hello)
	}
	if answer != nil {
		c.say(*answer)
		return
	}
	f.drain()
	if c.say(Line{Welcome: &Welcome{State: StateServing, Version: "fake", Slots: Slots}}) != nil {
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		f.line(c, line)
	}
}

func (f *fake) line(c *fakeConn, line string) {
	if IsLine([]byte(line)) {
		if l, err := ParseLine([]byte(line)); err == nil && l.Client != nil {
			f.mu.Lock()
			f.named = append(f.named, *l.Client)
			f.mu.Unlock()
		}
		return
	}
	q := &fakeRequest{c: c, line: strings.TrimSuffix(line, "\n")}
	if err := json.Unmarshal([]byte(line), q); err != nil {
		f.t.Errorf("the service got a line that is no request: %v: %.200s", err, line)
		return
	}
	if q.ID == nil {
		f.mu.Lock()
		f.notes = append(f.notes, q.line)
		f.mu.Unlock()
		return
	}
	f.seen <- struct{}{}
	if f.handle != nil {
		f.handle(q)
		return
	}
	q.answer(q.run())
}

func (c *fakeConn) say(l Line) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	return WriteLine(c, l)
}

func (c *fakeConn) send(line string) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	io.WriteString(c, line+"\n")
}

// run carries the request out, once for each stamp, and returns its result.
func (q *fakeRequest) run() string {
	var bridge string
	slot, seq := -1, uint64(0)
	if s := q.Params.Meta.Stamp; s != nil {
		bridge, slot, seq = q.c.hello.ID, s.Slot, s.Seq
	}
	return q.c.f.apply(bridge, slot, seq, q.Params.Args.Outcome)
}

func (f *fake) apply(bridge string, slot int, seq uint64, outcome string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fmt.Sprintf("%s/%d", bridge, slot)
	if slot >= 0 {
		switch old := f.slots[key]; {
		case seq == old.seq && old.seq > 0:
			return old.reply
		case seq < old.seq:
			return `{"content":[{"type":"text","text":"superseded"}],"isError":true}`
		}
	}
	if f.journal != nil {
		f.journal(bridge, slot, seq, outcome)
	}
	f.events = append(f.events, outcome)
	reply := fmt.Sprintf(`{"content":[{"type":"text","text":"event %d"}],"structuredContent":{"event_id":%d}}`, len(f.events), len(f.events))
	if slot >= 0 {
		f.slots[key] = fakeSlot{seq, reply}
	}
	return reply
}

// answer answers the request with a result object.
func (q *fakeRequest) answer(result string) {
	q.c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + result + `}`)
}

// drain applies the spool as the service does.
func (f *fake) drain() {
	if f.spool == "" {
		return
	}
	files, err := List(f.spool)
	if err != nil {
		f.t.Error(err)
	}
	for _, file := range files {
		r, err := Read(filepath.Join(f.spool, file))
		if err != nil {
			f.t.Errorf("%s: %v", file, err)
			continue
		}
		var args struct {
			Outcome string `json:"outcome"`
		}
		if err := json.Unmarshal(r.Arguments, &args); err != nil {
			f.t.Error(err)
		}
		f.apply(r.Stamp.Bridge, r.Stamp.Slot, r.Stamp.Seq, args.Outcome)
		if err := Remove(f.spool, file); err != nil {
			f.t.Error(err)
		}
	}
}

func (f *fake) outcomes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.events...)
}

func (f *fake) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.hellos)
}

// peer is an MCP client at a bridge in this process.
type peer struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	done  chan error
}

// start runs a bridge. Its input is closed at the end of the test.
func start(t *testing.T, ctx context.Context, cfg BridgeConfig) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	cfg.In, cfg.Out = inR, outW
	p := &peer{t: t, in: inW, lines: make(chan string, 1<<14), done: make(chan error, 1)}
	go func() {
		p.done <- RunBridge(ctx, cfg)
		outW.Close()
	}()
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() { inW.Close() })
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next returns the next line of the bridge.
func (p *peer) next() string {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the bridge has ended")
		}
		return l
	case <-time.After(30 * time.Second):
		p.t.Fatal("no line of the bridge")
	}
	return ""
}

// quiet checks that nothing came, given the time the bridge had.
func (p *peer) quiet() {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if ok {
			p.t.Fatalf("a line that should not be: %s", l)
		}
	default:
	}
}

// close ends the input and returns RunBridge's error.
func (p *peer) close() error {
	p.t.Helper()
	p.in.Close()
	select {
	case err := <-p.done:
		return err
	case <-time.After(30 * time.Second):
		p.t.Fatal("the bridge does not end")
	}
	return nil
}

// report is a call of report_done.
func report(id int, outcome string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report_done","arguments":{"actor":"a","outcome":%q}}}`, id, outcome)
}

// ask is a call of a tool without arguments.
func ask(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// reply is what tests look at in a line of the bridge.
type reply struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Result struct {
		Content    []struct{ Text string }
		Structured struct {
			EventID int    `json:"event_id"`
			Spooled bool   `json:"spooled"`
			SaidAt  string `json:"said_at"`
		} `json:"structuredContent"`
		IsError bool
	}
	Error struct {
		Code    int
		Message string
		Data    struct{ Code, Hint string }
	}
}

func (p *peer) reply() reply {
	p.t.Helper()
	return parseReply(p.t, p.next())
}

func parseReply(t *testing.T, line string) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return r
}

// socketPath returns a path short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if p := filepath.Join(dir, "s.sock"); len(p) < 100 {
		return p
	}
	t.Fatalf("%s: too long for a socket", dir)
	return ""
}

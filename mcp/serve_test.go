package mcp

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"steward/mcp/local"
)

func TestProgressComesFirst(t *testing.T) {
	f := serving(t)
	f.gate.release()
	c := f.hello(t, local.Hello{})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_hold","arguments":{"text":"x"},"_meta":{"progressToken":9007199254740993}}}`)
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":1,"total":3,"message":"one of three"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":2.5}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"x\"}"}],"structuredContent":{"text":"x"}}}`,
	} {
		if got := c.next(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	// Without a token nobody asked for it.
	if got := c.text(2, "test_hold", `{"text":"y"}`); got != `{"text":"y"}` {
		t.Errorf("got %s", got)
	}
}

func TestCancelledGetsNoAnswer(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	c.send(call(`"a"`, "test_hold", `{"text":"1"}`))
	<-f.gate.entered
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"changed my mind","requestId":"a"}}`,
		call(`"a"`, "test_echo", `{"text":"the id is free again"}`))
	if r := c.answer(); string(r.ID) != `"a"` || r.Result == nil || !strings.Contains(r.Result.Content[0].Text, "free again") {
		t.Fatalf("got %+v", r)
	}
	f.gate.release() // the first has ended by its context already, or ends now
	if got := c.text(2, "test_echo", `{"text":"next"}`); got != `{"text":"next"}` {
		t.Errorf("got %s", got)
	}
}

func TestDuplicateID(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	c.send(call(7, "test_hold", `{"text":"1"}`))
	<-f.gate.entered
	c.send(call(7, "test_echo", `{"text":"2"}`), call(`"7"`, "test_echo", `{"text":"another id"}`))
	if got, want := c.next(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id: 7 is still running"}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if r := c.answer(); string(r.ID) != `"7"` {
		t.Errorf("got %+v", r)
	}
	f.gate.release()
	if r := c.answer(); string(r.ID) != "7" || r.Result == nil {
		t.Errorf("got %+v", r)
	}
}

func TestWaitDoesNotStall(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	c.send(call(`"wait"`, "test_wait", `{"id":2}`))
	for i := range 20 {
		if got, want := c.text(i, "test_echo", `{"text":"on"}`), `{"text":"on"}`; got != want {
			t.Fatalf("got %s", got)
		}
	}
	if got := c.text(100, "report_done", `{"actor":"ada"}`); !strings.Contains(got, `"event_id":1`) {
		t.Fatalf("got %s", got)
	}
	c.send(call(101, "report_done", `{"actor":"ada"}`))
	ids := string(c.answer().ID) + " " + string(c.answer().ID)
	if ids != `101 "wait"` && ids != `"wait" 101` {
		t.Errorf("answered: %s", ids)
	}
}

func TestOneWaitTooMany(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	for i := range maxWaiting {
		c.send(call(i, "test_wait", `{"id":1}`))
	}
	c.send(call(`"more"`, "test_wait", `{"id":1}`))
	r := c.answer()
	if string(r.ID) != `"more"` || r.Error == nil || r.Error.Code != codeUnavailable || r.Error.Data.Code != "unavailable" || r.Error.Data.Hint == "" {
		t.Fatalf("got %+v", r)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
	// Its room is free when its worker has seen that it is cancelled.
	eventually(t, "room for one more wait", func() bool {
		c.send(call(`"again"`, "test_wait", `{"id":1}`), `{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
		if string(c.answer().ID) == `"ping"` {
			return true
		}
		c.answer() // the ping's; the first was the refusal
		return false
	})
	c.send(call(`"now"`, "report_done", `{"actor":"ada"}`))
	left := map[string]bool{`"now"`: true, `"again"`: true}
	for i := 1; i < maxWaiting; i++ {
		left[fmt.Sprint(i)] = true
	}
	for len(left) > 0 {
		r := c.answer()
		if r.Error != nil || !left[string(r.ID)] {
			t.Fatalf("got %+v", r)
		}
		delete(left, string(r.ID))
	}
}

func TestBackPressure(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	const all = maxRunning + 10
	for i := range all {
		c.send(call(i, "test_hold", fmt.Sprintf(`{"text":"%d"}`, i)))
	}
	for range maxRunning {
		<-f.gate.entered
	}
	if got := f.hello(t, local.Hello{}).text(1, "test_echo", `{"text":"others are served"}`); !strings.Contains(got, "served") {
		t.Fatalf("got %s", got)
	}
	if n := len(f.gate.entered); n > 0 {
		t.Fatalf("%d requests more than %d run", n, maxRunning)
	}
	f.gate.release()
	seen := make(map[string]bool)
	for range all {
		seen[string(c.answer().ID)] = true
	}
	if len(seen) != all {
		t.Errorf("%d of %d answered", len(seen), all)
	}
}

func TestBackPressureByBytes(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	pad := strings.Repeat(" ", 6<<20)
	go func() { // the third blocks in the socket until there is room
		for i := range 3 {
			_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"test_hold","arguments":{%s}}}`+"\n", i, pad)
		}
	}()
	<-f.gate.entered
	<-f.gate.entered
	if got := f.hello(t, local.Hello{}).text(1, "test_echo", `{"text":"others are served"}`); !strings.Contains(got, "served") {
		t.Fatalf("got %s", got)
	}
	if n := len(f.gate.entered); n > 0 {
		t.Fatalf("%d requests more than %d bytes run", n, maxRunningBytes)
	}
	f.gate.release()
	for range 3 {
		if r := c.answer(); r.Result == nil {
			t.Errorf("got %+v", r)
		}
	}
}

func TestLongLines(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	head := `{"jsonrpc":"2.0","id":1,"method":"ping"`
	exact := head + strings.Repeat(" ", local.MaxMessage-len(head)-1) + "}"
	c.send(exact)
	if r := c.answer(); string(r.ID) != "1" || r.Error != nil {
		t.Fatalf("a line of %d bytes: got %+v", len(exact), r)
	}
	for _, long := range []string{" " + exact[:len(exact)-1] + " }", strings.Repeat("x", 3*local.MaxMessage)} {
		c.send(long)
		if r := c.answer(); string(r.ID) != "null" || r.Error == nil || r.Error.Code != codeInvalidRequest {
			t.Fatalf("a line of %d bytes: got %+v", len(long), r)
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if r := c.answer(); string(r.ID) != "2" {
			t.Fatalf("after it: got %+v", r)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", maxID) + `","method":"ping"}`)
	if r := c.answer(); string(r.ID) != "null" || r.Error == nil || r.Error.Code != codeInvalidRequest {
		t.Errorf("a long id: got %+v", r)
	}
}

func TestClientThatStopsReading(t *testing.T) {
	f := newFixture(t, func(_ *SocketConfig, tm *timing) { tm.write = 100 * time.Millisecond })
	f.socket.Ready(f.server)
	deaf := f.hello(t, local.Hello{Client: "deaf 1.0"})
	other := f.hello(t, local.Hello{})
	text := strings.Repeat("x", 50_000)
	gone := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintln(deaf, call(i, "test_echo", `{"text":"`+text+`"}`)); err != nil {
				gone <- err
				return
			}
		}
	}()
	var err error
	for i := 0; err == nil; i++ {
		other.text(i, "test_echo", `{"text":"served meanwhile"}`)
		select {
		case err = <-gone:
		default:
		}
	}
	if timedOut(err) {
		t.Fatalf("the connection was not closed: %v", err)
	}
	eventually(t, "the other is the only one left", func() bool { return f.socket.Active() == 1 })
	other.text("1", "test_echo", `{"text":"served afterwards"}`)
	if log := f.logged(); !strings.Contains(log, "stopped reading") || !strings.Contains(log, "deaf 1.0") {
		t.Errorf("log: %s", log)
	}
}

// TestFloodOfRubbish sends what is answered at once and reads nothing: the
// server must stop reading instead of collecting answers.
func TestFloodOfRubbish(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	f.socket.mu.Lock()
	var conn *conn
	for conn = range f.socket.conns {
	}
	f.socket.mu.Unlock()
	rubbish := []byte(strings.Repeat("rubbish\n", 4096))
	if err := c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for {
		n, err := c.Write(rubbish)
		sent += n
		if err != nil {
			if !timedOut(err) {
				t.Fatal(err)
			}
			break
		}
	}
	conn.out.mu.Lock()
	backlog := len(conn.out.waiting)
	conn.out.mu.Unlock()
	if backlog > maxBacklog+1024 {
		t.Errorf("%d bytes wait for a client that does not read", backlog)
	}
	f.hello(t, local.Hello{}).text(1, "test_echo", `{"text":"served"}`)

	// Once it reads, every line has its answer. The last one was cut off.
	go func() { _, _ = c.Conn.Write([]byte("\n")) }()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for range sent / len("rubbish\n") {
		if r := c.answer(); r.Error == nil || r.Error.Code != codeParse {
			t.Fatalf("got %+v", r)
		}
	}
}

func TestFloodOfCalls(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	other := f.hello(t, local.Hello{})
	const n = 20_000
	go func() {
		for i := range n {
			_, _ = fmt.Fprintln(c, call(i, "test_echo", `{"text":"flood"}`))
		}
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range n {
			if r := c.answer(); r.Result == nil {
				t.Errorf("got %+v", r)
				return
			}
		}
	}()
	served := 0
	for flooding := true; flooding; served++ {
		start := time.Now()
		other.text(served, "test_echo", `{"text":"served"}`)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("a call beside the flood took %v", d)
		}
		select {
		case <-done:
			flooding = false
		default:
		}
	}
	t.Logf("%d calls of another client were answered during the flood of %d", served, n)
}

func TestHalfClose(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a named pipe cannot be closed in one direction")
	}
	f := serving(t)
	c := f.hello(t, local.Hello{})
	c.send(call(1, "test_wait", `{"id":1}`)) // would take 50 s; its client cannot be told from one that is gone
	c.send(call(2, "test_hold", `{"text":"slow"}`))
	<-f.gate.entered
	if _, err := fmt.Fprint(c, `{"jsonrpc":"2.0","id":3,"method":"ping"}`); err != nil { // no line end
		t.Fatal(err)
	}
	if err := c.Conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if r := c.answer(); string(r.ID) != "3" {
		t.Errorf("got %+v", r)
	}
	f.gate.release()
	if r := c.answer(); string(r.ID) != "2" || r.Result == nil {
		t.Errorf("got %+v", r)
	}
	c.ended()
}

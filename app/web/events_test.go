package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// ids are those of the events in one notice.
func (h heard) ids(t *testing.T) (ids []int64) {
	t.Helper()
	var d struct {
		LastID int64          `json:"last_id"`
		Events []ledger.Event `json:"events"`
	}
	if err := json.Unmarshal([]byte(h.data), &d); err != nil || h.name != "ledger" || len(d.Events) == 0 || len(d.Events) > 50 {
		t.Fatalf("%+v: %d events, %v", h, len(d.Events), err)
	}
	for _, e := range d.Events {
		ids = append(ids, e.ID)
	}
	if last := ids[len(ids)-1]; last != d.LastID || h.id != strconv.FormatInt(last, 10) {
		t.Fatalf("events to %d, last_id %d, id %s", last, d.LastID, h.id)
	}
	return ids
}

func hello(last int64) heard {
	return heard{name: "hello", data: fmt.Sprintf(`{"version":"1.2.3","last_id":%d,"heartbeat":15}`, last)}
}

func TestEventsBeginNow(t *testing.T) {
	f := newFixture(t, nil)
	f.report(3)
	l := f.listen("")
	l.want(hello(3))
	f.report(1)
	if ids := l.must().ids(t); len(ids) != 1 || ids[0] != 4 {
		t.Errorf("%v", ids)
	}
	if g := f.ask("POST", CallPath+"brief_seen", `{"through_id":4}`, "X-Owner", "1"); g.StatusCode != 200 {
		t.Fatal(g.body)
	}
	l.want(heard{"changed", "4", "{}"})
	f.report(1)
	l.must().ids(t)
	close(f.stopping)
	l.want(heard{"bye", "", "{}"})
	if _, err := l.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after bye: %v", err)
	}
}

func TestEventsReplay(t *testing.T) {
	f := newFixture(t, nil)
	f.fill(520, ledger.Event{Actor: "a", Type: "done"})
	for after, want := range map[int64]string{0: "reset", 19: "reset", 20: "ledger", 519: "ledger", 520: "", 9999: "reset"} {
		l := f.listen(strconv.FormatInt(after, 10))
		l.want(hello(520))
		if want == "reset" {
			l.want(heard{"reset", "520", `{"last_id":520}`})
		}
		for next := after + 1; want == "ledger" && next <= 520; {
			for _, id := range l.must().ids(t) {
				if id != next {
					t.Fatalf("after %d: event %d, want %d", after, id, next)
				}
				next++
			}
		}
		l.close()
	}
	for _, wrong := range []string{"x", "-1", "1.5", "99999999999999999999", "1 2"} {
		if g := f.ask("GET", EventsPath, "", "X-Owner", "1", "Last-Event-ID", wrong); g.StatusCode != 400 || g.code() != "invalid" {
			t.Errorf("Last-Event-ID %q: %s %q", wrong, g.Status, g.body)
		}
	}
}

func TestEventsMethodsAndOwner(t *testing.T) {
	f := newFixture(t, nil)
	if g := f.ask("HEAD", EventsPath, "", "X-Owner", "1"); g.StatusCode != 200 || g.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %s %v", g.Status, g.Header)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if g := f.ask(method, EventsPath, "", "X-Owner", "1"); g.StatusCode != 405 || g.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s, Allow %q", method, g.Status, g.Header.Get("Allow"))
		}
	}
	if g := f.ask("GET", EventsPath, ""); g.StatusCode != 403 {
		t.Errorf("not the owner: %s", g.Status)
	}
	if err := f.log.Close(); err != nil {
		t.Fatal(err)
	}
	if g := f.ask("GET", EventsPath, "", "X-Owner", "1"); g.StatusCode != 503 {
		t.Errorf("without a ledger: %s", g.Status)
	}
}

// Silence is broken by a comment, and only silence is.
func TestEventsHeartbeat(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Heartbeat = 30 * time.Millisecond })
	l := f.listen("")
	l.must()
	for range 3 {
		l.want(heard{name: ":"})
	}
	f.report(1)
	for h := l.must(); h.name != "ledger"; h = l.must() {
		if h.name != ":" {
			t.Fatalf("%+v", h)
		}
	}
	l.want(heard{name: ":"})
}

// A stream ends when its ledger does, so that the page comes again and hears why.
func TestEventsEndWithTheLedger(t *testing.T) {
	f := newFixture(t, nil)
	l := f.listen("")
	l.must()
	if err := f.log.Close(); err != nil {
		t.Fatal(err)
	}
	if h, err := l.next(); err == nil {
		t.Errorf("heard %+v", h)
	}
}

// While many write, readers that come and go hear each event once, in order.
func TestEventsMissNothing(t *testing.T) {
	f := newFixture(t, nil)
	const writers, each, readers = 4, 60, 3
	const all = writers * each
	var writing, reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			next, after := int64(1), "0"
			for next <= all {
				l := f.listen(after)
				if h, err := l.next(); err != nil || h.name != "hello" {
					t.Errorf("%+v, %v", h, err)
					return
				}
				for range 1 + rand.IntN(4) {
					h, err := l.next()
					if err != nil {
						t.Errorf("after event %d: %v", next-1, err)
						return
					}
					for _, id := range h.ids(t) {
						if id != next {
							t.Errorf("event %d, want %d", id, next)
							return
						}
						next++
					}
					if after = h.id; next > all {
						break
					}
				}
				l.close()
			}
		})
	}
	for range writers {
		writing.Go(func() { f.report(each) })
	}
	writing.Wait()
	reading.Wait()
}

// A client that does not read holds nothing of the ledger: others read and write
// on, and what it has missed waits for it.
func TestEventsSlowReader(t *testing.T) {
	f := newFixture(t, nil)
	c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET "+EventsPath+" HTTP/1.1\r\nHost: x\r\nX-Owner: 1\r\nLast-Event-ID: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil { // the stream has begun
		t.Fatal(err)
	}
	f.fill(800, ledger.Event{Actor: "a", Type: "done", Outcome: strings.Repeat("x", 500), File: strings.Repeat("/y", 2000)})
	// Every reader of the ledger is free: as many as there are look at once.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var looking sync.WaitGroup
	for range 16 {
		looking.Go(func() {
			if _, err := f.set.Call(ctx, ops.Caller{Surface: ops.Agent}, "situation_report", nil); err != nil {
				t.Error(err)
			}
		})
	}
	looking.Wait()
	// When it reads again it hears all of it.
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var heard strings.Builder
	buf := make([]byte, 64<<10)
	for !strings.Contains(heard.String(), `"last_id":800`) {
		n, err := c.Read(buf)
		if err != nil {
			t.Fatalf("%v after %d bytes: …%s", err, heard.Len(), heard.String()[max(0, heard.Len()-300):])
		}
		heard.Write(buf[:n])
	}
}

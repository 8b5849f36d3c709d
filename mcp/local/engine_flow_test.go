package local

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSlotsRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		var held []*fakeRequest
		f.handle = func(q *fakeRequest) {
			if q.Params.Name == "recent_events" {
				q.answer(`{}`)
				return
			}
			held = append(held, q)
		}
		p := start(t, t.Context(), cfg)
		for i := range 40 {
			p.send(report(i, fmt.Sprint(i)))
		}
		p.send(ask(100, "recent_events"))
		if r := p.reply(); r.ID != 100.0 {
			t.Errorf("a read waits for a slot: %+v", r)
		}
		synctest.Wait()
		if len(held) != Slots {
			t.Fatalf("%d appending calls at once, want %d", len(held), Slots)
		}
		// The answer to any frees one, for the first in line. One in line is
		// cancelled and never sent.
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":33}}`)
		for i := 31; len(held) > 0; i = 0 {
			q := held[min(i, len(held)-1)]
			held = slices.Delete(held, slices.Index(held, q), slices.Index(held, q)+1)
			q.answer(q.run())
			p.next()
			synctest.Wait()
		}
		got := f.outcomes()
		if len(got) != 39 || got[0] != "31" || slices.Contains(got, "33") {
			t.Errorf("took effect: %v", got)
		}
		if in := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return len(s) < 2 || s < "32" }); !slices.IsSorted(in) || len(in) != 7 {
			t.Errorf("those that waited took effect as %v", in)
		}
		p.close()
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		var held []*fakeRequest
		f.handle = func(q *fakeRequest) { held = append(held, q) }
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"))
		synctest.Wait()
		p.send(report(1, "again")) // its id is in use
		if r := p.reply(); r.ID != nil || r.Error.Code != codeInvalid {
			t.Errorf("%+v", r)
		}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if r := p.reply(); r.ID != nil || r.Error.Code != codeInvalid {
			t.Errorf("%+v", r)
		}
		cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"no"}}`
		p.send(cancelled, cancelled)
		synctest.Wait()
		if len(f.notes) != 1 || f.notes[0] != cancelled {
			t.Errorf("the service was told %v", f.notes)
		}
		held[0].answer(`{}`) // too late
		synctest.Wait()
		p.quiet()
		p.send(report(1, "two")) // the id and the slot are free
		synctest.Wait()
		if s := held[1].Params.Meta.Stamp; s.Slot != 0 || s.Seq != 2 {
			t.Errorf("stamp %+v", s)
		}
		held[1].answer(held[1].run())
		p.next()

		// Without a connection: dropped, neither sent nor spooled.
		f.kill()
		p.send(report(2, "three"), strings.Replace(cancelled, ":1,", ":2,", 1))
		time.Sleep(time.Minute)
		p.quiet()
		if files := spoolFiles(t, cfg.Spool); len(files) != 0 {
			t.Errorf("spooled %v", files)
		}
		p.close()
	})
}

func TestNotificationsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
		f.handle = func(q *fakeRequest) {
			q.c.send(progress)
			q.c.send(`{"jsonrpc":"2.0","id":77,"result":{}}`)               // of nothing asked
			q.c.send(`{"jsonrpc":"2.0","id":1,"method":"sampling/create"}`) // nothing a bridge can do
			q.c.send(`{"steward":1,"future":{}}`)
			q.c.send(`garbage {"id":1`)
			q.c.send(``)
			q.answer(`{"a":1}`)
		}
		p := start(t, t.Context(), inMemory(t, f))
		p.send(ask(1, "recent_events"))
		if l := p.next(); l != progress {
			t.Errorf("first came %s", l)
		}
		if l := p.next(); l != `{"jsonrpc":"2.0","id":1,"result":{"a":1}}` {
			t.Errorf("then came %s", l)
		}
		other := `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
		p.send(other)
		synctest.Wait()
		if !slices.Equal(f.notes, []string{other}) {
			t.Errorf("the service got %v", f.notes)
		}
		p.close()
	})
}

func TestWaitIsReissued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		var times []float64
		f.handle = func(q *fakeRequest) {
			times = append(times, q.Params.Args.Millis)
			if q.c.n == 3 {
				q.answer(`{}`)
			}
		}
		p := start(t, t.Context(), inMemory(t, f))
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_task","arguments":{"task_id":"a","timeout_ms":40000}}}`)
		for range 2 {
			time.Sleep(10 * time.Second)
			f.kill()
			f.setUp(true)
		}
		p.next()
		if len(times) != 3 || times[0] != 40000 || times[1] > 30000 || times[1] < 29900 || times[2] > 20000 || times[2] < 19900 {
			t.Errorf("waited for %v ms", times)
		}
		p.close()
	})
}

// More calls than are kept: the rest waits in the client's pipe, and none is
// lost or out of order.
func TestFlood(t *testing.T) {
	const n = maxUnanswered + 300
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		open := make(chan struct{})
		f.handle = func(q *fakeRequest) {
			<-open
			q.answer(q.run())
		}
		p := start(t, t.Context(), cfg)
		var sent atomic.Int64
		go func() {
			for i := range n {
				p.send(ask(i, "recent_events"))
				sent.Add(1)
			}
		}()
		synctest.Wait()
		if got := sent.Load(); got < maxUnanswered || got > maxUnanswered+200 { // some lines fit in the bridge's buffer
			t.Errorf("%d lines were read, want about %d", got, maxUnanswered)
		}
		close(open)
		for i := range n {
			if r := p.reply(); r.ID != float64(i) {
				t.Fatalf("answer %d: %+v", i, r)
			}
		}
		p.close()
	})
}

// A call that only carries a stamp in vain: the service has to refuse it.
func TestOddMetaIsForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		var got json.RawMessage
		f.handle = func(q *fakeRequest) { got = json.RawMessage(q.line); q.answer(`{}`) }
		p := start(t, t.Context(), inMemory(t, f))
		line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_done","_meta":7}}`
		p.send(line)
		p.next()
		if string(got) != line {
			t.Errorf("the service got %s", got)
		}
		p.close()
	})
}

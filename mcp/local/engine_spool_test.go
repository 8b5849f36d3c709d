package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func spoolFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		cfg := inMemory(t, f)
		cfg.Spawn = func() error { return errors.New("steward: no such file") }
		p := start(t, t.Context(), cfg)
		begin := time.Now()
		said := begin.UTC().Format(timeForm)
		p.send(report(1, "one"), ask(2, "situation_report"), strings.Replace(ask(3, "focus_change"), `"arguments"`, eraParams+`,"arguments"`, 1))
		synctest.Wait()
		p.quiet()

		one := p.next()
		if d := after(begin); d != lossPatience {
			t.Errorf("spooled after %v", d)
		}
		r := parseReply(t, one)
		if !r.Result.Structured.Spooled || r.Result.Structured.EventID != 0 || r.Result.Structured.SaidAt != said || r.Result.IsError {
			t.Errorf("%s", one)
		}
		text := r.Result.Content[0].Text
		if !strings.HasSuffix(text, "\n"+`{"spooled":true,"said_at":"`+said+`"}`) || !strings.Contains(text, "steward: no such file") {
			t.Errorf("text: %s", text)
		}
		two := p.reply()
		if two.Error.Code != codeUnavailable || two.Error.Data.Code != "unavailable" || two.Error.Data.Hint == "" || !strings.HasPrefix(two.Error.Message, "situation_report: ") {
			t.Errorf("%+v", two.Error)
		}
		three := p.next()
		if !strings.Contains(three, `"resultType":"complete"`) || !strings.Contains(three, metaServer) || strings.Contains(one, "resultType") {
			t.Errorf("each era has its own form:\n%s\n%s", one, three)
		}

		// From now on a call gets 200 ms, until LIVE again.
		for i := range 3 {
			begin = time.Now()
			p.send(report(4+i, "more"))
			p.next()
			if d := after(begin); d != missPatience {
				t.Errorf("spooled after %v", d)
			}
		}
		files := spoolFiles(t, cfg.Spool)
		if len(files) != 5 {
			t.Fatalf("spooled: %v", files)
		}
		var last Record
		for i, file := range files {
			rec, err := Read(filepath.Join(cfg.Spool, file))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%s-%06d.call", cfg.Hello.ID, i+1); file != want {
				t.Errorf("file %s, want %s", file, want)
			}
			if i > 0 && rec.Stamp.Slot == last.Stamp.Slot && rec.Stamp.Seq <= last.Stamp.Seq {
				t.Errorf("stamp %+v after %+v", rec.Stamp, last.Stamp)
			}
			if want := (Caller{Workspace: "api", Stream: "api", Session: cfg.Hello.ID, Client: rec.Caller.Client}); rec.Caller != want {
				t.Errorf("caller %+v", rec.Caller)
			}
			last = rec
		}

		f.setUp(true)
		p.send(report(9, "live"))
		if r := p.reply(); r.Result.Structured.EventID != 6 {
			t.Errorf("%+v", r)
		}
		f.check(t, "one", "", "more", "more", "more", "live")
		if left := spoolFiles(t, cfg.Spool); len(left) != 0 {
			t.Errorf("left in the spool: %v", left)
		}
		// LIVE again: a new outage has its five seconds.
		f.kill()
		begin = time.Now()
		p.send(report(10, "last"))
		p.next()
		if d := after(begin); d != lossPatience {
			t.Errorf("spooled after %v", d)
		}
		p.close()
	})
}

// What the service had done when it died, what it had only received, and what
// it had never seen: all of it in the spool, all of it once in the end.
func TestLossThenSpool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		f.handle = func(q *fakeRequest) {
			if q.c.n > 1 {
				q.answer(q.run())
			} else if strings.HasPrefix(q.Params.Args.Outcome, "done") {
				q.run()
			}
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "done 1"), report(2, "seen"), report(3, "done 2"), ask(4, "handoff_claim"))
		synctest.Wait()
		f.kill()
		begin := time.Now()
		p.send(report(5, "never sent"))
		for range 3 {
			if r := p.reply(); !r.Result.Structured.Spooled {
				t.Errorf("%+v", r)
			}
		}
		if d := after(begin); d != lossPatience {
			t.Errorf("spooled after %v", d)
		}
		if r := p.reply(); r.ID != 4.0 || r.Error.Data.Code != "unavailable" || !strings.Contains(r.Error.Message, "may have taken effect") {
			t.Errorf("%+v", r)
		}
		if r := p.reply(); r.ID != 5.0 || !r.Result.Structured.Spooled {
			t.Errorf("%+v", r)
		}
		f.setUp(true)
		p.send(report(6, "live"))
		if r := p.reply(); r.Result.Structured.EventID != 5 {
			t.Errorf("%+v", r)
		}
		f.check(t, "done 1", "done 2", "seen", "never sent", "live")
		p.close()
	})
}

// A service that comes back by itself gets what was spooled without waiting for
// the next call.
func TestSpoolIsBroughtHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		cfg := inMemory(t, f)
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"))
		p.next()
		f.setUp(true)
		time.Sleep(time.Second)
		f.check(t, "one")
		p.close()
	})
}

func TestOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		ready := time.Now().Add(8 * time.Second)
		f.greet = func(c *fakeConn, h Hello) *Line {
			for time.Now().Before(ready) {
				if c.say(Line{Welcome: &Welcome{State: StateOpening, Done: 0.5}}) != nil {
					return &Line{}
				}
				time.Sleep(500 * time.Millisecond)
			}
			return nil
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"), ask(2, "recent_events"))
		if r := p.reply(); !r.Result.Structured.Spooled {
			t.Errorf("%+v", r)
		}
		p.next()
		p.send(report(3, "two"))
		if r := p.reply(); !r.Result.Structured.Spooled {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Until(ready) + time.Second)
		// Serving now. The files came after the hello of the connection that
		// was opening, so there was another one.
		f.check(t, "one", "two")
		if n := f.connections(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		p.send(report(4, "three"))
		if r := p.reply(); r.Result.Structured.EventID != 3 {
			t.Errorf("%+v", r)
		}
		p.close()
	})
}

// A spooled call's slot is not used for a live one while its file is there:
// applied later, the file would find itself superseded and be lost.
func TestSlotWaitsForItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		dir := f.spool
		f.spool = "" // a service that does not come to drain
		f.handle = func(q *fakeRequest) {
			if q.c.n > 1 {
				q.answer(q.run())
			}
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"))
		synctest.Wait()
		f.kill()
		p.next()
		f.setUp(true)
		for i := range 3 {
			p.send(report(2+i, "live"))
			p.next()
		}
		f.check(t, "live", "live", "live")
		if s := f.slots[cfg.Hello.ID+"/0"]; s.seq != 0 {
			t.Errorf("slot 0 is in use, at %d", s.seq)
		}
		f.spool = dir
		f.drain()
		f.check(t, "live", "live", "live", "one")
		f.kill()
		synctest.Wait()
		f.setUp(true)
		p.send(report(7, "free again"))
		p.next()
		if s := f.slots[cfg.Hello.ID+"/0"]; s.seq != 2 {
			t.Errorf("slot 0 is at %d, want 2", s.seq)
		}
		p.close()
	})
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		code    string
		spools  bool
		rpc     int
		dataAs  string
		patient bool
	}{
		{RefusedVersion, true, codeVersion, "version", false},
		{RefusedCorrupt, true, codeCorrupt, "corrupt", false},
		{RefusedForbidden, false, codeInternal, "forbidden", false},
		{RefusedLedger, false, codeUnavailable, "unavailable", false},
		{"busy", true, codeUnavailable, "unavailable", true},
	} {
		t.Run(c.code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.greet = func(*fakeConn, Hello) *Line {
					return &Line{Refused: &Refused{Code: c.code, Message: "the ledger is odd", Hint: "do this"}}
				}
				cfg := inMemory(t, f)
				cfg.Spawn = func() error { t.Error("a service was started beside the one that is there"); return nil }
				p := start(t, t.Context(), cfg)
				for range 2 {
					begin := time.Now()
					p.send(report(1, "one"), ask(2, "recent_events"))
					one, two := p.reply(), p.reply()
					if d := after(begin); (d > 0) != c.patient {
						t.Errorf("answered after %v", d)
					}
					if one.Result.Structured.Spooled != c.spools {
						t.Errorf("a receipt: %+v", one)
					}
					if c.spools && !strings.Contains(one.Result.Content[0].Text, "the ledger is odd (do this)") {
						t.Errorf("a receipt: %+v", one)
					}
					if e := two.Error; e.Code != c.rpc || e.Data.Code != c.dataAs || e.Data.Hint != "do this" || !strings.Contains(e.Message, "the ledger is odd") {
						t.Errorf("a report: %+v", e)
					}
				}
				f.mu.Lock()
				f.greet = nil
				f.mu.Unlock()
				p.send(ask(3, "recent_events"))
				if r := p.reply(); r.Error.Code != 0 {
					t.Errorf("after the refusals: %+v", r)
				}
				if left := spoolFiles(t, cfg.Spool); len(left) != 0 {
					t.Errorf("left in the spool: %v", left)
				}
				p.close()
			})
		})
	}
}

func TestSpoolCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		cfg := inMemory(t, f)
		cfg.Spool = filepath.Join(t.TempDir(), "file", "spool")
		if err := os.WriteFile(filepath.Dir(cfg.Spool), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"))
		if r := p.reply(); r.Error.Data.Code != "unavailable" || !strings.Contains(r.Error.Message, "Nothing was recorded") || !strings.Contains(r.Error.Message, filepath.Dir(cfg.Spool)) {
			t.Errorf("%+v", r)
		}
		// What no service would take is not kept either.
		for i, args := range []string{`[]`, `"x"`, `{"outcome":"` + strings.Repeat("x", MaxSpooled) + `"}`} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"report_done","arguments":%s}}`, 2+i, args))
			if r := p.reply(); r.Error.Data.Code != "unavailable" {
				t.Errorf("%.20s: %+v", args, r)
			}
		}
		p.close()
	})
}

func TestFloodIntoTheSpool(t *testing.T) {
	const n = 3 * Slots
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		f.handle = func(q *fakeRequest) {
			if q.c.n > 1 {
				q.answer(q.run())
			} else if q.Params.Meta.Stamp.Seq%2 == 1 && len(q.Params.Args.Outcome) == 1 {
				q.run()
			}
		}
		p := start(t, t.Context(), cfg)
		want := map[string]bool{}
		for i := range n { // 32 are sent, the others wait for a slot
			p.send(report(i, fmt.Sprint(i)))
			want[fmt.Sprint(i)] = true
		}
		synctest.Wait()
		f.kill()
		for i := range n {
			if r := p.reply(); r.ID != float64(i) || !r.Result.Structured.Spooled {
				t.Fatalf("answer %d: %+v", i, r)
			}
		}
		f.setUp(true)
		for i := range 2 * Slots { // every slot is free again
			p.send(report(n+i, fmt.Sprint(n+i)))
			want[fmt.Sprint(n+i)] = true
		}
		for i := range 2 * Slots {
			if r := p.reply(); r.ID != float64(n+i) || r.Result.Structured.EventID == 0 {
				t.Fatalf("answer %d: %+v", n+i, r)
			}
		}
		got := f.outcomes()
		for _, o := range got {
			if !want[o] {
				t.Errorf("%s took effect twice, or was never said", o)
			}
			delete(want, o)
		}
		if len(want) > 0 {
			t.Errorf("lost: %v", want)
		}
		// The first ten had taken effect before the loss, the rest in order.
		if !slices.IsSortedFunc(got[10:], func(a, b string) int { return len(a) - len(b) }) {
			t.Errorf("took effect as %v", got)
		}
		p.close()
	})
}

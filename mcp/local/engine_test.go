package local

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory is the configuration of a bridge whose service is f, for tests in
// synthetic time.
func inMemory(t *testing.T, f *fake) BridgeConfig {
	f.spool = filepath.Join(t.TempDir(), "spool")
	return BridgeConfig{Hello: Hello{ID: NewID(), Version: "1", Workspace: "/home/a/api", Stream: "api"}, Dial: f.dial, Spool: f.spool}
}

// after waits until everything that could happen has, and says how long the
// clock went on since from.
func after(from time.Time) time.Duration {
	synctest.Wait()
	return time.Since(from)
}

func (f *fake) check(t *testing.T, want ...string) {
	t.Helper()
	if got := f.outcomes(); !slices.Equal(got, want) {
		t.Errorf("took effect: %v, want %v", got, want)
	}
}

func TestFirstCallConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		p := start(t, t.Context(), cfg)
		p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"codex","version":"0.50"}}}`)
		p.next()
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		p.next()
		synctest.Wait()
		if f.connections() != 0 {
			t.Error("connected before the first call")
		}
		for i, line := range []string{report(2, "one"), ask(3, "recent_events"), report(4, "two")} {
			p.send(line)
			if r := p.reply(); r.ID != float64(i+2) || r.Result.Structured.EventID != i+1 {
				t.Errorf("answer %d: %+v", i, r)
			}
		}
		h := f.hellos[0]
		if h.Role != RoleBridge || h.ID != cfg.Hello.ID || h.Client != "codex 0.50" || h.Era != "2025-06-18" || h.Stream != "api" || h.Tools != Digest() || h.PID != os.Getpid() {
			t.Errorf("hello: %+v", h)
		}
		if want := (ClientInfo{"codex", "0.50", "2025-06-18"}); len(f.named) != 1 || f.named[0] != want {
			t.Errorf("client lines: %+v", f.named)
		}
		if s := f.slots[cfg.Hello.ID+"/0"]; s.seq != 2 {
			t.Errorf("slot 0 is at %d, want 2: a slot is free when its answer came", s.seq)
		}
		// A client of the stateless era is named by its requests.
		p.send(strings.Replace(ask(5, "recent_events"), `"arguments"`, eraParams+`,"arguments"`, 1))
		p.next()
		if want := (ClientInfo{"c", "1", stateless}); len(f.named) != 2 || f.named[1] != want {
			t.Errorf("client lines: %+v", f.named)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSpawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		cfg := inMemory(t, f)
		var spawns []time.Duration
		begin := time.Now()
		cfg.Spawn = func() error {
			spawns = append(spawns, time.Since(begin))
			if len(spawns) == 3 {
				f.setUp(true)
			}
			return nil
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"))
		if r := p.reply(); r.Result.Structured.EventID != 1 {
			t.Errorf("%+v", r)
		}
		if spawns[0] > dialJitter || len(spawns) != 3 {
			t.Errorf("spawned at %v", spawns)
		}
		for i := range spawns[1:] {
			if gap := spawns[i+1] - spawns[i]; gap < spawnPause || gap > spawnPause+2*dialMost {
				t.Errorf("spawned at %v", spawns)
			}
		}
		p.close()
	})
}

func TestLossSendsAgainInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		var got []string
		f.handle = func(q *fakeRequest) {
			got = append(got, q.line)
			switch {
			case q.c.n == 2:
				q.answer(q.run())
			case string(q.ID) == "2":
				q.run() // takes effect, and then nobody is told
			}
		}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"), report(2, "two"), ask(3, "recent_events"), report(4, "four"), report(5, "five"))
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		synctest.Wait()
		first := slices.Clone(got)
		got = nil
		f.kill()
		f.setUp(true)
		for _, id := range []float64{1, 2, 3, 5} {
			if r := p.reply(); r.ID != id || r.Error.Code != 0 || r.Result.IsError {
				t.Errorf("answer to %v: %+v", id, r)
			}
		}
		if want := slices.Delete(first, 3, 4); !slices.Equal(got, want) {
			t.Errorf("sent again:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		f.check(t, "two", "one", "", "five")
		synctest.Wait()
		p.quiet()
		if len(f.notes) != 1 {
			t.Errorf("notifications: %v", f.notes)
		}
		p.close()
	})
}

// Half an answer is none.
func TestKilledWithinAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.handle = func(q *fakeRequest) {
			if q.c.n == 1 {
				io.WriteString(q.c, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te`)
				q.c.Close()
				return
			}
			q.answer(q.run())
		}
		p := start(t, t.Context(), inMemory(t, f))
		p.send(report(1, "one"))
		if r := p.reply(); r.Result.Structured.EventID != 1 {
			t.Errorf("%+v", r)
		}
		p.close()
	})
}

func TestSilentServiceIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.greet = func(c *fakeConn, h Hello) *Line {
			if c.n == 1 {
				io.Copy(io.Discard, c)
				return &Line{}
			}
			return nil
		}
		p := start(t, t.Context(), inMemory(t, f))
		begin := time.Now()
		p.send(ask(1, "recent_events"))
		if r := p.reply(); r.Error.Code != 0 {
			t.Errorf("%+v", r)
		}
		if d := time.Since(begin); d < HelloTimeout || d > HelloTimeout+dialMost {
			t.Errorf("took %v", d)
		}
		p.close()
	})
}

// A service that takes no bytes loses the connection; the client waits for
// nothing meanwhile.
func TestServiceStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		stuck := make(chan struct{})
		f.handle = func(q *fakeRequest) {
			if q.c.n == 1 {
				<-stuck
				return
			}
			q.answer(q.run())
		}
		p := start(t, t.Context(), inMemory(t, f))
		begin := time.Now()
		p.send(report(1, "one"))
		synctest.Wait()
		p.send(report(2, "two"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if r := p.reply(); r.ID != 3.0 || time.Since(begin) != 0 {
			t.Errorf("%+v after %v", r, time.Since(begin))
		}
		p.next()
		p.next()
		if d := time.Since(begin); d < writeTimeout || d > writeTimeout+dialJitter {
			t.Errorf("took %v", d)
		}
		f.check(t, "one", "two")
		close(stuck)
		p.close()
	})
}

// A call that ends the service each time is given up in the end.
func TestDeadlyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.handle = func(q *fakeRequest) {
			if string(q.ID) == "1" {
				q.c.Close()
				return
			}
			q.answer(q.run())
		}
		p := start(t, t.Context(), inMemory(t, f))
		p.send(ask(1, "situation_report"))
		if r := p.reply(); r.Error.Data.Code != "unavailable" {
			t.Errorf("%+v", r)
		}
		if n := f.connections(); n != maxSends {
			t.Errorf("sent %d times", n)
		}
		p.send(report(2, "one"))
		if r := p.reply(); r.Result.Structured.EventID != 1 {
			t.Errorf("%+v", r)
		}
		p.close()
	})
}

func TestDialErrorsOfOtherKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		cfg.Dial = func(context.Context, string) (net.Conn, error) { return nil, os.ErrPermission }
		cfg.Spawn = func() error { t.Error("a service was started where one cannot be reached"); return nil }
		p := start(t, t.Context(), cfg)
		p.send(ask(1, "recent_events"))
		if r := p.reply(); !strings.Contains(r.Error.Message, os.ErrPermission.Error()) {
			t.Errorf("%+v", r)
		}
		p.close()
	})
}

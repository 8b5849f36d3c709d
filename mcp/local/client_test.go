package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestClientCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.handle = func(*fakeRequest) {}
		c := Open(ConnectConfig{Dial: f.dial})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Call(ctx, "recent_events", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		if len(f.notes) != 1 || !strings.Contains(f.notes[0], `"notifications/cancelled","params":{"requestId":1}`) {
			t.Errorf("the service was told %v", f.notes)
		}
		c.Close()
	})
}

func TestConnectWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		begin := time.Now()
		_, err := Connect(t.Context(), ConnectConfig{Dial: f.dial})
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, syscall.ECONNREFUSED) || time.Since(begin) != lossPatience {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		_, err = Connect(t.Context(), ConnectConfig{Dial: f.dial, Wait: time.Second, Spawn: func() error { return os.ErrPermission }})
		if !errors.Is(err, os.ErrPermission) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if _, err := Connect(ctx, ConnectConfig{Dial: f.dial}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}

		// A start takes as long as it takes while it says so.
		begin = time.Now()
		ready := begin.Add(time.Minute)
		f.greet = func(c *fakeConn, h Hello) *Line {
			for time.Now().Before(ready) {
				c.say(Line{Welcome: &Welcome{State: StateOpening, Done: 0.25}})
				time.Sleep(500 * time.Millisecond)
			}
			return nil
		}
		told := 0
		c, err := Connect(t.Context(), ConnectConfig{Dial: f.dial, Spawn: func() error { f.setUp(true); return nil },
			Opening: func(done float64) {
				if told++; done != 0.25 {
					t.Errorf("done %v", done)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < time.Minute || told < 100 {
			t.Errorf("took %v, told %d times", d, told)
		}
		c.Close()

		f.greet = func(*fakeConn, Hello) *Line {
			return &Line{Refused: &Refused{Code: RefusedVersion, Message: "newer", Hint: "restart"}}
		}
		begin = time.Now()
		var refused *Refused
		if _, err := Connect(t.Context(), ConnectConfig{Dial: f.dial}); !errors.As(err, &refused) || refused.Code != RefusedVersion || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		// Another is started once in the place of one too old for its ledger, and
		// waited for.
		replaced := 0
		met := func(version string) bool {
			if version == "" {
				replaced++
			}
			return true
		}
		begin = time.Now()
		if _, err := Connect(t.Context(), ConnectConfig{Dial: f.dial, Met: met}); !errors.As(err, &refused) || replaced != 1 || time.Since(begin) < replaceWithin {
			t.Errorf("%v after %v, replaced %d times", err, time.Since(begin), replaced)
		}
		ready = time.Now().Add(replaceWithin / 2)
		refuse := f.greet
		f.greet = func(c *fakeConn, h Hello) *Line {
			if time.Now().Before(ready) {
				return refuse(c, h)
			}
			return nil
		}
		if c, err = Connect(t.Context(), ConnectConfig{Dial: f.dial, Met: met}); err != nil || replaced != 2 {
			t.Fatalf("%v, replaced %d times", err, replaced)
		}
		c.Close()
	})
}

// A receipt from a script: kept if nobody takes it, and once if somebody had.
func TestClientSpools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		dir := filepath.Join(t.TempDir(), "spool")
		f.handle = func(q *fakeRequest) { q.run(); f.kill() }
		c := Open(ConnectConfig{Dial: f.dial, Spool: dir})
		got, err := c.Call(t.Context(), "report_done", json.RawMessage(`{"outcome":"one"}`))
		if err != nil || !strings.HasPrefix(string(got.Structured), `{"spooled":true,"said_at":"`) {
			t.Errorf("%+v, %v", got, err)
		}
		c.Close()
		f.spool = dir
		f.drain()
		f.check(t, "one")

		// Without a folder it is an error.
		c = Open(ConnectConfig{Dial: f.dial})
		if _, err := c.Call(t.Context(), "report_done", nil); !errors.Is(err, ErrUnavailable) {
			t.Error(err)
		}
		c.Close()
	})
}

func TestOneLine(t *testing.T) {
	in := json.RawMessage("{\"a\":\n\r 1}")
	if got := oneLine(in); string(got) != `{"a":   1}` || !slices.Contains(in, '\n') {
		t.Errorf("%q from %q", got, in)
	}
}

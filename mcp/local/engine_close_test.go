package local

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestInputEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		release := make(chan struct{})
		f.handle = func(q *fakeRequest) {
			if q.Method == "subscriptions/listen" {
				return // it stays open
			}
			go func() {
				if q.Params.Args.Outcome == "slow" {
					<-release
				}
				q.answer(q.run())
			}()
		}
		p := start(t, t.Context(), cfg)
		begin := time.Now()
		p.send(report(1, "fast"), report(2, "slow"), ask(3, "recent_events"),
			`{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{}}`)
		time.AfterFunc(3*time.Second, func() { close(release) })
		if err := p.close(); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("took %v", d)
		}
		if got := f.outcomes(); !slices.Contains(got, "fast") || got[len(got)-1] != "slow" {
			t.Errorf("took effect: %v", got)
		}
		for range 3 {
			if r := p.reply(); r.ID == 4.0 || r.Error.Code != 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestInputEndsAndNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		cfg := inMemory(t, f)
		f.handle = func(*fakeRequest) {}
		p := start(t, t.Context(), cfg)
		p.send(report(1, "one"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait_task","arguments":{}}}`)
		time.Sleep(time.Minute) // it may take its time while the client is there
		p.quiet()
		begin := time.Now()
		if err := p.close(); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d != lossPatience {
			t.Errorf("took %v", d)
		}
		if r := p.reply(); !r.Result.Structured.Spooled {
			t.Errorf("%+v", r)
		}
		if r := p.reply(); r.ID != 2.0 || r.Error.Data.Code != "unavailable" {
			t.Errorf("%+v", r)
		}
		if files := spoolFiles(t, cfg.Spool); len(files) != 1 {
			t.Errorf("spooled: %v", files)
		}
	})
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.setUp(false)
		cfg := inMemory(t, f)
		ctx, cancel := context.WithCancel(t.Context())
		p := start(t, ctx, cfg)
		begin := time.Now()
		p.send(report(1, "one"), ask(2, "recent_events"))
		synctest.Wait()
		cancel()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("took %v", d)
		}
		if r := p.reply(); !r.Result.Structured.Spooled {
			t.Errorf("%+v", r)
		}
		if r := p.reply(); r.Error.Code != codeUnavailable {
			t.Errorf("%+v", r)
		}
		p.in.Close()
	})
}

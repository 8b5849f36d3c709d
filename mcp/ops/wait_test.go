package ops

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"steward/ledger"
)

func TestWaitFor(t *testing.T) {
	for _, c := range []struct {
		asked    time.Duration
		progress bool
		want     time.Duration
	}{
		{0, false, 0}, {0, true, 0}, {-1, true, 50 * time.Second}, {-1, false, 50 * time.Second},
		{time.Second, false, time.Second}, {time.Minute, false, 50 * time.Second},
		{time.Minute, true, time.Minute}, {time.Hour, true, 600 * time.Second},
	} {
		if got := waitFor(c.asked, c.progress); got != c.want {
			t.Errorf("asked %v, progress %v: %v, want %v", c.asked, c.progress, got, c.want)
		}
	}
}

// changes stands for the log: a channel that is closed at the next commit.
type changes struct {
	mu sync.Mutex
	c  chan struct{}
}

func (c *changes) channel() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c == nil {
		c.c = make(chan struct{})
	}
	return c.c
}

func (c *changes) commit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c != nil {
		close(c.c)
		c.c = nil
	}
}

func TestAwait(t *testing.T) {
	t.Run("ready at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			start := time.Now()
			ready, err := await(t.Context(), time.Minute, nil, c.channel, func() (bool, time.Duration, error) { return true, 0, nil })
			if !ready || err != nil || time.Since(start) != 0 {
				t.Errorf("%v, %v after %v", ready, err, time.Since(start))
			}
		})
	})
	t.Run("ready after a change", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			go func() {
				time.Sleep(7 * time.Second)
				c.commit()
			}()
			start, looks := time.Now(), 0
			ready, err := await(t.Context(), time.Minute, nil, c.channel, func() (bool, time.Duration, error) {
				looks++
				return time.Since(start) >= 7*time.Second, 0, nil
			})
			if !ready || err != nil || time.Since(start) != 7*time.Second || looks != 2 {
				t.Errorf("%v, %v after %v and %d looks", ready, err, time.Since(start), looks)
			}
		})
	})
	t.Run("a commit during the look is not missed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			looks := 0
			ready, err := await(t.Context(), time.Minute, nil, c.channel, func() (bool, time.Duration, error) {
				if looks++; looks == 1 {
					c.commit() // after the snapshot was taken
				}
				return looks == 2, 0, nil
			})
			if !ready || err != nil || looks != 2 {
				t.Errorf("%v, %v after %d looks", ready, err, looks)
			}
		})
	})
	t.Run("time is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			var told []float64
			start := time.Now()
			progress := func(done, total float64, _ string) {
				if total != 35 {
					t.Errorf("total %v", total)
				}
				told = append(told, done)
			}
			ready, err := await(t.Context(), 35*time.Second, progress, c.channel, func() (bool, time.Duration, error) { return false, 0, nil })
			if ready || err != nil || time.Since(start) != 35*time.Second {
				t.Errorf("%v, %v after %v", ready, err, time.Since(start))
			}
			if len(told) != 3 || told[0] != 10 || told[2] != 30 {
				t.Errorf("progress at %v", told)
			}
		})
	})
	t.Run("a change in the last rest is seen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			go func() {
				time.Sleep(time.Second - lookGap/2)
				c.commit()
				time.Sleep(lookGap / 4)
				c.commit()
			}()
			start := time.Now()
			ready, err := await(t.Context(), time.Second, nil, c.channel, func() (bool, time.Duration, error) {
				return time.Since(start) >= time.Second-lookGap/4, 0, nil
			})
			if !ready || err != nil {
				t.Errorf("%v, %v", ready, err)
			}
		})
	})
	t.Run("a busy ledger does not keep it looking", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			ctx, stop := context.WithCancel(t.Context())
			var busy sync.WaitGroup
			busy.Go(func() {
				for ctx.Err() == nil {
					time.Sleep(time.Millisecond)
					c.commit()
				}
			})
			defer busy.Wait()
			defer stop()
			looks := 0
			if _, err := await(ctx, time.Second, nil, c.channel, func() (bool, time.Duration, error) { looks++; return false, 0, nil }); err != nil {
				t.Error(err)
			}
			if most := int(time.Second/lookGap) + 2; looks > most {
				t.Errorf("%d looks in a second, at most %d", looks, most)
			}
		})
	})
	t.Run("given up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
			defer stop()
			start := time.Now()
			_, err := await(ctx, time.Minute, nil, c.channel, func() (bool, time.Duration, error) { return false, 0, nil })
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("a moment that the look names", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			start, looks := time.Now(), 0
			ready, err := await(t.Context(), time.Minute, nil, c.channel, func() (bool, time.Duration, error) {
				looks++
				left := 9*time.Second - time.Since(start)
				return left <= 0, left, nil
			})
			if !ready || err != nil || time.Since(start) != 9*time.Second || looks != 2 {
				t.Errorf("%v, %v after %v and %d looks", ready, err, time.Since(start), looks)
			}
		})
	})
	t.Run("one look", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			start := time.Now()
			ready, err := await(t.Context(), 0, nil, c.channel, func() (bool, time.Duration, error) { return false, time.Hour, nil })
			if ready || err != nil || time.Since(start) != 0 {
				t.Errorf("%v, %v after %v", ready, err, time.Since(start))
			}
		})
	})
	t.Run("a failed look ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c changes
			boom := errors.New("boom")
			if _, err := await(t.Context(), time.Minute, nil, c.channel, func() (bool, time.Duration, error) { return true, 0, boom }); !errors.Is(err, boom) {
				t.Error(err)
			}
		})
	})
}

type waitArgs struct {
	Until   int64 `json:"until" arg:"required,min=1"`
	Seconds int   `json:"seconds" arg:"min=1,max=600,default=50"`
}

type waitOut struct {
	Last  int64 `json:"last"`
	Ready bool  `json:"ready"`
}

func waitForEvent(done func(*ledger.Tx, Caller, waitArgs) (waitOut, error)) Op {
	return Wait(Spec{Name: "wait_probe", Title: "t", Text: "t", Surfaces: Agent},
		func(in waitArgs) time.Duration { return time.Duration(in.Seconds) * time.Second },
		func(v *ledger.View, _ Caller, in waitArgs) (waitOut, bool, error) {
			h, err := v.Head()
			return waitOut{h.LastID, h.LastID >= in.Until}, h.LastID >= in.Until, err
		}, done)
}

// On a real ledger: the wait ends with the commit it waits for, and the mark of
// delivery is written in its own transaction.
func TestWaitOnLedger(t *testing.T) {
	b := newBench(t)
	mark := func(tx *ledger.Tx, c Caller, in waitArgs) (waitOut, error) {
		e, err := tx.Append(c.event("steward", "delivered"))
		return waitOut{e.ID, true}, err
	}
	s := NewSet(b.env, waitForEvent(mark))
	got := make(chan Result, 1)
	go func() {
		r, err := s.Call(context.Background(), agent, "wait_probe", []byte(`{"until":2}`))
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	b.ok(t, agent, "report_done", `{"actor":"a"}`)
	b.ok(t, agent, "report_done", `{"actor":"a"}`)
	if r := <-got; string(r.JSON) != `{"last":3,"ready":true}` {
		t.Errorf("got %s", r.JSON)
	}
}

func TestWaitTimesOut(t *testing.T) {
	b := newBench(t)
	op := waitForEvent(nil)
	if !op.ReadOnly() || op.Kind != Waits {
		t.Errorf("a wait without a mark: kind %v, read-only %v", op.Kind, op.ReadOnly())
	}
	s := NewSet(b.env, op)
	r, err := s.Call(context.Background(), agent, "wait_probe", []byte(`{"until":1,"seconds":1}`))
	if err != nil || string(r.JSON) != `{"last":0,"ready":false}` {
		t.Errorf("got %s, %v", r.JSON, err)
	}
}

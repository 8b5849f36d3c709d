package ops

import (
	"context"
	"encoding/json"
	"time"

	"steward/ledger"
)

// Bounds of a wait. Clients give up a call after 60 s or more, so a wait ends
// before that unless the client keeps it alive by asking for progress.
const (
	defaultWait  = 50 * time.Second
	longestWait  = 600 * time.Second
	progressStep = 10 * time.Second
	lookGap      = 20 * time.Millisecond // between two looks, however busy the ledger is
)

// waker is a result that is ready by time alone, at that moment of the ledger's
// clock; 0 for never. A wait looks again then, though nothing is committed.
type waker interface{ wakesAt() ledger.Millis }

// Wait makes an operation that looks until look is ready or time is up; then
// the last look's result is the answer, ready or not. limit is how long this
// call may take: nil or a negative time means 50 s, 0 is one look, more than 50 s
// only for a caller with Progress, never more than 600 s. done is optional and marks the
// delivery in a transaction of its own; its result is the answer of a wait
// that became ready.
func Wait[I, O any](spec Spec, limit func(I) time.Duration,
	look func(*ledger.View, Caller, I) (out O, ready bool, err error),
	done func(*ledger.Tx, Caller, I) (O, error),
) Op {
	op := newOp[I, O](spec, Waits)
	op.writes = done != nil
	op.call = func(ctx context.Context, env *Env, c Caller, args json.RawMessage) (Result, error) {
		in, err := decode[I](op.In, args)
		if err != nil {
			return Result{}, err
		}
		asked := time.Duration(-1)
		if limit != nil {
			asked = limit(in)
		}
		var out O
		ready, err := await(ctx, waitFor(asked, c.Progress != nil), c.Progress, env.Log.Changed, func() (ready bool, again time.Duration, err error) {
			err = env.Log.View(ctx, func(v *ledger.View) error {
				out, ready, err = look(v, c, in)
				if w, ok := any(out).(waker); ok && w.wakesAt() > 0 {
					again = max(time.Duration(w.wakesAt()-v.Now())*time.Millisecond, time.Millisecond)
				}
				return err
			})
			return ready, again, err
		})
		if err != nil {
			return Result{}, err
		}
		if ready && done != nil {
			return update(ctx, env, c, op.Name, args, func(tx *ledger.Tx) (O, error) { return done(tx, c, in) })
		}
		return result(out)
	}
	return op
}

// waitFor applies the bounds to what was asked for.
func waitFor(asked time.Duration, progress bool) time.Duration {
	switch {
	case asked < 0:
		return defaultWait
	case !progress:
		return min(asked, defaultWait)
	}
	return min(asked, longestWait)
}

// await looks at once, after each change and after the time that look names, until
// look is ready, limit has passed (then it looks a last time) or ctx ends.
func await(ctx context.Context, limit time.Duration, progress func(done, total float64, text string),
	changed func() <-chan struct{}, look func() (ready bool, again time.Duration, err error),
) (bool, error) {
	start := time.Now()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	var tick <-chan time.Time
	if progress != nil {
		t := time.NewTicker(progressStep)
		defer t.Stop()
		tick = t.C
	}
	gap, next := time.NewTimer(0), time.NewTimer(0)
	defer gap.Stop()
	defer next.Stop()
	wake := changed() // taken before the look, so that no commit falls between the two
	for {
		ready, again, err := look()
		if ready || err != nil || limit == 0 {
			return ready, err
		}
		gap.Reset(lookGap)
		rested, due := gap.C, wake
		var moment <-chan time.Time
		if again > 0 {
			next.Reset(again)
			moment = next.C
		}
		for rested != nil || due != nil {
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-deadline.C:
				ready, _, err := look() // what changed while this wait rested must not be missed
				return ready, err
			case <-moment:
				due = nil
			case <-tick:
				progress(time.Since(start).Seconds(), limit.Seconds(), "waiting")
			case <-rested:
				rested = nil
			case <-due:
				due = nil
			}
		}
		wake = changed()
	}
}

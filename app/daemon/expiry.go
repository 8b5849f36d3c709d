package daemon

import (
	"context"
	"time"

	"steward/handoff/ticket"
	"steward/ledger"
)

const (
	expiryLook  = time.Minute           // how long nothing is looked at, at most: the clock may be set, the machine sleep
	expiryPause = 50 * time.Millisecond // between two looks, however busy the ledger is
	expiryAgain = 10 * time.Second      // after one could not be written down
)

// expiries lets expire work until stop is called, which waits for its end.
func (s *service) expiries(log *ledger.Log) (stop func()) {
	ctx, cancel := context.WithCancel(s.going)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.expire(ctx, log)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// expire writes down the expiries of tickets as their time comes, until ctx
// ends. Readers do not wait for it: for them a ticket is expired by its time
// alone.
func (s *service) expire(ctx context.Context, log *ledger.Log) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := log.Changed()
		wait, err := s.expireDue(ctx, log)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			s.Logger.Warn("an expiry is not written down yet", "error", err)
			wait, changed = expiryAgain, nil
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			continue
		case <-changed:
		}
		timer.Reset(min(wait, expiryPause))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// expireDue writes down what is due, and returns how long nothing will be.
func (s *service) expireDue(ctx context.Context, log *ledger.Log) (wait time.Duration, err error) {
	for {
		var next, now ledger.Millis
		err := log.View(ctx, func(v *ledger.View) (err error) {
			now = v.Now()
			next, err = ticket.NextExpiry(v)
			return err
		})
		switch left := time.Duration(next-now) * time.Millisecond; {
		case err != nil:
			return 0, err
		case next == 0:
			return expiryLook, nil
		case left > 0:
			return min(left, expiryLook), nil
		}
		if _, err := log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			_, err := ticket.RecordExpired(tx)
			return nil, err
		}); err != nil {
			return 0, err
		}
	}
}

// asked tells whether a ticket waits for the person: the service does not leave
// then.
func asked(ctx context.Context, log *ledger.Log) bool {
	var n ticket.Count
	err := log.View(ctx, func(v *ledger.View) (err error) {
		n, _, err = ticket.Counts(v, v.Now())
		return err
	})
	return err == nil && n.Pending > 0
}

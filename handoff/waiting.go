package handoff

import (
	"fmt"
	"time"

	"steward/ledger"
)

// waitingRead is how many pending handoffs of one target Waiting looks at.
const waitingRead = 200

// A released handoff waits since its release, which is the newest of its events.
const selectPending = `SELECT CASE fence WHEN 0 THEN created_at ELSE coalesce(
		(SELECT at FROM events WHERE id = (SELECT max(event_id) FROM handoff_events WHERE handoff = seq)), created_at) END
	FROM handoffs WHERE target=? AND status=? ORDER BY seq DESC LIMIT ?`

// Waiting returns how many handoffs have been pending for at least long, and
// when time alone next makes it one more; 0 when no pending one is younger. Of
// each target the 200 created last are looked at; those created before them are
// taken to have waited for as long.
func Waiting(v *ledger.View, long time.Duration) (n int64, next ledger.Millis, err error) {
	counts, err := Counts(v)
	if err != nil || counts.Pending == 0 {
		return 0, 0, err
	}
	targets, err := column[string](v, selectTargets)
	if err != nil {
		return 0, 0, err
	}
	span := ledger.Millis(long.Milliseconds())
	n = counts.Pending
	for _, t := range targets {
		since, err := column[int64](v, selectPending, t, int64(Pending), waitingRead)
		if err != nil {
			return 0, 0, fmt.Errorf("handoff: waiting: %w", err)
		}
		for _, at := range since {
			ripe := ledger.Millis(at) + span
			if ripe <= v.Now() {
				continue
			}
			n--
			if next == 0 || ripe < next {
				next = ripe
			}
		}
	}
	return n, next, nil
}

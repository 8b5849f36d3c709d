package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// The order is the id. After the clock went back, newer lanes can have older
// times and stand before those that are moving.
func TestMoversBehindLanesOfAnotherTime(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	ledgertest.Append(t, l, ledger.Event{Actor: "moving", Type: "done"})
	clock.Add(-2 * time.Hour)
	for i := range 5 {
		ledgertest.Append(t, l, ledger.Event{Actor: fmt.Sprint("before ", i), Type: "done"})
	}
	clock.Add(2 * time.Hour)
	ledgertest.View(t, l, func(v *ledger.View) error {
		total, _, items, err := v.Movers("", ledger.At(clock.Now().Add(-30*time.Minute)), 10)
		if total != 1 || len(items) != 1 || items[0].Actor != "moving" {
			t.Errorf("%d %+v", total, items)
		}
		return err
	})
}

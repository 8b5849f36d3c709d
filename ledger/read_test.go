package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

func TestReadFileChooses(t *testing.T) {
	clock := ledgertest.NewClock()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := ledgertest.OpenWith(t, ledger.Options{Path: path, Now: clock.Now})
	start := ledger.At(clock.Now())
	for range 3 {
		if _, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
			for i := range 4000 { // more than a slice in all
				if _, err := tx.Append(ledger.Event{Actor: fmt.Sprint(i % 4), Type: "note"}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
		clock.Add(time.Hour)
	}
	hour := ledger.Millis(time.Hour.Milliseconds())
	for _, c := range []struct {
		s    ledger.Selection
		want int
	}{
		{ledger.Selection{}, 12000}, {ledger.Selection{Actor: "3"}, 3000}, {ledger.Selection{Actor: "nobody"}, 0},
		{ledger.Selection{From: start + 1}, 8000}, {ledger.Selection{To: start + hour}, 8000}, {ledger.Selection{From: start + hour, To: start + hour, Actor: "1"}, 1000},
	} {
		n, last := 0, int64(0)
		err := ledger.ReadFile(context.Background(), path, c.s, func(e ledger.Event) error {
			if e.ID <= last {
				t.Fatalf("event %d after %d", e.ID, last)
			}
			last = e.ID
			n++
			return nil
		})
		if err != nil || n != c.want {
			t.Errorf("%+v: %d events, %v; want %d", c.s, n, err, c.want)
		}
	}
	stop := errors.New("stop")
	if err := ledger.ReadFile(context.Background(), path, ledger.Selection{}, func(ledger.Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if err := ledger.ReadFile(context.Background(), path+"x", ledger.Selection{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

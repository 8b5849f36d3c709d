package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// told is what one follower heard, and stops it after want notices.
func told(t *testing.T, b *bench, after int64, want int, meanwhile func(n int)) (got []Notice) {
	t.Helper()
	enough := errors.New("enough")
	err := b.Follow(t.Context(), after, func(n Notice) error {
		got = append(got, n)
		if len(got) == want {
			return enough
		}
		if meanwhile != nil {
			meanwhile(len(got))
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatalf("the follower ended with %v", err)
	}
	return got
}

func (b *bench) receipts(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if _, err := b.Call(t.Context(), agent, "report_done", fmt.Appendf(nil, `{"actor":"a","object_id":"o%d"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFollowReplaysInOrder(t *testing.T) {
	b := newBench(t)
	b.receipts(t, 120)
	var ids []int64
	for _, n := range told(t, b, 7, 3, nil) {
		var d LedgerNotice
		if err := json.Unmarshal(n.Data, &d); err != nil || n.Type != NoticeLedger {
			t.Fatalf("%s: %v", n.Type, err)
		}
		if len(d.Events) > noticeEvents || d.LastID != n.ID {
			t.Errorf("%d events, last_id %d under id %d", len(d.Events), d.LastID, n.ID)
		}
		for _, e := range d.Events {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) != 113 || ids[0] != 8 || ids[112] != 120 || !slices.IsSorted(ids) {
		t.Errorf("got %d events from %d to %d", len(ids), ids[0], ids[len(ids)-1])
	}
}

func TestFollowSaysResetAfterALongAbsence(t *testing.T) {
	b := newBench(t)
	b.receipts(t, noticeReplay+2)
	n := told(t, b, 1, 1, nil)[0]
	if n.Type != NoticeReset || n.ID != noticeReplay+2 || string(n.Data) != fmt.Sprintf(`{"last_id":%d}`, noticeReplay+2) {
		t.Errorf("got %s %d %s", n.Type, n.ID, n.Data)
	}
}

// A follower that begins now, or beyond the end, hears what comes next and
// nothing of before.
func TestFollowFromNow(t *testing.T) {
	for _, after := range []int64{-1, 99} {
		b := newBench(t)
		b.receipts(t, 3)
		b.Stir() // before it began
		done := make(chan Notice, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := make(chan struct{})
		var once sync.Once
		go func() {
			_ = b.Follow(ctx, after, func(n Notice) error {
				if n.Type == NoticeChanged {
					once.Do(func() { close(began) })
					return nil
				}
				done <- n
				return errors.New("enough")
			})
		}()
		for waiting := true; waiting; { // until it listens
			b.Stir()
			select {
			case <-began:
				waiting = false
			default:
			}
		}
		b.receipts(t, 1)
		if n := <-done; n.ID != 4 || n.Type != NoticeLedger {
			t.Errorf("after %d: got %s %d", after, n.Type, n.ID)
		}
	}
}

// What happens while emit takes its time is told afterwards, each event once.
func TestFollowMissesNothingMeanwhile(t *testing.T) {
	b := newBench(t)
	b.receipts(t, 1)
	seen := map[int64]int{}
	stop := errors.New("enough")
	err := b.Follow(t.Context(), 0, func(n Notice) error {
		if n.Type != NoticeLedger {
			return nil
		}
		var d LedgerNotice
		if err := json.Unmarshal(n.Data, &d); err != nil {
			return err
		}
		for _, e := range d.Events {
			seen[e.ID]++
		}
		if n.ID == 200 {
			return stop
		}
		b.receipts(t, min(37, int(200-n.ID)))
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	for id := int64(1); id <= 200; id++ {
		if seen[id] != 1 {
			t.Errorf("event %d was told %d times", id, seen[id])
		}
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Follow(ctx, -1, func(Notice) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

package ledger_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

func look(t *testing.T, l *ledger.Log, viewer string, through int64) (int64, ledger.Millis, error) {
	t.Helper()
	var kept int64
	var at ledger.Millis
	_, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		var err error
		kept, at, err = tx.Look(viewer, through)
		return nil, err
	})
	return kept, at, err
}

func TestLook(t *testing.T) {
	clock := ledgertest.NewClock()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(context.Background(), ledger.Options{Path: path, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	looked := func(l *ledger.Log, viewer string) (through int64, at ledger.Millis) {
		t.Helper()
		ledgertest.View(t, l, func(v *ledger.View) (err error) {
			through, at, err = v.Looked(viewer)
			return err
		})
		return through, at
	}
	if through, at := looked(l, "person"); through != 0 || at != 0 {
		t.Errorf("before the first look: %d at %s", through, at)
	}
	for range 5 {
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "note"})
	}
	for i, s := range []struct{ through, want int64 }{{-7, 0}, {3, 3}, {2, 3}, {99, 5}, {0, 5}} {
		clock.Add(time.Second)
		kept, at, err := look(t, l, "person", s.through)
		if err != nil || kept != s.want || at != ledger.At(clock.Now()) {
			t.Errorf("look %d through %d: %d at %s, %v", i, s.through, kept, at, err)
		}
		if through, when := looked(l, "person"); through != kept || when != at {
			t.Errorf("look %d: kept %d at %s, reads %d at %s", i, kept, at, through, when)
		}
	}
	if through, _ := looked(l, "somebody else"); through != 0 {
		t.Errorf("another viewer's mark is %d", through)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		if h, err := v.Head(); err != nil || h.LastID != 5 {
			t.Errorf("a look appended: %+v, %v", h, err)
		}
		return nil
	})
	ledgertest.Verify(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := ledgertest.OpenWith(t, ledger.Options{Path: path})
	if through, _ := looked(again, "person"); through != 5 {
		t.Errorf("after opening again: %d", through)
	}
}

// TestLookSeesItsOwnUpdate: an update may append and look at it in one.
func TestLookSeesItsOwnUpdate(t *testing.T) {
	l := ledgertest.Open(t, nil)
	_, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		e, err := tx.Append(ledger.Event{Actor: "a", Type: "note"})
		if err != nil {
			return nil, err
		}
		if kept, _, err := tx.Look("person", e.ID); err != nil || kept != e.ID {
			t.Errorf("%d, %v", kept, err)
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLookRefusesNames(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for _, name := range []string{"", "  ", "a\x00b", "\xff", strings.Repeat("x", 65)} {
		_, _, err := look(t, l, name, 1)
		var f *ledger.FieldError
		if !errors.As(err, &f) || f.Field != "viewer" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, _, err := look(t, l, strings.Repeat("语", 64), 1); err != nil {
		t.Errorf("64 characters: %v", err)
	}
}

// TestLookWakes: followers see that something moved although no event came.
func TestLookWakes(t *testing.T) {
	l := ledgertest.Open(t, nil)
	changed := l.Changed()
	if _, _, err := look(t, l, "person", 0); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Error("nobody was woken")
	}
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
)

func TestKeyTailPacksAndUnpacks(t *testing.T) {
	var tail keyTail
	for id := int64(1); id < 1<<50; id = id*3 + 7 {
		tail.add(id)
		var back keyTail
		if err := back.unpack(tail.pack()); err != nil || !reflect.DeepEqual(back.ids, tail.ids) {
			t.Fatalf("%v became %v, %v", tail.ids, back.ids, err)
		}
	}
	for id := range int64(100) {
		tail.add(1<<51 + id)
	}
	if len(tail.ids) != keysKept || tail.ids[0] != 1<<51+100-keysKept {
		t.Errorf("%v", tail.ids)
	}
	for _, bad := range []string{"\x80", "\x05\x05", "\x05\x07", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x05\x00"} {
		if err := new(keyTail).unpack([]byte(bad)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// keyModel is what KeyEvents has to answer, from a plain list.
func keyModel(all []Event, ws string, since int64, limit int) (ids []int64, more bool, last int64) {
	for i := len(all) - 1; i >= 0; i-- {
		if e := all[i]; e.Injectable && (ws == "" || e.Workspace == ws) {
			last = max(last, e.ID)
			if e.ID > since && len(ids) == limit {
				more = true
			} else if e.ID > since {
				ids = append(ids, e.ID)
			}
		}
	}
	return ids, more, last
}

func checkKeys(t *testing.T, l *Log) {
	t.Helper()
	var all []Event
	err := l.View(context.Background(), func(v *View) (err error) {
		if all, _, err = v.Events(0, 1000); err != nil {
			return err
		}
		for _, ws := range []string{"", "w0", "w1", "w2", "w3", "nowhere"} {
			for _, since := range []int64{0, 1, 40, 77, 150, 299, 300} {
				for _, limit := range []int{1, 20, 40, 41, 42, 90, 500} {
					events, more, last, err := v.KeyEvents(ws, since, limit)
					if err != nil {
						return err
					}
					var ids []int64
					for _, e := range events {
						ids = append(ids, e.ID)
					}
					wantIDs, wantMore, wantLast := keyModel(all, ws, since, limit)
					if !reflect.DeepEqual(ids, wantIDs) || more != wantMore || last != wantLast {
						t.Errorf("%q since %d, %d: %v %v %d, want %v %v %d", ws, since, limit, ids, more, last, wantIDs, wantMore, wantLast)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := l.Verify(context.Background()); err != nil || !r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}

// keyEvents are 300: w0 has most key events, w1 41, w2 seven, w3 none.
func keyEvents() (out []Event) {
	for i := range 300 {
		e := Event{Actor: "a", Type: "done", Injectable: true, Workspace: "w0", Outcome: fmt.Sprint(i)}
		switch {
		case i%7 == 3 && i < 287:
			e.Workspace = "w1"
		case i%42 == 5 && i < 290:
			e.Workspace = "w2"
		case i%11 == 0:
			e.Workspace, e.Injectable = "w3", false
		case i%13 == 0:
			e.Workspace = ""
		}
		out = append(out, e)
	}
	return out
}

func TestKeyEventsOfWorkspaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	for range 2 { // the second time what is kept is read from the file and added to
		l, err := Open(context.Background(), Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range keyEvents()[:150] {
			if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
				_, err := tx.Append(e)
				return nil, err
			}); err != nil {
				t.Fatal(err)
			}
		}
		checkKeys(t, l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigrationFillsKeys brings a full ledger of schema 1 to this one.
func TestMigrationFillsKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
		for _, e := range keyEvents() {
			if _, err := tx.Append(e); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.step(`DROP TABLE tickets; DROP TABLE ticket_events; DROP TABLE viewers; DROP TABLE keys;
		CREATE INDEX events_key_ws ON events(workspace)  WHERE injectable = 1 AND workspace IS NOT NULL;
		CREATE INDEX slots_at ON slots(at)`, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(context.Background(), Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	checkKeys(t, l)
}

// TestMemoryFollowsARollback: what the writer holds in memory of failures, key
// events and slots goes back with an update that fails after it has written.
func TestMemoryFollowsARollback(t *testing.T) {
	l, err := Open(context.Background(), Options{Path: filepath.Join(t.TempDir(), "ledger.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	send := func(stamp *Stamp, fail error, events ...Event) ([]byte, error) {
		return l.Update(context.Background(), stamp, [32]byte{}, func(tx *Tx) ([]byte, error) {
			for _, e := range events {
				if _, err := tx.Append(e); err != nil {
					return nil, err
				}
			}
			h, _ := tx.Head()
			return []byte(fmt.Sprint(h.LastID)), fail
		})
	}
	failed := Event{Actor: "a", Type: "failed", Object: "1", Workspace: "w", Injectable: true}
	other := Event{Actor: "a", Type: "failed", Object: "2", Workspace: "w", Injectable: true}
	done := Event{Actor: "a", Type: "done", Object: "1", Workspace: "w", Injectable: true}
	standing := func(want int64) {
		t.Helper()
		l.View(context.Background(), func(v *View) error {
			if n, items, err := v.Failures("w", 10); err != nil || n != want || int64(len(items)) != want {
				t.Errorf("%d failures stand (%d listed), want %d; %v", n, len(items), want, err)
			}
			return nil
		})
		if r, err := l.Verify(context.Background()); err != nil || !r.OK() {
			t.Errorf("%+v, %v", r, err)
		}
	}
	no := errors.New("no")
	for round := range 3 { // the first runs without savepoints and starts over, the next ones with them
		seq := uint64(round + 1)
		if _, err := send(nil, nil, failed); err != nil {
			t.Fatal(err)
		}
		standing(1)
		if _, err := send(&Stamp{Bridge: "b", Seq: seq}, no, done, other, done, failed, done); !errors.Is(err, no) {
			t.Fatal(err)
		}
		standing(1)
		if _, err := send(nil, no, other); !errors.Is(err, no) {
			t.Fatal(err)
		}
		first, err := send(&Stamp{Bridge: "b", Seq: seq}, nil, other) // its first try took no effect
		if err != nil {
			t.Fatal(err)
		}
		standing(2)
		if again, err := send(&Stamp{Bridge: "b", Seq: seq}, nil, other); err != nil || string(again) != string(first) {
			t.Errorf("sent again: %q, then %q, %v", first, again, err)
		}
		if _, err := send(&Stamp{Bridge: "b", Seq: seq - 1}, nil, other); seq > 1 && !errors.Is(err, ErrSuperseded) {
			t.Errorf("an older number: %v", err)
		}
		other.Type, other.Outcome = "resolved", ""
		if _, err := send(nil, nil, done, other); err != nil {
			t.Fatal(err)
		}
		other.Type = "failed"
		standing(0)
	}
}

// TestMoreFailuresThanMemoryHolds: beyond openKept the file is asked again.
func TestMoreFailuresThanMemoryHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	for round := range 2 {
		l, err := Open(context.Background(), Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		send := func(from, to int, typ string) {
			t.Helper()
			if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
				for i := from; i < to; i++ {
					if _, err := tx.Append(Event{Actor: "a", Type: typ, Object: fmt.Sprint(i)}); err != nil {
						return nil, err
					}
				}
				return nil, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		send(0, openKept+2, "failed")
		if l.w.open != nil {
			t.Errorf("round %d: %d failures are held", round, len(l.w.open))
		}
		send(0, 3, "done")
		send(2, 4, "failed")
		if r, err := l.Verify(context.Background()); err != nil || !r.OK() || l.w.head.unresolved != openKept {
			t.Errorf("round %d: %d failures, %+v, %v", round, l.w.head.unresolved, r, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

func TestWhatFailsAndWhatResolves(t *testing.T) {
	fails := func(typ, outcome string) bool { e := ledger.Event{Type: typ, Outcome: outcome}; return e.Failing() }
	for _, c := range []struct {
		typ, outcome string
		want         bool
	}{
		{"failed", "", true}, {"error", "", true}, {"build_failed", "", true}, {"deploy.error", "", true}, {"x-failed", "", true}, {"Build_FAILED", "", true},
		{"unfailed", "", false}, {"terror", "", false}, {"failed_later", "", false}, {"failure", "", false}, {"错failed", "", false},
		{"done", "failed", true}, {"done", "ERROR", true}, {"done", "Failure", true}, {"done", "it failed", false}, {"done", "", false},
	} {
		if got := fails(c.typ, c.outcome); got != c.want {
			t.Errorf("type %q outcome %q: %v", c.typ, c.outcome, got)
		}
	}
	e := ledger.Event{Type: "failed", Source: ledger.Import}
	if e.Failing() || e.Moving() {
		t.Error("an imported event fails or moves")
	}
	for _, c := range []struct {
		e    ledger.Event
		want bool
	}{{ledger.Event{Type: "done"}, true}, {ledger.Event{Type: "resolved"}, true}, {ledger.Event{Type: "Done"}, false}, {ledger.Event{Type: "done", Outcome: "error"}, false}, {ledger.Event{Type: "done", Source: ledger.Import}, false}} {
		if got := c.e.Resolving(); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}

func TestFailuresStandUntilTheSameTripleIsDone(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	f := func(actor, object, ws string) ledger.Event {
		clock.Add(time.Second)
		return ledger.Event{Actor: actor, Type: "build_failed", Object: object, Workspace: ws}
	}
	ledgertest.Append(t, l, f("a", "1", "w"), f("a", "1", "w"), f("a", "", "w"), f("a", "1", ""), f("b", "1", "w"), f("b", "2", "v"))
	standing := func(ws string) (out []string) {
		ledgertest.View(t, l, func(v *ledger.View) error {
			total, items, err := v.Failures(ws, 100)
			if int(total) != len(items) {
				t.Errorf("total %d of %d", total, len(items))
			}
			for _, x := range items {
				out = append(out, fmt.Sprintf("%s/%s/%s x%d", x.Actor, x.Object, x.Workspace, x.Count))
			}
			return err
		})
		return out
	}
	want := func(ws, list string) {
		t.Helper()
		if got := strings.Join(standing(ws), " "); got != list {
			t.Errorf("workspace %q: %s, want %s", ws, got, list)
		}
	}
	want("", "b/2/v x1 b/1/w x1 a/1/ x1 a//w x1 a/1/w x2")
	want("w", "b/1/w x1 a//w x1 a/1/w x2")
	want("nowhere", "")
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Object: "1", Workspace: "w"}, ledger.Event{Actor: "a", Type: "resolved", Workspace: "w"}, ledger.Event{Actor: "a", Type: "done", Object: "9", Workspace: "w"})
	want("", "b/2/v x1 b/1/w x1 a/1/ x1")

	ledgertest.View(t, l, func(v *ledger.View) error {
		x, err := v.FailureOf("b", "2", "v")
		if x.Count != 1 || x.FirstID != x.ID || x.FirstAt != x.At {
			t.Errorf("%+v", x)
		}
		for _, miss := range [][3]string{{"b", "", "v"}, {"b", "2", ""}, {"nobody", "", ""}} {
			if _, err := v.FailureOf(miss[0], miss[1], miss[2]); !errors.Is(err, ledger.ErrNotFound) {
				t.Errorf("%v: %v", miss, err)
			}
		}
		return err
	})
	data, _ := json.Marshal(ledger.Acknowledgement{Actor: "b", Object: "2", Workspace: "v"})
	ledgertest.Append(t, l,
		ledger.Event{Actor: "liar", Type: ledger.TypeAcknowledged, Data: data}, // an agent's word acknowledges nothing
		ledger.Event{Actor: "user", Type: ledger.TypeAcknowledged, Source: ledger.Person, Data: data},
		ledger.Event{Actor: "user", Type: ledger.TypeAcknowledged, Source: ledger.Person, Data: data})
	want("", "b/1/w x1 a/1/ x1")
	want("v", "")
	ledgertest.Verify(t, l)
}

func TestKeyEvents(t *testing.T) {
	l := ledgertest.Open(t, nil)
	for i := range 30 {
		ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Injectable: i%2 == 0, Workspace: []string{"w", "v", ""}[i%3]})
	}
	ids := func(ws string, since int64, limit int) (out []int64, more bool, last int64) {
		ledgertest.View(t, l, func(v *ledger.View) error {
			events, m, l, err := v.KeyEvents(ws, since, limit)
			for _, e := range events {
				out = append(out, e.ID)
			}
			more, last = m, l
			return err
		})
		return
	}
	if got, more, last := ids("", 0, 3); !slices.Equal(got, []int64{29, 27, 25}) || !more || last != 29 {
		t.Error(got, more, last)
	}
	if got, more, last := ids("", 25, 3); !slices.Equal(got, []int64{29, 27}) || more || last != 29 {
		t.Error(got, more, last)
	}
	if got, more, last := ids("w", 0, 2); !slices.Equal(got, []int64{25, 19}) || !more || last != 25 {
		t.Error(got, more, last)
	}
	if got, more, last := ids("w", 25, 2); len(got) != 0 || more || last != 25 {
		t.Error(got, more, last)
	}
	if got, more, last := ids("none", 0, 2); len(got) != 0 || more || last != 0 {
		t.Error(got, more, last)
	}
}

func TestMoversAreActors(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	ledgertest.Append(t, l, ledger.Event{Actor: "old", Type: "done"})
	clock.Add(31 * time.Minute)
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "done", Workspace: "w"}, ledger.Event{Actor: "b", Type: "progress"})
	clock.Add(5 * time.Minute)
	ledgertest.Append(t, l, ledger.Event{Actor: "a", Type: "note", Workspace: "v", Outcome: "last"}, ledger.Event{Actor: "user", Type: "focus"}, ledger.Event{Actor: "past", Type: "done", Source: ledger.Import})
	since := ledger.At(clock.Now().Add(-30 * time.Minute))
	ledgertest.View(t, l, func(v *ledger.View) error {
		total, more, items, err := v.Movers("", since, 10)
		if total != 2 || more || len(items) != 2 || items[0].Actor != "a" || items[0].Count != 2 || items[0].Workspace != "v" || items[0].Last.Outcome != "last" || items[1].Actor != "b" {
			t.Errorf("%d %v %+v", total, more, items)
		}
		if b := items[0].Buckets; b[14] != 1 || b[12]+b[11] != 1 {
			t.Errorf("buckets %v", b)
		}
		total, _, items, _ = v.Movers("w", since, 10)
		if total != 1 || items[0].Count != 1 {
			t.Errorf("w: %d %+v", total, items)
		}
		total, _, items, _ = v.Movers("", since, 1)
		if total != 2 || len(items) != 1 {
			t.Errorf("limit: %d %d", total, len(items))
		}
		return err
	})
}

func TestMoversStopCounting(t *testing.T) {
	l := ledgertest.Open(t, nil)
	_, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
		for i := range 1100 {
			if _, err := tx.Append(ledger.Event{Actor: fmt.Sprint(i), Type: "done"}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ledgertest.View(t, l, func(v *ledger.View) error {
		total, more, items, err := v.Movers("", 0, 10)
		if total != 1000 || !more || len(items) != 10 {
			t.Errorf("%d %v %d", total, more, len(items))
		}
		return err
	})
}

func TestFocusIsTheNewest(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ledgertest.Append(t, l, ledger.Event{Actor: "user", Type: "focus", Workspace: "w", Object: "1", Injectable: true}, ledger.Event{Actor: "user", Type: "focus", Workspace: "v"})
	ledgertest.View(t, l, func(v *ledger.View) error {
		if e, ok, _ := v.Focus(""); !ok || e.Workspace != "v" {
			t.Errorf("of all: %+v", e)
		}
		if e, ok, _ := v.Focus("w"); !ok || e.Object != "1" || e.Injectable {
			t.Errorf("of w: %+v", e)
		}
		_, ok, err := v.Focus("x")
		if ok {
			t.Error("of x")
		}
		return err
	})
}

// TestSummariesEqualTheEvents appends at random, with a clock that jumps, and
// lets verify compute everything anew.
func TestSummariesEqualTheEvents(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	r := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	types := []string{"done", "failed", "progress", "focus", "resolved", "x_error", "note", ledger.TypeAcknowledged}
	for range 60 {
		clock.Add(time.Duration(r.IntN(600)-100) * time.Second)
		_, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for range r.IntN(20) {
				ack, _ := json.Marshal(ledger.Acknowledgement{Actor: fmt.Sprint(r.IntN(3)), Object: []string{"", "o"}[r.IntN(2)], Workspace: []string{"", "w", "never"}[r.IntN(3)]})
				_, err := tx.Append(ledger.Event{Actor: fmt.Sprint(r.IntN(3)), Type: types[r.IntN(len(types))], Object: []string{"", "o"}[r.IntN(2)], Workspace: []string{"", "w"}[r.IntN(2)],
					Source: ledger.Source(r.IntN(5)), Injectable: r.IntN(2) == 0, Data: ack, Outcome: []string{"", "", "error"}[r.IntN(3)]})
				if err != nil {
					return nil, err
				}
			}
			if r.IntN(4) == 0 {
				return nil, errors.New("drop it")
			}
			return nil, nil
		})
		_ = err
	}
	ledgertest.Verify(t, l)
}

func TestAReportReadsNoMoreOfALongLedger(t *testing.T) {
	l := ledgertest.Open(t, nil)
	_, err := update(t, l, func(tx *ledger.Tx) ([]byte, error) {
		for i := range 3000 {
			if _, err := tx.Append(ledger.Event{Actor: fmt.Sprint(i % 50), Type: "failed", Object: fmt.Sprint(i), Workspace: fmt.Sprint(i % 9), Injectable: true}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The plan of each query: an index and a limit, never a scan or a sort.
	for _, q := range []string{
		`SELECT id FROM events INDEXED BY events_key WHERE injectable = 1 AND id > 0 ORDER BY id DESC LIMIT 21`,
		`SELECT ids FROM keys WHERE workspace = 3`,
		`SELECT id FROM events WHERE id IN (SELECT value FROM json_each('[7,9]')) ORDER BY id DESC`,
		`SELECT last_id FROM failures INDEXED BY failures_last ORDER BY last_id DESC LIMIT 10`,
		`SELECT last_id FROM failures INDEXED BY failures_ws_last WHERE workspace = 3 ORDER BY last_id DESC LIMIT 10`,
		`SELECT actor FROM lanes INDEXED BY lanes_last ORDER BY last_id DESC LIMIT 10`,
		`SELECT actor FROM lanes INDEXED BY lanes_ws_last WHERE workspace = 3 ORDER BY last_id DESC LIMIT 10`,
	} {
		ledgertest.View(t, l, func(v *ledger.View) error {
			rows, err := v.Query(`EXPLAIN QUERY PLAN ` + q)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var a, b, c int
				var plan string
				if err := rows.Scan(&a, &b, &c, &plan); err != nil {
					return err
				}
				if strings.Contains(plan, "TEMP B-TREE") || strings.HasPrefix(plan, "SCAN events") && !strings.Contains(plan, "INDEX") {
					t.Errorf("%s\n  sorts: %s", q, plan)
				}
			}
			return rows.Err()
		})
	}
}

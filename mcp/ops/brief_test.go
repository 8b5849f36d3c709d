package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// brief calls brief_get and holds it to its bounds.
func (b *bench) brief(t testing.TB) (out Brief) {
	t.Helper()
	res, err := b.Call(context.Background(), person, "brief_get", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(res.JSON, &out); err != nil {
		t.Fatal(err)
	}
	if out.KeyEvents == nil || out.Failures.Items == nil || out.Movers.Items == nil || out.Handoffs.Open == nil {
		t.Fatalf("a list is null in %s", res.JSON)
	}
	if len(out.KeyEvents) > 40 || len(out.Failures.Items) > 50 || len(out.Movers.Items) > 12 || len(out.Handoffs.Open) > 10 {
		t.Fatalf("%d key events, %d failures, %d movers, %d handoffs", len(out.KeyEvents), len(out.Failures.Items), len(out.Movers.Items), len(out.Handoffs.Open))
	}
	for _, m := range out.Movers.Items {
		if len(m.Buckets) != 15 {
			t.Fatalf("%d buckets", len(m.Buckets))
		}
	}
	return out
}

// A brief is the same until changes_at, and another one then.
func TestBriefKnowsWhenItChanges(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	b := newBench(t)
	same := func(x, y Brief) bool {
		x.Now, y.Now = 0, 0
		return reflect.DeepEqual(x, y)
	}
	var handoffs []string
	seen := 0
	for range 120 {
		switch rnd.IntN(6) {
		case 0, 1:
			b.ok(t, agent, "report_done", fmt.Sprintf(`{"actor":"a%d","type":%q,"object_id":"o%d"}`, rnd.IntN(5), []string{"done", "failed", "progress"}[rnd.IntN(3)], rnd.IntN(3)))
		case 2:
			b.ok(t, agent, "handoff_create", fmt.Sprintf(`{"target":"dj","instruction":"x","idempotency_key":"k%d"}`, len(handoffs)))
			handoffs = append(handoffs, b.ok(t, agent, "handoff_list", `{"limit":1}`)["handoffs"].([]any)[0].(map[string]any)["id"].(string))
		case 3:
			if len(handoffs) > 0 {
				b.ok(t, agent, "handoff_claim", fmt.Sprintf(`{"handoff_id":%q,"worker_session_id":"w"}`, handoffs[rnd.IntN(len(handoffs))]))
			}
		case 4:
			if len(handoffs) > 0 {
				args := fmt.Sprintf(`{"handoff_id":%q}`, handoffs[rnd.IntN(len(handoffs))])
				if _, err := b.Call(t.Context(), person, "handoff_release", json.RawMessage(args)); err != nil && CodeOf(err) != Conflict {
					t.Fatal(err)
				}
			}
		}
		b.clock.Add(time.Duration(rnd.IntN(90_000)) * time.Millisecond)
		for range rnd.IntN(3) {
			before := b.brief(t)
			if before.ChangesAt == nil {
				b.clock.Add(24 * time.Hour)
				if after := b.brief(t); !same(before, after) {
					t.Fatalf("it changed:\n%+v\n%+v", before, after)
				}
				continue
			}
			seen++
			b.clock.Add(before.ChangesAt.Time().Sub(b.clock.Now()) - time.Millisecond)
			if after := b.brief(t); !same(before, after) {
				t.Fatalf("it changed before %v:\n%+v\n%+v", *before.ChangesAt, before, after)
			}
			b.clock.Add(time.Millisecond)
			after := b.brief(t)
			if after.ChangesAt != nil && *after.ChangesAt <= *before.ChangesAt {
				t.Fatalf("at %v it changes at %v", *before.ChangesAt, *after.ChangesAt)
			}
			after.ChangesAt = before.ChangesAt
			if same(before, after) {
				t.Fatalf("it did not change at %v:\n%+v", *before.ChangesAt, before)
			}
		}
	}
	if seen == 0 {
		t.Error("no moment was looked at")
	}
}

func TestBriefFoldsEqualFailures(t *testing.T) {
	b := newBench(t)
	report := func(actor, typ, object, outcome string) {
		t.Helper()
		b.ok(t, agent, "report_done", args(t, map[string]any{"actor": actor, "type": typ, "object_id": object, "outcome": outcome}))
		b.clock.Add(time.Second)
	}
	report("ci", "failed", "main", "one")         // 1
	report("ci", "done", "main", "fixed")         // 2
	report("ci", "failed", "main", "two")         // 3
	report("ci", "build_failed", "main", "three") // 4: another type
	report("ci", "failed", "dev", "four")         // 5: another object
	report("me", "failed", "main", "five")        // 6: another actor
	report("ci", "failed", "main", "six")         // 7
	report("ci", "done", "main", "fixed")         // 8: what succeeds is never folded
	report("ci", "done", "main", "error")         // 9: fails by its outcome
	report("ci", "done", "main", "error")         // 10
	out := b.brief(t)
	type row struct{ id, count, first int64 }
	var got []row
	for _, e := range out.KeyEvents {
		got = append(got, row{e.ID, e.Count, e.FirstID})
	}
	want := []row{{10, 2, 9}, {8, 1, 8}, {7, 3, 1}, {6, 1, 6}, {5, 1, 5}, {4, 1, 4}, {2, 1, 2}}
	if !reflect.DeepEqual(got, want) || out.KeyEventsMore {
		t.Errorf("%v, more %v; want %v", got, out.KeyEventsMore, want)
	}
	if first := out.KeyEvents[2].FirstAt; out.KeyEvents[2].At-first != 6000 {
		t.Errorf("the first of three was at %v", first)
	}
}

func TestBriefBounds(t *testing.T) {
	b := newBench(t)
	keys := func(n int, make func(i int) ledger.Event) {
		t.Helper()
		if _, err := b.log.Update(t.Context(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for i := range n {
				e := make(i)
				e.Injectable = true
				if _, err := tx.Append(e); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	// 41 rows are one too many; what folds into a row that is there goes on being counted.
	keys(60, func(i int) ledger.Event { return ledger.Event{Actor: "ci", Type: "failed", Object: fmt.Sprint(i % 41)} })
	out := b.brief(t)
	if len(out.KeyEvents) != 40 || !out.KeyEventsMore || out.KeyEvents[0].Count != 2 || out.KeyEvents[18].Count != 2 || out.KeyEvents[19].Count != 1 {
		t.Errorf("%d rows, more %v", len(out.KeyEvents), out.KeyEventsMore)
	}
	if out.Failures.Total != 41 || out.Fresh.Key != 60 || out.Fresh.KeyMore || out.Orb.Face != "failure" || out.Orb.Failures != 41 {
		t.Errorf("%d failures, fresh %+v, %+v", out.Failures.Total, out.Fresh, out.Orb)
	}
	// 400 are looked at, older ones are only said to be there.
	keys(399, func(int) ledger.Event { return ledger.Event{Actor: "loop", Type: "failed", Object: "x"} })
	out = b.brief(t)
	if len(out.KeyEvents) != 2 || out.KeyEvents[0].Count != 399 || out.KeyEvents[1].Count != 1 || !out.KeyEventsMore {
		t.Errorf("%d rows, the first of %d, more %v", len(out.KeyEvents), out.KeyEvents[0].Count, out.KeyEventsMore)
	}
	if out.Fresh != (BriefFresh{Total: 459, Key: 200, KeyMore: true}) {
		t.Errorf("fresh %+v", out.Fresh)
	}
	b.ok(t, person, "brief_seen", `{"through_id":458}`)
	if out = b.brief(t); out.Fresh != (BriefFresh{Total: 1, Key: 1}) || out.Looked.Through != 458 || out.Looked.At == nil {
		t.Errorf("fresh %+v, looked %+v", out.Fresh, out.Looked)
	}
	keys(20, func(i int) ledger.Event { return ledger.Event{Actor: fmt.Sprint("m", i), Type: "done"} })
	if out = b.brief(t); out.Movers.Total != 22 || len(out.Movers.Items) != 12 || out.Working.Total != 22 {
		t.Errorf("%d movers, %d shown, %d working", out.Movers.Total, len(out.Movers.Items), out.Working.Total)
	}
	ledgertest.Verify(t, b.log)
}

func TestOrb(t *testing.T) {
	for _, c := range []struct {
		needs, failures, working int64
		face                     string
	}{{0, 0, 0, "idle"}, {0, 0, 3, "working"}, {1, 0, 3, "needs"}, {0, 2, 3, "failure"}, {1, 2, 0, "both"}} {
		if got := orb(c.needs, c.failures, c.working); got != (Orb{c.face, c.needs, c.failures, c.working}) {
			t.Errorf("%+v; want %s", got, c.face)
		}
	}
}

// What no event tells of, the followers of all pages are told all the same.
func TestFollowersHearOfMarksAndSettings(t *testing.T) {
	b := newBench(t)
	b.receipts(t, 2)
	enough := errors.New("enough")
	calls := []struct{ tool, args string }{{"brief_seen", `{"through_id":1}`}, {"settings_set", `{"theme":"dark"}`}}
	next := 0
	err := b.Follow(t.Context(), 0, func(n Notice) error {
		if next > 0 && n.Type != NoticeChanged {
			t.Errorf("%s after %s", n.Type, calls[next-1].tool)
		}
		if next == len(calls) {
			return enough
		}
		b.ok(t, person, calls[next].tool, calls[next].args)
		next++
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	if out := b.ok(t, person, "recent_events", ``); out["last_id"] != 2.0 {
		t.Errorf("they left events: %v", out)
	}
}

func TestOnlyAPersonMay(t *testing.T) {
	for _, s := range []Surface{Agent, Shell, Web | Shell} {
		panics(t, "ops: mark_probe: ", func() {
			Append(Spec{Name: "mark_probe", Title: "t", Text: "t", Surfaces: s, Person: true}, nothing)
		})
	}
	b := newBench(t)
	for _, o := range b.Ops() {
		if !o.Person {
			continue
		}
		for _, c := range []Caller{{Surface: Web}, {Surface: Window}, {Surface: Agent, Person: true}, {Surface: Shell, Person: true}} {
			b.refused(t, c, o.Name, `{}`, Forbidden)
		}
	}
}

package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

// report calls situation_report and holds it to its promises.
func (b *bench) report(t testing.TB, args string) Report {
	t.Helper()
	res, err := b.Call(context.Background(), agent, "situation_report", json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.JSON) > 16384 || res.Text != string(res.JSON) {
		t.Fatalf("situation_report(%s): %d bytes, text %d", args, len(res.JSON), len(res.Text))
	}
	var r Report
	if err := json.Unmarshal(res.JSON, &r); err != nil {
		t.Fatalf("situation_report(%s): %v", args, err)
	}
	if r.KeyEvents == nil || r.Failures.Items == nil || r.Movers.Items == nil || r.Handoffs.Open == nil {
		t.Fatalf("situation_report(%s): a list is null in %s", args, res.JSON)
	}
	if len(r.KeyEvents) > 20 || len(r.Failures.Items) > 10 || len(r.Movers.Items) > 10 || len(r.Handoffs.Open) > 10 {
		t.Fatalf("situation_report(%s): a list is too long", args)
	}
	if !strings.HasSuffix(r.Headline, ".") || strings.ContainsAny(r.Headline, "\n\r") || len(r.Headline) > 300 {
		t.Fatalf("headline %q", r.Headline)
	}
	return r
}

// Every list full, every text as long as it may be, in characters that take the
// most bytes.
func TestReportAtItsWorst(t *testing.T) {
	for name, c := range map[string]string{
		"ascii":              "x",
		"emoji":              "😀",
		"control characters": "\u0001", // six bytes each as JSON
		"quotes":             `"`,
	} {
		t.Run(name, func(t *testing.T) {
			log := ledgertest.Open(t, ledgertest.NewClock())
			target := strings.Repeat(c, handoff.MaxTarget)
			b := &bench{Set: NewSet(&Env{Log: log, Targets: func() []string { return []string{target} }}, All()...), log: log}
			text := func(n, i int) string { return fmt.Sprintf("%0*d", 4, i) + strings.Repeat(c, n-4) }
			for i := range 25 {
				metrics := ledger.Metrics{}
				for m := range 3 {
					metrics = append(metrics, ledger.Metric{Key: fmt.Sprint(m) + strings.Repeat("é", 63), Value: "-1.7976931348623157e+308"})
				}
				ledgertest.Append(t, log, ledger.Event{
					Actor: text(128, i), Type: text(57, i) + "_failed", Object: text(128, i), ObjectType: text(64, i), Workspace: text(128, 0),
					Outcome: text(512, i), File: text(4096, i), Session: text(128, i), Caller: text(128, i), Metrics: metrics,
					Injectable: true, SaidAt: 1, Data: json.RawMessage(`{"x":"` + strings.Repeat("x", 16000) + `"}`),
				})
				b.ok(t, agent, "handoff_create", args(t, map[string]any{
					"target": target, "instruction": strings.Repeat(c, 4000), "idempotency_key": text(128, i), "source_session_id": text(128, i),
				}))
				id := b.ok(t, agent, "handoff_list", `{"limit":1}`)["handoffs"].([]any)[0].(map[string]any)["id"]
				b.ok(t, agent, "handoff_claim", args(t, map[string]any{"handoff_id": id, "worker_session_id": text(128, i)}))
			}
			ledgertest.Append(t, log, ledger.Event{Actor: "user", Type: "focus", Object: text(128, 1), ObjectType: text(64, 1), Workspace: text(128, 1)})
			for _, a := range []string{`{}`, args(t, map[string]any{"workspace_id": text(128, 0)}), `{"since_id":3}`} {
				r := b.report(t, a)
				if !r.Cut || !r.KeyEventsMore || r.Failures.Total != 25 || r.Movers.Total < 25 || r.Handoffs.Counts.Claimed != 25 {
					t.Errorf("cut %v, more %v, %d failures, %d movers, %+v", r.Cut, r.KeyEventsMore, r.Failures.Total, r.Movers.Total, r.Handoffs.Counts)
				}
				items := len(r.KeyEvents) + len(r.Failures.Items) + len(r.Movers.Items) + len(r.Handoffs.Open)
				if items == 0 {
					t.Error("everything was left out")
				}
				t.Logf("%.20s: %d key events, %d failures, %d movers, %d handoffs", a, len(r.KeyEvents), len(r.Failures.Items), len(r.Movers.Items), len(r.Handoffs.Open))
				for _, e := range r.KeyEvents {
					if len([]rune(e.Outcome)) > 160 || len([]rune(e.File)) > 120 || e.Data != nil || e.Session != "" {
						t.Errorf("a key event is not brief: %+v", e)
					}
				}
			}
		})
	}
}

// The last items of the longest list go first, and no more than must.
func TestReportCutsTheLongestList(t *testing.T) {
	long := strings.Repeat("\u0001", 128)
	var r Report
	for i := range 20 {
		r.KeyEvents = append(r.KeyEvents, ledger.Event{ID: int64(100 - i), Actor: "a", Type: "done", Injectable: true})
	}
	for i := range 10 {
		r.Failures.Items = append(r.Failures.Items, FailureItem{Event: ledger.Event{ID: int64(50 - i), Actor: long, Object: long, Type: "failed"}})
	}
	r.Failures.Total = 10
	got, err := r.appendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	item, err := marshal(r.Failures.Items[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(back.KeyEvents) != 20 || back.KeyEventsMore || !back.Cut || back.Failures.Total != 10 {
		t.Errorf("%d key events, more %v, cut %v, total %d", len(back.KeyEvents), back.KeyEventsMore, back.Cut, back.Failures.Total)
	}
	if len(got)+len(item)+1 <= maxReport {
		t.Errorf("%d bytes and a failure of %d left out: it would have fitted", len(got), len(item))
	}
	for i, f := range back.Failures.Items {
		if f.ID != int64(50-i) {
			t.Errorf("failure %d is event %d: not the newest are kept", i, f.ID)
		}
	}
	if len(r.KeyEvents) != 20 || len(r.Failures.Items) != 10 || r.Cut {
		t.Error("writing the report changed it")
	}
}

// Exactly at the limit nothing is cut; one byte more and something is.
func TestReportAtTheLimit(t *testing.T) {
	r := Report{KeyEvents: []ledger.Event{{Actor: "a", Type: "done"}}}
	b, err := r.appendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.KeyEvents[0].Outcome = strings.Repeat("x", maxReport-len(b)-len(`,"outcome":""`))
	if b, err = r.appendJSON(nil); err != nil || len(b) != maxReport || strings.Contains(string(b), `"cut"`) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	r.KeyEvents[0].Outcome += "x"
	if b, err = r.appendJSON(nil); err != nil || len(b) > 1000 || !strings.Contains(string(b), `"key_events":[],"key_events_more":true`) || !strings.HasSuffix(string(b), `"cut":true}`) {
		t.Errorf("%d bytes, %v: %s", len(b), err, b)
	}
}

// Whatever is reported, the report fits. The seed is printed when it fails.
func TestReportFitsWhatever(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	b := newBench(t)
	letters := []string{"a", "é", "漢", "😀", "\u0001", `"`, `\`, "<", "\u2028x", " b"}
	text := func(most int) string {
		n := rnd.IntN(most)
		if rnd.IntN(3) == 0 {
			n = most
		}
		mixed, one := rnd.IntN(2) == 0, letters[rnd.IntN(len(letters))]
		var s strings.Builder
		s.WriteString("x")
		for i := 1; i < n; i += len([]rune(one)) {
			if mixed {
				one = letters[rnd.IntN(len(letters))]
			}
			s.WriteString(one)
		}
		return ledger.Clip(s.String(), most)
	}
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	var actors, workspaces, objects []string
	for range 12 {
		actors, workspaces, objects = append(actors, text(128)), append(workspaces, text(128)), append(objects, text(128))
	}
	types := []string{"done", "failed", "build_error", "progress", "note", "resolved", text(64), text(64)}
	for round := range 25 {
		for range 8 {
			c := Caller{Surface: Agent, Workspace: pick(workspaces), Session: text(128)}
			switch rnd.IntN(8) {
			case 0:
				b.ok(t, c, "focus_change", args(t, map[string]any{"object_id": pick(objects), "object_type": text(64), "actor": pick(actors)}))
			case 1:
				b.ok(t, c, "handoff_create", args(t, map[string]any{"target": "dj", "instruction": text(4000), "idempotency_key": fmt.Sprint(rnd.Uint64()), "source_session_id": text(128)}))
			default:
				b.ok(t, c, "report_done", args(t, map[string]any{
					"actor": pick(actors), "type": pick(types), "object_id": pick(objects), "outcome": text(512), "file": text(4096),
					"metrics": map[string]any{text(40): rnd.Float64(), text(20) + "b": rnd.Int64()},
				}))
			}
		}
		b.clock.Add(time.Duration(rnd.IntN(120)-10) * time.Second) // sometimes back
		last := int64(round * 8)
		for _, a := range []map[string]any{{}, {"workspace_id": pick(workspaces)}, {"since_id": last}, {"workspace_id": pick(workspaces), "since_id": last / 2}} {
			r := b.report(t, args(t, a))
			for i, e := range r.KeyEvents {
				if !e.Injectable || i > 0 && e.ID >= r.KeyEvents[i-1].ID {
					t.Fatalf("key event %d: %+v", i, e)
				}
				if since, ok := a["since_id"].(int64); ok && e.ID <= since {
					t.Fatalf("key event %d is not after %d", e.ID, since)
				}
				if ws, ok := a["workspace_id"].(string); ok && e.Workspace != foldLine(ws) {
					t.Fatalf("key event of %q in the report of %q", e.Workspace, ws)
				}
			}
			if len(r.KeyEvents) > 0 && r.LastInjected < r.KeyEvents[0].ID {
				t.Fatalf("last_injected_event_id %d, newest key event %d", r.LastInjected, r.KeyEvents[0].ID)
			}
		}
	}
}

func args(t testing.TB, m map[string]any) string {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHeadline(t *testing.T) {
	for want, c := range map[string]struct {
		r     Report
		since bool
	}{
		"Nothing has been reported yet.": {},
		"All is quiet: no decisions waiting, no unresolved failures, no moving actors, no open handoffs.": {r: Report{LastEvent: 3}},
		"All is quiet and nothing is new: no decisions waiting, no unresolved failures, no moving actors, no open handoffs.": {
			r: Report{LastEvent: 3}, since: true,
		},
		"1 unresolved failure.": {r: Report{LastEvent: 3, Failures: FailureList{Total: 1}}},
		"2 unresolved failures, 1 new key event, more than 1000 moving actors, 3 handoffs waiting and 2 handoffs in work.": {
			r: Report{
				LastEvent: 3, Failures: FailureList{Total: 2}, KeyEvents: make([]ledger.Event, 1), Movers: MoverList{Total: 1000, More: true},
				Handoffs: OpenHandoffs{Counts: handoff.Count{Pending: 3, Claimed: 1, Running: 1, Done: 9}},
			}, since: true,
		},
		"More than 20 new key events.": {r: Report{LastEvent: 3, KeyEvents: make([]ledger.Event, 20), KeyEventsMore: true}, since: true},
	} {
		if got := headline(&c.r, c.since); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

package ops

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// The limits of the contract, as every tool's schema says them.
func TestLimits(t *testing.T) {
	want := map[string]int64{
		"actor": 128, "object_id": 128, "workspace": 128, "workspace_id": 128, "worker_session_id": 128, "source_session_id": 128,
		"handoff_id": 128, "idempotency_key": 128, "type": 64, "object_type": 64, "view": 64, "target": 64, "op": 64,
		"route": 2048, "reason": 512, "outcome": 512, "file": 4096, "path": 4096, "name": 255, "error": 2000, "instruction": 4000, "query": 256,
		"question": 500, "context": 4000, "default_answer": 2000, "answer": 2000, "stream": 128, "id": 128, "answered_by": 128,
	}
	var walk func(tool string, s *Schema)
	walk = func(tool string, s *Schema) {
		for _, p := range s.Props {
			if p.Type == "string" && p.Words == nil && p.Max != want[p.Name] {
				t.Errorf("%s.%s: at most %d, want %d", tool, p.Name, p.Max, want[p.Name])
			}
			if p.Items != nil {
				walk(tool+"."+p.Name, p.Items)
			}
		}
	}
	for _, o := range All() {
		walk(o.Name, o.In)
	}
}

// At its limit a text is taken, one character more is refused by name, limit
// and length; nothing is stored then.
func TestTextsAtTheirLimit(t *testing.T) {
	base := map[string]string{
		"report_done":    `"actor":"a"`,
		"focus_change":   `"object_id":"o"`,
		"handoff_create": `"target":"dj","instruction":"i","idempotency_key":"k"`,
	}
	for tool, rest := range base {
		for _, o := range All() {
			if o.Name != tool {
				continue
			}
			for _, p := range o.In.Props {
				if p.Type != "string" || p.Name == "target" || p.Words != nil {
					continue
				}
				t.Run(tool+"."+p.Name, func(t *testing.T) {
					b := newBench(t)
					with := func(n int64) string {
						others := strings.Split(rest, ",")
						kept := []string{fmt.Sprintf(`"%s":"%s"`, p.Name, strings.Repeat("😀", int(n)))}
						for _, m := range others {
							if !strings.HasPrefix(m, `"`+p.Name+`"`) {
								kept = append(kept, m)
							}
						}
						return "{" + strings.Join(kept, ",") + "}"
					}
					e := b.refused(t, agent, tool, with(p.Max+1), Invalid)
					if want := fmt.Sprintf("%s: at most %d characters; got %d", p.Name, p.Max, p.Max+1); e.Message != want || e.Field != p.Name {
						t.Errorf("got %q of %q, want %q", e.Message, e.Field, want)
					}
					if out := b.ok(t, agent, "recent_events", ``); len(out["events"].([]any)) != 0 {
						t.Error("a refused call was stored")
					}
					b.ok(t, agent, tool, with(p.Max))
				})
			}
		}
	}
}

func TestContextLimits(t *testing.T) {
	b := newBench(t)
	create := func(key, context string) string {
		return `{"target":"dj","instruction":"i","idempotency_key":"` + key + `","context":` + context + `}`
	}
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	sized := func(n int) string { return `{ "a" : "` + strings.Repeat("x", n-len(`{"a":""}`)) + `" }` }
	b.ok(t, agent, "handoff_create", create("deep", deep(16)))
	b.ok(t, agent, "handoff_create", create("big", sized(8192)))
	b.ok(t, agent, "handoff_create", create("escaped", `{"a":"`+strings.Repeat(`\u00e9`, 4000)+`"}`)) // 8 000 bytes without the escapes
	if e := b.refused(t, agent, "handoff_create", create("deeper", deep(17)), Invalid); !strings.Contains(e.Message, "at most 16 levels") {
		t.Error(e.Message)
	}
	if e := b.refused(t, agent, "handoff_create", create("bigger", sized(8193)), Invalid); e.Message != "context: at most 8192 bytes as compact JSON; got 8193" {
		t.Error(e.Message)
	}
}

// Whatever passes the validator's check of three metrics also passes the
// ledger's own bound on their bytes, or is refused by name.
func TestMetricsWithLongKeys(t *testing.T) {
	b := newBench(t)
	keys := map[string]any{}
	for _, c := range []string{"a", "b", "c"} {
		keys[c+strings.Repeat("\u0001", 63)] = 1
	}
	if e := b.refused(t, agent, "report_done", args(t, map[string]any{"actor": "a", "metrics": keys}), Invalid); e.Field != "metrics" {
		t.Errorf("%+v", e)
	}
	many := make([]string, 256)
	for i := range many {
		many[i] = fmt.Sprintf(`"%s%d":%d`, strings.Repeat("é", 60), i, i)
	}
	out := b.ok(t, agent, "report_done", `{"actor":"a","metrics":{`+strings.Join(many, ",")+`}}`)
	if dropped := out["metrics_dropped"].([]any); len(dropped) != 253 || dropped[0] != strings.Repeat("é", 60)+"3" {
		t.Errorf("%d dropped", len(dropped))
	}
}

// An answer of recent_events fits a line of the wire whatever it holds, and a
// poller that goes on from last_id still reads every event once.
func TestRecentEventsFit(t *testing.T) {
	b := newBench(t)
	const n = 150
	_, err := b.log.Update(t.Context(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		for i := range n {
			if _, err := tx.Append(ledger.Event{
				Actor: "a", Type: "done", File: strings.Repeat("\u0001", 4096), Outcome: fmt.Sprint(i),
				Data: json.RawMessage(`{"x":"` + strings.Repeat("x", 16000) + `"}`),
			}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var since, read int64
	for {
		r, err := b.Call(t.Context(), agent, "recent_events", fmt.Appendf(nil, `{"since_id":%d,"limit":200}`, since))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.JSON) > maxEventsJSON {
			t.Fatalf("%d bytes", len(r.JSON))
		}
		var out Events
		if err := json.Unmarshal(r.JSON, &out); err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Events {
			if read++; e.ID != read {
				t.Fatalf("event %d after %d", e.ID, read-1)
			}
		}
		since = out.LastID
		if !out.HasMore {
			break
		}
		if len(out.Events) == 0 {
			t.Fatal("more, but none here")
		}
	}
	if read != n {
		t.Errorf("read %d events of %d", read, n)
	}
	newest := b.ok(t, agent, "recent_events", `{"limit":200}`)
	if events := newest["events"].([]any); newest["has_more"] != true || newest["last_id"] != float64(n) || events[len(events)-1].(map[string]any)["id"] != float64(n) {
		t.Errorf("newest: last_id %v, has_more %v", newest["last_id"], newest["has_more"])
	}
}

func TestUsualEventsAreNeverLeftOut(t *testing.T) {
	b := newBench(t)
	for range 200 {
		ledgertest.Append(t, b.log, ledger.Event{Actor: "a", Type: "done", Outcome: strings.Repeat("😀", 512)})
	}
	if out := b.ok(t, agent, "recent_events", `{"limit":200,"since_id":0}`); len(out["events"].([]any)) != 200 || out["has_more"] != false {
		t.Errorf("%d events, has_more %v", len(out["events"].([]any)), out["has_more"])
	}
}

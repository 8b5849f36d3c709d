//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// call is a tool call, its arguments written as a model would write them.
type call struct{ tool, arguments string }

// visit is what every client that can call tools does here, in this order. The
// texts hold what breaks on careless ways, the handoff nests as deep as any
// input does, and of the metrics the first three must arrive as the first:
// a client that sorts keys would lose the seconds.
func visit(actor string) []call {
	return []call{
		{"report_done", `{"actor":"` + actor + `","object_id":"build-7","outcome":"` + outcome + `","file":"out/report 7.txt","metrics":{"seconds":1.5,"passed":42,"failed":0,"attempts":9},"injectable":true}`},
		{"handoff_create", `{"target":"library","instruction":"File the report.\nThen \"close\" it — 谢谢","idempotency_key":"` + actor + `-7","attachments":[{"path":"out/report 7.txt","name":"Report"},{"path":"out/log.txt"}],"context":{"branch":"main","counts":{"passed":42},"tags":["a","b"]}}`},
		{"situation_report", `{}`},
	}
}

const outcome = `42 tests pass, 测试通过 <&> → build 7`

// checkVisit says what the visit must have left in the ledger, and that the
// answers, one JSON object for each call of visit as the client showed it to
// its model or user, hold the facts.
func (h *house) checkVisit(actor string, answers []string) {
	h.t.Helper()
	calls := visit(actor)
	if len(answers) != len(calls) {
		h.t.Fatalf("the client showed %d answers; want %d: %q", len(answers), len(calls), answers)
	}
	for i, a := range answers {
		h.t.Logf("→ %s %s\n← %s", calls[i].tool, calls[i].arguments, a)
	}

	var receipt struct {
		EventID    int64    `json:"event_id"`
		RecordedAt string   `json:"recorded_at"`
		Dropped    []string `json:"metrics_dropped"`
	}
	h.decode(answers[0], &receipt)
	if receipt.EventID == 0 || receipt.RecordedAt == "" || !slices.Equal(receipt.Dropped, []string{"attempts"}) {
		h.t.Errorf("the answer to report_done lacks facts: %s", answers[0])
	}
	var created struct {
		Created bool
		Handoff struct{ ID, Target string }
	}
	h.decode(answers[1], &created)
	if !created.Created || created.Handoff.Target != "library" || !strings.HasPrefix(created.Handoff.ID, "hnd_") {
		h.t.Errorf("the answer to handoff_create lacks facts: %s", answers[1])
	}
	h.checkSituation(answers[2], receipt.EventID, created.Handoff.ID)

	var list struct{ Events []json.RawMessage }
	h.steward(&list, "call", "recent_events", `{}`)
	h.checkReceipt(actor, receipt.EventID, list.Events)

	var status json.RawMessage
	h.steward(&status, "status")
	h.checkSituation(string(status), receipt.EventID, created.Handoff.ID)

	var stored struct{ Handoff map[string]any }
	h.steward(&stored, "call", "handoff_get", fmt.Sprintf(`{"handoff_id":%q}`, created.Handoff.ID))
	var sent map[string]any
	h.decode(calls[1].arguments, &sent)
	for field, want := range sent {
		if got := stored.Handoff[field]; !reflect.DeepEqual(got, want) {
			h.t.Errorf("the handoff's %s arrived as %v; sent was %v", field, got, want)
		}
	}
}

// event is what a receipt says.
type event struct {
	ID        int64              `json:"id"`
	Actor     string             `json:"actor"`
	Type      string             `json:"type"`
	ObjectID  string             `json:"object_id"`
	Workspace string             `json:"workspace"`
	Outcome   string             `json:"outcome"`
	File      string             `json:"file"`
	Metrics   map[string]float64 `json:"metrics"`
	Source    string             `json:"source"`
}

// checkReceipt wants exactly one event of that actor and type, with everything
// the visit has said about it.
func (h *house) checkReceipt(actor string, id int64, events []json.RawMessage) {
	h.t.Helper()
	want := event{id, actor, "done", "build-7", workspace, outcome, "out/report 7.txt", map[string]float64{"seconds": 1.5, "passed": 42, "failed": 0}, "claimed"}
	var of []json.RawMessage
	for _, e := range events {
		var f event
		h.decode(string(e), &f)
		if f.Actor != actor || f.Type != "done" {
			continue
		}
		of = append(of, e)
		if !reflect.DeepEqual(f, want) {
			h.t.Errorf("the ledger has %s\nwant %+v", e, want)
		}
	}
	if len(of) != 1 {
		h.t.Errorf("the ledger holds %d receipts of %s; want 1: %s", len(of), actor, events)
	}
	for _, e := range of {
		h.t.Logf("in the ledger: %s", e)
	}
}

// checkSituation wants a situation report that knows the visit's receipt and
// handoff.
func (h *house) checkSituation(text string, id int64, handoff string) {
	h.t.Helper()
	var report struct {
		Headline  string  `json:"headline"`
		KeyEvents []event `json:"key_events"`
		Handoffs  struct {
			Open []struct {
				ID string `json:"id"`
			} `json:"open"`
		} `json:"handoffs"`
	}
	h.decode(text, &report)
	if report.Headline == "" {
		h.t.Errorf("the situation report has no headline: %s", text)
	}
	if i := slices.IndexFunc(report.KeyEvents, func(e event) bool { return e.ID == id }); i < 0 || report.KeyEvents[i].Outcome != outcome || report.KeyEvents[i].Workspace != workspace {
		h.t.Errorf("the situation report does not show receipt %d of %s: %s", id, workspace, text)
	}
	if len(report.Handoffs.Open) != 1 || report.Handoffs.Open[0].ID != handoff {
		h.t.Errorf("the situation report does not show handoff %s: %s", handoff, text)
	}
}

func (h *house) decode(text string, into any) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		h.t.Fatalf("not the JSON that was expected: %v\n%s", err, text)
	}
}

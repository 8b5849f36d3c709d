package ops

import (
	"strconv"

	"steward/ledger"
)

type reportDoneArgs struct {
	Actor      string  `json:"actor" arg:"required,line,max=128" doc:"Who did it; use the same name every time"`
	Type       string  `json:"type" arg:"line,max=64,default=done" doc:"done, failed, resolved, progress, note, or a word of your own"`
	Object     string  `json:"object_id" arg:"line,max=128" doc:"What it is about: a ticket, branch or task"`
	Outcome    string  `json:"outcome" arg:"line,max=512" doc:"One line of at most 512 characters: what came of it"`
	File       string  `json:"file" arg:"line,max=4096" doc:"Path of the file that matters most"`
	Metrics    Ordered `json:"metrics" arg:"max=256" doc:"Numbers; the first three keys are kept"`
	Injectable *bool   `json:"injectable" doc:"Whether others' reports show it; default false for progress, heartbeat, note, else true"`
}

// Receipt says where an event went.
type Receipt struct {
	EventID    int64         `json:"event_id"`
	RecordedAt ledger.Millis `json:"recorded_at"`
	Dropped    []string      `json:"metrics_dropped,omitempty" doc:"names of the metrics beyond the first three"`
}

// appendJSON spares the hottest call encoding/json.
func (r Receipt) appendJSON(b []byte) ([]byte, error) {
	if b == nil {
		b = make([]byte, 0, 72)
	}
	b = append(b, `{"event_id":`...)
	b = strconv.AppendInt(b, r.EventID, 10)
	b = append(b, `,"recorded_at":"`...)
	b = append(b, r.RecordedAt.String()...)
	b = append(b, '"')
	for i, name := range r.Dropped {
		if i == 0 {
			b = append(b, `,"metrics_dropped":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, name)
	}
	if len(r.Dropped) > 0 {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

func receipt(e ledger.Event) Receipt { return Receipt{EventID: e.ID, RecordedAt: e.At} }

func reportDone() Op {
	return Append(Spec{
		Name:  "report_done",
		Title: "Leave a receipt",
		Text: "Leave a receipt when you finish something, when it failed, or at a point others should know: who, what, outcome, file, up to three numbers. " +
			"A failure stays open until a done or resolved for the same actor and object_id. Pointers only: no transcripts, no code.",
		Surfaces:   Agent | Window | Web | Shell,
		AlwaysLoad: true,
	}, func(tx *ledger.Tx, c Caller, in reportDoneArgs) (Receipt, error) {
		if in.Type == ledger.TypeFocus {
			return Receipt{}, &ledger.FieldError{Field: "type", Rule: "a word other than focus, which is what focus_change writes", Got: in.Type}
		}
		e := c.event(in.Actor, in.Type)
		e.Object, e.Outcome, e.File = in.Object, in.Outcome, in.File
		kept, dropped := in.Metrics.Split(ledger.MaxMetrics)
		e.Metrics = kept
		if e.Injectable = ledger.InjectableByDefault(in.Type); in.Injectable != nil {
			e.Injectable = *in.Injectable
		}
		e, err := tx.Append(e)
		if err != nil {
			return Receipt{}, err
		}
		r := receipt(e)
		r.Dropped = dropped
		return r, nil
	})
}

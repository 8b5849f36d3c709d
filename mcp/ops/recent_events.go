package ops

import "steward/ledger"

// maxEventsJSON bounds an answer of recent_events. Doubled as text and escaped
// once more it still fits a line of 8 MiB.
const maxEventsJSON = 2 << 20

type recentEventsArgs struct {
	Since *int64 `json:"since_id" arg:"min=0" doc:"Events after this id, oldest first; 0 is from the beginning. Absent: the newest"`
	Limit int    `json:"limit" arg:"min=1,max=200,default=20" doc:"1 to 200; default 20"`
}

// Events is a stretch of the ledger.
type Events struct {
	Events  []ledger.Event `json:"events" doc:"ascending by id"`
	LastID  int64          `json:"last_id" doc:"to be passed as the next since_id"`
	HasMore bool           `json:"has_more" doc:"with since_id: more follow; without: older ones were left out"`
}

func recentEvents() Op {
	return Read(Spec{
		Name:  "recent_events",
		Title: "Read the ledger",
		Text: "Read events in full, in the order they happened. With since_id you get the oldest after it: pass last_id back while has_more is true and you miss nothing. " +
			"Without it you get the newest. For an overview ask situation_report first.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(v *ledger.View, _ Caller, in recentEventsArgs) (out Events, err error) {
		if in.Since == nil {
			out.Events, out.HasMore, err = v.Newest(in.Limit)
		} else {
			out.LastID = *in.Since
			out.Events, out.HasMore, err = v.Events(*in.Since, in.Limit)
		}
		if err != nil {
			return Events{}, err
		}
		if kept := fitEvents(out.Events, in.Since == nil); len(kept) < len(out.Events) {
			out.Events, out.HasMore = kept, true
		}
		if n := len(out.Events); n > 0 {
			out.LastID = out.Events[n-1].ID
		}
		return out, nil
	})
}

// fitEvents keeps as many events as surely fit maxEventsJSON, at least one: the
// first ones, so that a poller goes on behind them, or the newest.
func fitEvents(events []ledger.Event, newest bool) []ledger.Event {
	room := maxEventsJSON
	for n := range events {
		i := n
		if newest {
			i = len(events) - 1 - n
		}
		if room -= eventBound(&events[i]); room >= 0 || n == 0 {
			continue
		}
		if newest {
			return events[i+1:]
		}
		return events[:i]
	}
	return events
}

// eventBound is at least the size of e as JSON: keys, numbers and times take
// under 400 bytes.
func eventBound(e *ledger.Event) int {
	n := 400 + 2*ledger.MaxMetricsLen + len(e.Data)
	for _, s := range [...]string{e.Actor, e.Type, e.Object, e.ObjectType, e.Workspace, e.Outcome, e.File, e.Session, e.Caller} {
		n += textBound(s)
	}
	return n
}

// textBound is at least the size of s as JSON: six bytes for a control
// character and the two line separators, two for what else is escaped.
func textBound(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20:
			n += 5
		case c == '"' || c == '\\':
			n++
		case c == 0xe2: // where U+2028 and U+2029 begin
			n += 3
		}
	}
	return n
}

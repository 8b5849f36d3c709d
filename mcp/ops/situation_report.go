package ops

import (
	"fmt"
	"strings"
	"time"

	"steward/handoff"
	"steward/handoff/ticket"
	"steward/ledger"
)

// Sizes of a situation report.
const (
	maxReport      = 16384 // bytes as compact JSON
	reportKeys     = 20
	reportFailures = 10
	reportMovers   = 10
	reportHandoffs = 10
	reportOutcome  = 160 // code points
	reportFile     = 120
	movingFor      = 30 * time.Minute
)

type situationReportArgs struct {
	Workspace string `json:"workspace_id" arg:"line,max=128" doc:"Only this workspace's events, failures, actors and focus; handoffs are always all"`
	Since     int64  `json:"since_id" arg:"min=0" doc:"Key events after this id only"`
}

// Report is the situation: what happened, what failed, who is moving, what
// waits. Its JSON never exceeds 16 384 bytes.
type Report struct {
	Headline      string         `json:"headline" doc:"one sentence"`
	KeyEvents     []ledger.Event `json:"key_events" doc:"newest first, at most 20"`
	KeyEventsMore bool           `json:"key_events_more"`
	Failures      FailureList    `json:"unresolved_failures"`
	Movers        MoverList      `json:"moving_actors"`
	Focus         *Focus         `json:"focus"`
	Decisions     ticket.Count   `json:"decisions" doc:"questions that wait for the person"`
	Handoffs      OpenHandoffs   `json:"handoffs"`
	LastInjected  int64          `json:"last_injected_event_id" doc:"to be passed as the next since_id"`
	LastEvent     int64          `json:"last_event_id"`
	Cut           bool           `json:"cut,omitempty" doc:"items were left out to fit the size"`
}

// FailureList is the failures that stand.
type FailureList struct {
	Total int64         `json:"total"`
	Items []FailureItem `json:"items" doc:"newest first, at most 10"`
}

// FailureItem is one failure that stands: its newest event and how often it came.
type FailureItem struct {
	ledger.Event
	FirstID int64         `json:"first_id"`
	FirstAt ledger.Millis `json:"first_at"`
	Count   int64         `json:"count"`
}

func newFailureItem(f ledger.Failure) FailureItem {
	return FailureItem{Event: brief(f.Event), FirstID: f.FirstID, FirstAt: f.FirstAt, Count: f.Count}
}

// MoverList is the actors of the last 30 minutes.
type MoverList struct {
	Total int64       `json:"total"`
	More  bool        `json:"more,omitempty" doc:"counting stopped at total"`
	Items []MoverItem `json:"items" doc:"newest first, at most 10"`
}

// MoverItem is one actor and the last thing it said.
type MoverItem struct {
	Actor     string        `json:"actor"`
	Workspace string        `json:"workspace,omitempty"`
	LastAt    ledger.Millis `json:"last_at"`
	Last      LastWord      `json:"last"`
	Count     int64         `json:"count" doc:"events in the last 30 minutes"`
}

func newMoverItem(m ledger.Mover) MoverItem {
	return MoverItem{
		Actor: m.Actor, Workspace: m.Workspace, LastAt: m.LastAt, Count: m.Count,
		Last: LastWord{ID: m.LastID, Type: m.Last.Type, Object: m.Last.Object, Outcome: ledger.Clip(m.Last.Outcome, reportOutcome)},
	}
}

// LastWord is an event in a few words.
type LastWord struct {
	ID      int64  `json:"id"`
	Type    string `json:"type"`
	Object  string `json:"object_id,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// Focus is what is looked at; what was not said is null.
type Focus struct {
	Workspace  *string       `json:"workspace"`
	ObjectType *string       `json:"object_type"`
	Object     *string       `json:"object_id"`
	At         ledger.Millis `json:"at"`
}

// OpenHandoffs is how many handoffs there are, and the newest that have not ended.
type OpenHandoffs struct {
	Counts handoff.Count     `json:"counts"`
	Open   []handoff.Summary `json:"open" doc:"newest first, at most 10"`
}

func situationReport() Op {
	return Read(Spec{
		Name:  "situation_report",
		Title: "What is going on",
		Text: "Ask what is going on before you start or resume work: key events, unresolved failures, who is moving, what the user looks at, open handoffs, in one short answer. " +
			"Pass last_injected_event_id back as since_id to see only what is new.",
		Surfaces:   Agent | Window | Web | Shell,
		AlwaysLoad: true,
	}, func(v *ledger.View, _ Caller, in situationReportArgs) (Report, error) {
		r, err := look(v, in.Workspace, in.Since)
		if err != nil {
			return Report{}, fmt.Errorf("situation report: %w", err)
		}
		r.Headline = headline(&r, in.Since > 0)
		return r, nil
	})
}

// look reads the report from one snapshot.
func look(v *ledger.View, workspace string, since int64) (r Report, err error) {
	head, err := v.Head()
	if err != nil {
		return r, err
	}
	r.LastEvent = head.LastID
	if r.KeyEvents, r.KeyEventsMore, r.LastInjected, err = v.KeyEvents(workspace, since, reportKeys); err != nil {
		return r, err
	}
	for i, e := range r.KeyEvents {
		r.KeyEvents[i] = brief(e)
	}
	total, failures, err := v.Failures(workspace, reportFailures)
	if err != nil {
		return r, err
	}
	r.Failures.Total = total
	for _, f := range failures {
		r.Failures.Items = append(r.Failures.Items, newFailureItem(f))
	}
	var movers []ledger.Mover
	r.Movers.Total, r.Movers.More, movers, err = v.Movers(workspace, v.Now()-ledger.Millis(movingFor.Milliseconds()), reportMovers)
	if err != nil {
		return r, err
	}
	for _, m := range movers {
		r.Movers.Items = append(r.Movers.Items, newMoverItem(m))
	}
	if r.Focus, err = lookAtFocus(v, workspace); err != nil {
		return r, err
	}
	if r.Decisions, _, err = ticket.Counts(v, v.Now()); err != nil {
		return r, err
	}
	if r.Handoffs.Counts, err = handoff.Counts(v); err != nil {
		return r, err
	}
	r.Handoffs.Open, err = handoff.Open(v, reportHandoffs)
	return r, err
}

// lookAtFocus returns what is looked at, nil if nobody has said.
func lookAtFocus(v *ledger.View, workspace string) (*Focus, error) {
	e, ok, err := v.Focus(workspace)
	if err != nil || !ok {
		return nil, err
	}
	return &Focus{Workspace: said(e.Workspace), ObjectType: said(e.ObjectType), Object: said(e.Object), At: e.At}, nil
}

// said returns nil for a text that was not said.
func said(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// brief is an event as a report shows it: long texts cut, and without what
// recent_events tells in full.
func brief(e ledger.Event) ledger.Event {
	e.Outcome, e.File = ledger.Clip(e.Outcome, reportOutcome), ledger.Clip(e.File, reportFile)
	e.Session, e.Caller, e.Data = "", "", nil
	return e
}

// headline puts the counts into one sentence, what needs care first.
func headline(r *Report, since bool) string {
	c := r.Handoffs.Counts
	keys := int64(len(r.KeyEvents))
	var parts []string
	say := func(n int64, more bool, one, many string) {
		word := many
		if n == 1 && !more {
			word = one
		}
		if n > 0 && more {
			parts = append(parts, fmt.Sprintf("more than %d %s", n, word))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	say(r.Decisions.Pending, false, "decision waiting", "decisions waiting")
	say(r.Failures.Total, false, "unresolved failure", "unresolved failures")
	if since {
		say(keys, r.KeyEventsMore, "new key event", "new key events")
	}
	say(r.Movers.Total, r.Movers.More, "moving actor", "moving actors")
	say(c.Pending, false, "handoff waiting", "handoffs waiting")
	say(c.Claimed+c.Running, false, "handoff in work", "handoffs in work")
	switch n := len(parts); {
	case r.LastEvent == 0:
		return "Nothing has been reported yet."
	case n == 0 && since && keys == 0:
		return "All is quiet and nothing is new: no decisions waiting, no unresolved failures, no moving actors, no open handoffs."
	case n == 0:
		return "All is quiet: no decisions waiting, no unresolved failures, no moving actors, no open handoffs."
	case n == 1:
		return upperFirst(parts[0]) + "."
	default:
		return upperFirst(strings.Join(parts[:n-1], ", ")+" and "+parts[n-1]) + "."
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

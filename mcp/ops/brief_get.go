package ops

import (
	"fmt"
	"time"

	"steward/handoff"
	"steward/handoff/ticket"
	"steward/ledger"
)

// Sizes of a brief.
const (
	briefKeys     = 40  // rows of key events
	briefLooks    = 400 // key events they are made from
	briefFresh    = 200 // new key events are counted up to
	briefFailures = 50
	briefMovers   = 12
	briefHandoffs = 10
	workingFor    = 5 * time.Minute
	waitingAfter  = 10 * time.Minute
)

// viewer is whose mark of what was looked at counts: there is one person, in
// however many windows and pages.
const viewer = "person"

type briefGetArgs struct{}

// Brief is what the orb and the Brief view show.
type Brief struct {
	Now           ledger.Millis  `json:"now" doc:"when the ledger was looked at"`
	LastEvent     int64          `json:"last_event_id" doc:"to be passed to brief_seen once all of this has been looked at"`
	Looked        BriefLooked    `json:"looked"`
	Fresh         BriefFresh     `json:"fresh"`
	KeyEvents     []KeyEvent     `json:"key_events" doc:"newest first, at most 40, made from the newest 400 key events"`
	KeyEventsMore bool           `json:"key_events_more" doc:"there are older ones"`
	Failures      BriefFailures  `json:"failures"`
	Movers        BriefMovers    `json:"movers"`
	Working       BriefWorking   `json:"working"`
	Focus         *Focus         `json:"focus"`
	Decisions     ticket.Count   `json:"decisions" doc:"questions that wait for the person; several agents' same question is one"`
	Handoffs      BriefHandoffs  `json:"handoffs"`
	Orb           Orb            `json:"orb"`
	ChangesAt     *ledger.Millis `json:"changes_at" doc:"when time alone next changes any of this; null when it does not"`
}

// BriefLooked is how far the person has looked.
type BriefLooked struct {
	Through int64          `json:"through_id" doc:"0: never"`
	At      *ledger.Millis `json:"at"`
}

// BriefFresh is how much has happened since the person last looked.
type BriefFresh struct {
	Total   int64 `json:"total" doc:"events"`
	Key     int64 `json:"key" doc:"key events, counted up to 200"`
	KeyMore bool  `json:"key_more" doc:"counting stopped at key"`
}

// KeyEvent is a key event, or the newest of several equal failures.
type KeyEvent struct {
	ledger.Event
	Count   int64         `json:"count" doc:"failures equal in actor, workspace, object_id and type, this one included"`
	FirstID int64         `json:"first_id" doc:"the oldest of them"`
	FirstAt ledger.Millis `json:"first_at"`
}

// BriefFailures is the failures that stand.
type BriefFailures struct {
	Total int64         `json:"total"`
	Items []FailureItem `json:"items" doc:"newest first, at most 50"`
}

// BriefMovers is the actors of the last 30 minutes.
type BriefMovers struct {
	Total int64        `json:"total"`
	More  bool         `json:"more" doc:"counting stopped at total"`
	Items []BriefMover `json:"items" doc:"newest first, at most 12"`
}

// BriefMover is one actor, the last thing it said and how busy it was.
type BriefMover struct {
	MoverItem
	Buckets []int64 `json:"buckets" doc:"events in each of 15 stretches of 2 minutes, oldest first; the last one holds now"`
}

// BriefWorking is the actors of the last 5 minutes.
type BriefWorking struct {
	Total int64 `json:"total"`
	More  bool  `json:"more" doc:"counting stopped at total"`
}

// BriefHandoffs is how many handoffs there are, and the newest that have not ended.
type BriefHandoffs struct {
	Counts  handoff.Count     `json:"counts"`
	Waiting int64             `json:"waiting" doc:"pending for 10 minutes or longer"`
	Open    []handoff.Summary `json:"open" doc:"newest first, at most 10"`
}

// Orb is the face of the orb and the numbers on it.
type Orb struct {
	Face     string `json:"face" words:"idle|working|needs|failure|both"`
	Needs    int64  `json:"needs" doc:"what waits for the person"`
	Failures int64  `json:"failures"`
	Working  int64  `json:"working"`
}

func briefGet() Op {
	return Read(Spec{
		Name:  "brief_get",
		Title: "What the person sees first",
		Text:  "Everything the orb and the Brief view show: what is new since the person last looked, failures, who is moving, focus, handoffs, and when time alone next changes it.",
		// Not a tool: agents have situation_report, whose size is bounded for them.
		Surfaces: Window | Web,
	}, func(v *ledger.View, _ Caller, _ briefGetArgs) (Brief, error) {
		b, err := lookBriefly(v)
		if err != nil {
			return Brief{}, fmt.Errorf("brief: %w", err)
		}
		return b, nil
	})
}

// lookBriefly reads the brief from one snapshot. Each query looks at a bounded
// number of rows.
func lookBriefly(v *ledger.View) (b Brief, err error) {
	head, err := v.Head()
	if err != nil {
		return b, err
	}
	b.Now, b.LastEvent = v.Now(), head.LastID
	through, at, err := v.Looked(viewer)
	if err != nil {
		return b, err
	}
	b.Looked.Through = through
	if at > 0 {
		b.Looked.At = &at
	}
	b.Fresh.Total = max(head.LastID-through, 0) // ids are dense
	if b.Fresh.Key, b.Fresh.KeyMore, err = v.KeyCount(through, briefFresh); err != nil {
		return b, err
	}
	// Equal failures become one row, so that a workspace that fails over and over
	// does not push everything else off the page.
	keys, more, err := v.KeyGroups(briefLooks, briefKeys)
	if err != nil {
		return b, err
	}
	b.KeyEvents, b.KeyEventsMore = make([]KeyEvent, len(keys)), more
	for i, g := range keys {
		b.KeyEvents[i] = KeyEvent{Event: brief(g.Event), Count: g.Count, FirstID: g.FirstID, FirstAt: g.FirstAt}
	}
	total, failures, err := v.Failures("", briefFailures)
	if err != nil {
		return b, err
	}
	b.Failures = BriefFailures{Total: total, Items: make([]FailureItem, len(failures))}
	for i, f := range failures {
		b.Failures.Items[i] = newFailureItem(f)
	}
	if err := b.lookAtMovers(v); err != nil {
		return b, err
	}
	if b.Focus, err = lookAtFocus(v, ""); err != nil {
		return b, err
	}
	if err := b.lookAtHandoffs(v); err != nil {
		return b, err
	}
	var expiry ledger.Millis
	if b.Decisions, expiry, err = ticket.Counts(v, v.Now()); err != nil {
		return b, err
	}
	b.changes(expiry)
	b.Orb = orb(b.Decisions.Pending+b.Handoffs.Waiting, b.Failures.Total, b.Working.Total)
	return b, nil
}

// lookAtMovers fills in who is moving and who is working.
func (b *Brief) lookAtMovers(v *ledger.View) error {
	span, short := ledger.Millis(movingFor.Milliseconds()), ledger.Millis(workingFor.Milliseconds())
	total, more, movers, err := v.Movers("", v.Now()-span, briefMovers)
	if err != nil {
		return err
	}
	b.Movers = BriefMovers{Total: total, More: more, Items: make([]BriefMover, len(movers))}
	for i, m := range movers {
		b.Movers.Items[i] = BriefMover{MoverItem: newMoverItem(m), Buckets: m.Buckets}
	}
	counts, err := v.Activity(span, short)
	if err != nil {
		return err
	}
	b.Working = BriefWorking{Total: counts[1].Total, More: counts[1].More}
	for _, c := range counts {
		b.changes(c.Next)
	}
	if total > 0 {
		b.changes(ledger.NextStep(v.Now()))
	}
	return nil
}

func (b *Brief) lookAtHandoffs(v *ledger.View) (err error) {
	if b.Handoffs.Counts, err = handoff.Counts(v); err != nil {
		return err
	}
	var next ledger.Millis
	if b.Handoffs.Waiting, next, err = handoff.Waiting(v, waitingAfter); err != nil {
		return err
	}
	b.changes(next)
	b.Handoffs.Open, err = handoff.Open(v, briefHandoffs)
	return err
}

// changes notes that time alone changes something at that moment; 0 is never.
func (b *Brief) changes(at ledger.Millis) {
	if at > 0 && (b.ChangesAt == nil || at < *b.ChangesAt) {
		b.ChangesAt = &at
	}
}

// orb chooses the face. What needs the person and what failed come before what
// goes on by itself.
func orb(needs, failures, working int64) Orb {
	o := Orb{Face: "idle", Needs: needs, Failures: failures, Working: working}
	switch {
	case needs > 0 && failures > 0:
		o.Face = "both"
	case needs > 0:
		o.Face = "needs"
	case failures > 0:
		o.Face = "failure"
	case working > 0:
		o.Face = "working"
	}
	return o
}

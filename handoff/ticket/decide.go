package ticket

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"steward/handoff"
	"steward/ledger"
)

// The types of a ticket's events.
const (
	EventAsked     = "ticket_asked"
	EventAnswered  = "ticket_answered"
	EventDelivered = "ticket_delivered" // the asker was handed the answer
	EventUndone    = "ticket_undone"    // the person took the answer back
	EventRevoked   = "ticket_revoked"   // the asker was told so
	EventExpired   = "ticket_expired"
	EventCancelled = "ticket_cancelled"

	ObjectType = "ticket" // of every ticket event

	steward = "steward" // the actor of what nobody did
)

// eventDefault is how many characters of a default the event of its asking
// tells, so that it always fits; the event of its application tells all.
const eventDefault = 512

// change is what one decision does: the ticket as it will be, and the event that
// tells it. With no event nothing changes.
type change struct {
	event string
	after Ticket
	actor string
	move  Move
}

// Move is what a ticket event says in its data. Question and answer are the
// record of a decision, so they stand in it.
type Move struct {
	From       *Status       `json:"from,omitempty"` // nil at the beginning
	To         Status        `json:"to"`
	Stream     string        `json:"stream"`
	Question   string        `json:"question,omitempty"` // when asked
	Options    []string      `json:"options,omitempty"`
	Urgency    *Urgency      `json:"urgency,omitempty"`
	Default    string        `json:"default_answer,omitempty"`
	Reversible *bool         `json:"reversible,omitempty"`
	ExpiresAt  ledger.Millis `json:"expires_at,omitzero"`
	Answer     string        `json:"answer,omitempty"`
	DecidedBy  string        `json:"decided_by,omitempty"` // human, default, expiry
	NoticedAt  ledger.Millis `json:"noticed_at,omitzero"`  // of an expiry: when the service wrote it down
	Delivered  bool          `json:"delivered,omitempty"`  // of an undo: the asker had been handed the answer
	Request    string        `json:"request,omitempty"`    // of the word that an answer was taken back: the request that got it
}

// ask makes the first state of a valid question.
func ask(q Question, id string, now ledger.Millis) change {
	if q.Options == nil {
		q.Options = []string{}
	}
	t := Ticket{
		ID: id, Stream: q.Stream, AskedBy: q.AskedBy, Question: q.Question, Options: q.Options, Context: q.Context, Urgency: q.Urgency,
		Default: q.Default, Reversible: q.Reversible, CreatedAt: now, ExpiresAt: now + ledger.Millis(q.Timeout.Milliseconds()), Card: q.card(),
	}
	return change{event: EventAsked, after: t, actor: q.AskedBy, move: Move{
		To: Pending, Stream: t.Stream, Question: t.Question, Options: t.Options, Urgency: &t.Urgency, Default: ledger.Clip(t.Default, eventDefault), Reversible: &t.Reversible, ExpiresAt: t.ExpiresAt,
	}}
}

// answer gives the person's answer to a pending ticket.
func (t Ticket) answer(s string, now ledger.Millis) (change, error) {
	t = t.At(now)
	if t.Status != Pending {
		return change{}, t.closed()
	}
	from := t.Status
	t.Status, t.Answer, t.AnsweredBy, t.AnsweredAt, t.delivered = Answered, s, Human, now, false
	return change{event: EventAnswered, after: t, actor: handoff.User,
		move: Move{From: &from, To: Answered, Stream: t.Stream, Answer: s, DecidedBy: string(Human)}}, nil
}

// undo takes a person's answer back.
func (t Ticket) undo(now ledger.Millis) (change, error) {
	t = t.At(now)
	if t.Status != Answered {
		return change{}, refuse(ErrNoUndo, t)
	}
	if now-t.AnsweredAt > ledger.Millis(UndoWithin.Milliseconds()) {
		return change{}, refuse(ErrNoUndo, t)
	}
	from, had := t.Status, t.delivered
	left := max(t.ExpiresAt-t.AnsweredAt, ledger.Millis(UndoLeaves.Milliseconds()))
	t.Status, t.Answer, t.AnsweredBy, t.AnsweredAt, t.delivered = Pending, "", "", 0, false
	t.ExpiresAt = now + left
	t.revoked = t.revoked || had
	return change{event: EventUndone, after: t, actor: handoff.User,
		move: Move{From: &from, To: Pending, Stream: t.Stream, ExpiresAt: t.ExpiresAt, DecidedBy: string(Human), Delivered: had}}, nil
}

// cancel takes a question back for who asked it. On a ticket no longer pending
// nothing changes.
func (t Ticket) cancel(by string, now ledger.Millis) (change, error) {
	if t.AskedBy != by {
		return change{}, refuse(ErrNotAsker, t.At(now))
	}
	if t = t.At(now); t.Status != Pending {
		return change{after: t}, nil
	}
	from := t.Status
	t.Status = Cancelled
	return change{event: EventCancelled, after: t, actor: by, move: Move{From: &from, To: Cancelled, Stream: t.Stream}}, nil
}

// record writes down an expiry whose time has come.
func (t Ticket) record(now ledger.Millis) change {
	from := t.Status
	t = t.expire()
	m := Move{From: &from, To: Expired, Stream: t.Stream, ExpiresAt: t.ExpiresAt, NoticedAt: now, Answer: t.Answer, DecidedBy: "expiry"}
	if t.AnsweredBy == Default {
		m.DecidedBy = string(Default)
	}
	return change{event: EventExpired, after: t, actor: steward, move: m}
}

// deliver hands the answer, or the word that an earlier one was taken back, to
// who asked. Whoever else looks changes nothing.
func (t Ticket) deliver(by string, now ledger.Millis) (c change, revoked bool) {
	t = t.At(now)
	from := t.Status
	switch {
	case t.AskedBy != by:
	case t.revoked:
		t.revoked = false
		t.delivered = t.Answer != "" // it may have been answered anew, and that goes along
		return change{event: EventRevoked, after: t, actor: by, move: Move{From: &from, To: t.Status, Stream: t.Stream}}, true
	case t.Answer != "" && !t.delivered:
		t.delivered = true
		return change{event: EventDelivered, after: t, actor: by, move: Move{From: &from, To: t.Status, Stream: t.Stream, DecidedBy: string(t.AnsweredBy)}}, false
	}
	return change{after: t}, false
}

// closed is the refusal of a ticket that is no longer pending.
func (t Ticket) closed() error {
	switch t.Status {
	case Answered:
		return refuse(ErrAnswered, t)
	case Expired:
		return refuse(ErrExpired, t)
	}
	return refuse(ErrCancelled, t)
}

func refuse(err error, t Ticket) error { return &StateError{Err: err, State: t, Hint: hints[err]} }

var hints = map[error]string{
	ErrAnswered:  "It can be undone for five minutes.",
	ErrExpired:   "Who asked has gone on without an answer, or with the default.",
	ErrCancelled: "Nobody waits for an answer any more.",
	ErrNoUndo:    "Only an answer of a person can be undone, for five minutes.",
	ErrNotAsker:  "The person can answer it.",
}

// entry returns the event that tells c. What the person should see again later
// is a key event.
func (c change) entry(by handoff.By) (ledger.Event, error) {
	if c.event == EventRevoked {
		c.move.Request = by.Request
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.move); err != nil {
		return ledger.Event{}, fmt.Errorf("ticket: event data: %w", err)
	}
	e := ledger.Event{
		Actor: c.actor, Type: c.event, Object: c.after.ID, ObjectType: ObjectType,
		Workspace: c.after.Stream, Caller: by.Workspace, Session: by.Session, Data: data.Bytes(),
	}
	switch c.event {
	case EventAsked:
		e.Outcome = c.after.Question
	case EventAnswered, EventExpired:
		e.Outcome = ledger.Clip(oneLine(c.after.Answer), ledger.MaxOutcome)
	}
	if e.Failing() { // in its own words; a question is no failure, whatever it says
		e.Outcome = strconv.Quote(e.Outcome)
	}
	switch c.event {
	case EventAnswered, EventUndone:
		e.Source = ledger.Person
	case EventExpired:
		e.Source = ledger.System
	}
	switch c.event {
	case EventAsked, EventAnswered, EventUndone, EventExpired:
		e.Injectable = true
	}
	return e, nil
}

// oneLine makes a text fit a field of one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

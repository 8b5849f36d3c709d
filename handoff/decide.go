package handoff

import (
	"encoding/json"
	"errors"
	"fmt"

	"steward/ledger"
)

// The types of a handoff's events.
const (
	EventCreated  = "handoff_created"
	EventClaimed  = "handoff_claimed"
	EventRunning  = "handoff_running"
	EventFinished = "handoff_finished"
	EventReleased = "handoff_released"
	EventSettled  = "handoff_settled"

	ObjectType = "handoff" // of every handoff event
)

// change is what one decision does: the handoff as it will be, and the event
// that tells it. With no event nothing changes.
type change struct {
	event    string
	from     Status // the zero value means nothing at a creation
	after    Handoff
	actor    string
	previous string // the owner before, when somebody else took the claim away
	reason   string
	person   bool // decided by the person
}

// command is what can be asked of a stored handoff.
type command interface {
	Validate() error
	decide(h Handoff, now ledger.Millis) (change, error)
}

// create makes the first state of a valid new handoff.
func create(n NewHandoff, id ID, by By, now ledger.Millis) change {
	actor := n.SourceSession
	if actor == "" {
		switch {
		case by.Person:
			actor = User
		case by.Workspace != "":
			actor = by.Workspace
		default:
			actor = nobody
		}
	}
	return change{event: EventCreated, actor: actor, after: Handoff{
		ID: id, Target: n.Target, Status: Pending, Instruction: n.Instruction, Attachments: n.Attachments, Context: n.Context,
		Key: n.Key, SourceSession: n.SourceSession, Caller: by.Workspace, CreatedAt: now,
	}}
}

// decide gives a pending handoff to the worker, and takes the owner's second
// claim for its word that it has started. It never fails: that another worker
// was faster, or the work is over, is an answer. The worker holds the handoff
// afterwards exactly if held says so.
func (c *claim) decide(h Handoff, now ledger.Millis) (change, error) {
	next := h
	switch {
	case h.Status == Pending:
		next.Status, next.Worker, next.ClaimedAt = Claimed, c.Worker, now
		next.Fence++
		return change{event: EventClaimed, from: h.Status, after: next, actor: c.Worker}, nil
	case h.Status == Claimed && h.Worker == c.Worker:
		next.Status, next.RunningAt = Running, now
		return change{event: EventRunning, from: h.Status, after: next, actor: c.Worker}, nil
	}
	return change{from: h.Status, after: h}, nil
}

// held tells whether worker holds h.
func held(h Handoff, worker string) bool { return !h.Status.Final() && h.Worker == worker }

// decide ends a handoff for its owner. An old fence is looked at first, see the
// package comment.
func (c *FinishCommand) decide(h Handoff, now ledger.Millis) (change, error) {
	err := sameFence(h, c.Fence, ErrClaimLost)
	switch {
	case errors.Is(err, ErrClaimLost):
		return change{}, err
	case h.Status.Final() && err == nil && h.Worker == c.Worker && h.Status == c.Status:
		return change{from: h.Status, after: h}, nil
	case h.Status.Final():
		return change{}, refuse(ErrFinal, h)
	case err != nil:
		return change{}, err
	case h.Status == Pending:
		return change{}, refuse(ErrUnclaimed, h)
	case h.Worker != c.Worker:
		return change{}, refuse(ErrNotOwner, h)
	}
	next := h
	next.Status, next.Outcome, next.Metrics, next.Error, next.FinishedAt = c.Status, c.Outcome, c.Metrics, c.Error, now
	return change{event: EventFinished, from: h.Status, after: next, actor: c.Worker}, nil
}

// decide frees a held handoff. The times of the claim go with it; the events
// keep them.
func (c *ReleaseCommand) decide(h Handoff, _ ledger.Millis) (change, error) {
	switch {
	case h.Status.Final():
		return change{}, refuse(ErrFinal, h)
	case h.Status == Pending:
		return change{}, refuse(ErrUnclaimed, h)
	}
	if err := sameFence(h, c.Fence, ErrConflict); err != nil {
		return change{}, err
	}
	next := h
	next.Status, next.Worker, next.ClaimedAt, next.RunningAt = Pending, "", 0, 0
	next.Fence++
	return change{event: EventReleased, from: h.Status, after: next, actor: User, previous: h.Worker, reason: c.Reason, person: true}, nil
}

// decide ends a handoff for the person. Its owner loses it, so that a late
// finish meets the person's decision and not its own; when it was claimed and
// started stays.
func (c *SettleCommand) decide(h Handoff, now ledger.Millis) (change, error) {
	if h.Status.Final() {
		return change{}, refuse(ErrFinal, h)
	}
	if err := sameFence(h, c.Fence, ErrConflict); err != nil {
		return change{}, err
	}
	next := h
	next.Status, next.Worker, next.Outcome, next.FinishedAt = c.Status, "", c.Outcome, now
	next.Fence++
	return change{event: EventSettled, from: h.Status, after: next, actor: User, previous: h.Worker, reason: c.Reason, person: true}, nil
}

// sameFence refuses a fence that is not the handoff's. To the worker an older
// one means that its claim is over, to the person that the handoff has changed
// since it was looked at.
func sameFence(h Handoff, fence *int64, older error) error {
	switch {
	case fence == nil || *fence == h.Fence:
		return nil
	case *fence < h.Fence:
		return refuse(older, h)
	}
	return refuse(ErrFence, h)
}

func refuse(err error, h Handoff) error {
	return &StateError{Err: err, State: h, Hint: hints[err]}
}

var hints = map[error]string{
	ErrFinal:     "Nothing changes it any more. handoff_get shows how it ended; more work is a new handoff.",
	ErrClaimLost: "Stop working on it: the claim was released or the handoff settled since. handoff_get shows how it stands.",
	ErrNotOwner:  "Only the worker that claimed it can finish it; the person can release or settle it in the window.",
	ErrUnclaimed: "Nobody holds it: handoff_claim comes first.",
	ErrFence:     "Use the fence that handoff_claim returned.",
	ErrConflict:  "It has changed since it was looked at: look again.",
}

// Move is what a handoff event says of its handoff in its data. It never has
// the instruction.
type Move struct {
	From          *Status `json:"from,omitempty"` // nil at a creation
	To            Status  `json:"to"`
	Target        string  `json:"target"`
	Worker        string  `json:"worker,omitempty"`
	Fence         int64   `json:"fence"`                    // after the change
	PreviousOwner string  `json:"previous_owner,omitempty"` // who lost it by a release or settlement
	Reason        string  `json:"reason,omitempty"`         // the person's
	DecidedBy     string  `json:"decided_by,omitempty"`     // human, when the person decided
}

const byHuman = "human"

// entry returns the event that tells c. Created, finished and settled ones are
// key events; an end's outcome is the status, so that a failed handoff is a
// failure.
func (c change) entry(by By) (ledger.Event, error) {
	m := Move{To: c.after.Status, Target: c.after.Target, Worker: c.after.Worker, Fence: c.after.Fence, PreviousOwner: c.previous, Reason: c.reason}
	if c.event != EventCreated {
		m.From = &c.from
	}
	e := ledger.Event{
		Actor: c.actor, Type: c.event, Object: string(c.after.ID), ObjectType: ObjectType,
		Workspace: by.Workspace, Caller: by.Workspace, Session: by.Session,
	}
	if by.Person || c.person {
		e.Source = ledger.Person
	}
	if c.person {
		m.DecidedBy = byHuman
	}
	switch c.event {
	case EventFinished, EventSettled:
		e.Outcome, e.Injectable = c.after.Status.String(), true
	case EventCreated:
		e.Injectable = true
	}
	data, err := marshal(m)
	if err != nil {
		return ledger.Event{}, fmt.Errorf("handoff: event data: %w", err)
	}
	e.Data = json.RawMessage(data)
	return e, nil
}

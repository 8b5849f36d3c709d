package ops

import (
	"errors"
	"strings"

	"steward/handoff"
	"steward/ledger"
)

type eventGetArgs struct {
	Event int64 `json:"event_id" arg:"required,min=1"`
}

// EventDetail is one event in full.
type EventDetail struct {
	Event   ledger.Event `json:"event"`
	Handoff string       `json:"handoff,omitempty" doc:"the id of the handoff it is about"`
}

func eventGet() Op {
	return Read(Spec{
		Name:  "event_get",
		Title: "Read an event",
		Text:  "Read one event in full, and which handoff it is about.",
		// Not a tool: recent_events reads any stretch of the ledger in full.
		Surfaces: Window | Web,
	}, func(v *ledger.View, _ Caller, in eventGetArgs) (out EventDetail, err error) {
		if out.Event, err = v.Event(in.Event); err != nil {
			return EventDetail{}, err
		}
		// An object's name is whatever its reporter wrote.
		if !strings.HasPrefix(out.Event.Object, "hnd_") {
			return out, nil
		}
		switch h, err := handoff.Get(v, out.Event.Object); {
		case err == nil:
			out.Handoff = string(h.ID)
		case !errors.Is(err, handoff.ErrNotFound):
			return EventDetail{}, err
		}
		return out, nil
	})
}

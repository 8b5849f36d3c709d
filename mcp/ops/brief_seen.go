package ops

import "steward/ledger"

type briefSeenArgs struct {
	Through int64 `json:"through_id" arg:"required,min=0" doc:"last_event_id of the brief that was on the screen"`
}

// Seen is how far the person has looked now.
type Seen struct {
	Through int64         `json:"through_id" doc:"never less than before, never above the last event"`
	At      ledger.Millis `json:"at"`
}

func briefSeen() Op {
	return Append(Spec{
		Name:  "brief_seen",
		Title: "Say how far the person has looked",
		Text:  "Note that the person has looked at everything up to an event, so that the next brief shows as new only what came after it. One mark for all windows and pages; no event tells of it.",
		// Not for agents: what an agent has read says nothing about the person.
		Surfaces: Window | Web,
		Person:   true,
		Stirs:    true,
	}, func(tx *ledger.Tx, _ Caller, in briefSeenArgs) (out Seen, err error) {
		out.Through, out.At, err = tx.Look(viewer, in.Through)
		return out, err
	})
}

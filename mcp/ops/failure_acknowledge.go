package ops

import (
	"errors"
	"fmt"

	"steward/handoff"
	"steward/ledger"
)

type failureAcknowledgeArgs struct {
	EventID int64  `json:"event_id" arg:"required,min=1" doc:"Id of the failure as the report shows it"`
	Reason  string `json:"reason" arg:"line,max=512" doc:"Why it needs no more care"`
}

// acknowledgement is the data of the event: which failure, and the person's reason.
type acknowledgement struct {
	ledger.Acknowledgement
	FailureID int64  `json:"failure_id"`
	Reason    string `json:"reason,omitempty"`
	DecidedBy string `json:"decided_by"`
}

// failureAcknowledge names the failing event and not its actor and object, so
// that a person never clears a failure that came after the one on the screen.
func failureAcknowledge() Op {
	return Decide(Spec{
		Name:     "failure_acknowledge",
		Title:    "Acknowledge a failure",
		Text:     "Take note of an unresolved failure as the person: it leaves the report, and an event says so. Refused with the current failure when a newer one of the same actor and object has come.",
		Surfaces: Window | Web,
	}, func(tx *ledger.Tx, c Caller, in failureAcknowledgeArgs) (Receipt, error) {
		failing, err := tx.Event(in.EventID)
		if err != nil {
			return Receipt{}, err
		}
		standing, err := tx.FailureOf(failing.Actor, failing.Object, failing.Workspace)
		switch {
		case errors.Is(err, ledger.ErrNotFound):
			return Receipt{}, &Error{Code: Closed, Field: "event_id", Err: err,
				Message: fmt.Sprintf("event %d is no unresolved failure: it never was one, or was resolved or acknowledged since", in.EventID)}
		case err != nil:
			return Receipt{}, err
		case standing.ID != in.EventID:
			state, err := marshal(newFailureItem(standing))
			if err != nil {
				return Receipt{}, err
			}
			return Receipt{}, &Error{Code: Conflict, Field: "event_id", State: state, Hint: "look at it again",
				Message: fmt.Sprintf("event %d is not the newest of this failure; event %d is", in.EventID, standing.ID)}
		}
		data, err := marshal(acknowledgement{
			Acknowledgement: ledger.Acknowledgement{Actor: failing.Actor, Object: failing.Object, Workspace: failing.Workspace},
			FailureID:       failing.ID, Reason: in.Reason, DecidedBy: "human",
		})
		if err != nil {
			return Receipt{}, err
		}
		e := c.event(handoff.User, ledger.TypeAcknowledged)
		// The reason stays in data: as an outcome, a reason like "failed" would
		// make the acknowledgement itself a failure.
		e.Object, e.ObjectType, e.Workspace, e.Injectable, e.Data = failing.Object, failing.ObjectType, failing.Workspace, true, data
		e, err = tx.Append(e)
		return receipt(e), err
	})
}

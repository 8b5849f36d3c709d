package ops

import (
	"steward/handoff/ticket"
	"steward/ledger"
)

type cancelTicketArgs struct {
	ID string `json:"id" arg:"required,line,max=128"`
}

// Cancelled is how a ticket stands after its asker took it back, or tried to.
type Cancelled struct {
	ID      string        `json:"id"`
	Status  ticket.Status `json:"status"`
	Changed bool          `json:"changed" doc:"false: it was no longer pending, and stays as it is"`
}

func cancelTicket() Op {
	return Append(Spec{
		Name:       "cancel_ticket",
		Title:      "Take a question back",
		Text:       "Take back a question that you no longer need answered. One that is not pending any more stays as it is; its status returns.",
		Surfaces:   Agent | Shell,
		Idempotent: true,
	}, func(tx *ledger.Tx, c Caller, in cancelTicketArgs) (Cancelled, error) {
		t, changed, err := ticket.Cancel(tx, in.ID, c.asker(), c.by())
		return Cancelled{ID: t.ID, Status: t.Status, Changed: changed}, err
	})
}

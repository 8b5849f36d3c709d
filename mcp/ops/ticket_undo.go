package ops

import (
	"steward/handoff/ticket"
	"steward/ledger"
)

type ticketUndoArgs struct {
	ID  string   `json:"id" arg:"required,line,max=128" doc:"tkt_… or the short T-…"`
	IDs []string `json:"ids" arg:"max=200,each=128" doc:"The others that the answer reached"`
}

// UndoneTickets are pending again.
type UndoneTickets struct {
	Tickets []ticket.Ticket `json:"tickets"`
}

func ticketUndo() Op {
	return Decide(Spec{
		Name:     "ticket_undo",
		Title:    "Take an answer back",
		Text:     "Take back an answer within five minutes, as the person: the question is pending again, and an agent that has read the answer is told once that it no longer counts.",
		Surfaces: Window | Web,
	}, func(tx *ledger.Tx, c Caller, in ticketUndoArgs) (out UndoneTickets, err error) {
		out.Tickets, err = ticket.Undo(tx, in.ID, in.IDs, c.by())
		return out, err
	})
}

package ops

import (
	"steward/handoff/ticket"
	"steward/ledger"
)

// QueuedTickets is the person's queue.
type QueuedTickets struct {
	Now     ledger.Millis   `json:"now"`
	Tickets []ticket.Ticket `json:"tickets" doc:"pending ones oldest first, then those answered in the last five minutes"`
}

func ticketList() Op {
	return Read(Spec{
		Name:     "ticket_list",
		Title:    "The queue of questions",
		Text:     "Everything that waits for the person, and what they answered in the last five minutes and can still take back.",
		Surfaces: Window | Web,
	}, func(v *ledger.View, _ Caller, _ struct{}) (out QueuedTickets, err error) {
		out.Now = v.Now()
		if out.Tickets, _, err = ticket.PendingAt(v, out.Now, ticket.MaxPending); err != nil {
			return QueuedTickets{}, err
		}
		answered, err := ticket.AnsweredSince(v, out.Now-ledger.Millis(ticket.UndoWithin.Milliseconds()), ticket.MaxPending)
		out.Tickets = append(out.Tickets, answered...)
		return out, err
	})
}

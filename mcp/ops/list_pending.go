package ops

import (
	"steward/handoff/ticket"
	"steward/ledger"
)

const (
	pendingListed  = 50
	foreignContext = 200 // characters of another stream's context
)

// PendingTickets is what waits for the person.
type PendingTickets struct {
	Tickets []ticket.Ticket `json:"tickets" doc:"oldest first, at most 50; another stream's context is cut to 200 characters"`
	Total   int             `json:"total"`
}

func listPending() Op {
	return Read(Spec{
		Name:     "list_pending",
		Title:    "Open questions",
		Text:     "List the questions that wait for the person, oldest first: look here before you ask what somebody has asked already.",
		Surfaces: Agent | Shell,
	}, func(v *ledger.View, c Caller, _ struct{}) (out PendingTickets, err error) {
		if out.Tickets, out.Total, err = ticket.PendingAt(v, v.Now(), pendingListed); err != nil {
			return PendingTickets{}, err
		}
		for i, t := range out.Tickets {
			if c.Stream == "" || t.Stream != c.Stream {
				out.Tickets[i].Context = ledger.Clip(t.Context, foreignContext)
			}
		}
		return out, nil
	})
}

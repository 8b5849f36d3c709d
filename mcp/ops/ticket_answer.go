package ops

import (
	"steward/handoff/ticket"
	"steward/ledger"
)

type ticketAnswerArgs struct {
	ID     string   `json:"id" arg:"required,line,max=128" doc:"tkt_… or the short T-…"`
	Answer string   `json:"answer" arg:"required,max=2000"`
	IDs    []string `json:"ids" arg:"max=200,each=128" doc:"The others of the card that was shown: the same question, asked again"`
	By     string   `json:"answered_by" arg:"max=128" doc:"Ignored: an answer here is the person's"`
}

// AnsweredTickets says whom an answer has reached.
type AnsweredTickets struct {
	Ticket   ticket.Ticket   `json:"ticket"`
	Answered []ticket.Ticket `json:"answered"`
	Missed   []ticket.Ticket `json:"missed,omitempty" doc:"no longer pending when the answer came"`
}

func ticketAnswer() Op {
	return Decide(Spec{
		Name:     "ticket_answer",
		Title:    "Answer a question",
		Text:     "Answer an agent's question as the person. With ids it reaches the tickets of one card that are pending; with id alone that one. Refused when none is.",
		Surfaces: Window | Web,
	}, func(tx *ledger.Tx, c Caller, in ticketAnswerArgs) (AnsweredTickets, error) {
		r, err := ticket.Answer(tx, in.ID, in.Answer, in.IDs, c.by())
		return AnsweredTickets(r), err
	})
}

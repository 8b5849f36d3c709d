package ops

import (
	"time"

	"steward/handoff/ticket"
	"steward/ledger"
)

type waitForAnswerArgs struct {
	ID      string `json:"id" arg:"required,line,max=128"`
	Timeout *int64 `json:"timeout_seconds" arg:"min=0" doc:"0 to 600, default 50; more than 50 wants a progress token"`
}

// Waited is what a wait for an answer has come to.
type Waited struct {
	ID         string        `json:"id"`
	Status     ticket.Status `json:"status"`
	Answer     string        `json:"answer,omitempty" doc:"with words before it that say whose it is"`
	AnsweredBy ticket.By     `json:"answered_by,omitempty" doc:"human or default"`
	AnsweredAt ledger.Millis `json:"answered_at,omitzero"`
	Revoked    bool          `json:"revoked,omitempty" doc:"an answer that you were given was taken back: do not act on it"`
	ExpiresAt  ledger.Millis `json:"expires_at,omitzero" doc:"while pending"`
	Note       string        `json:"note,omitempty"`
}

// What stands before an answer where an agent reads it, so that no model takes
// a default for a person's word.
const (
	humanAnswer   = "HUMAN ANSWER: "
	defaultAnswer = "DEFAULT ANSWER (applied on expiry; no human responded): "
)

// wakesAt makes a wait look again at the moment of the expiry.
func (w Waited) wakesAt() ledger.Millis { return w.ExpiresAt }

func newWaited(t ticket.Ticket, revoked bool) Waited {
	w := Waited{ID: t.ID, Status: t.Status, Revoked: revoked}
	switch {
	case t.Status == ticket.Pending:
		w.ExpiresAt = t.ExpiresAt
		w.Note = "No answer yet. Go on with work that does not depend on it and call again later, not in a tight loop."
		if revoked {
			w.Note = "The answer you were given was taken back: undo or stop what you did on its account. The question is open again; call again later."
		}
	case t.AnsweredBy == ticket.Human:
		w.Answer, w.AnsweredBy, w.AnsweredAt = humanAnswer+t.Answer, t.AnsweredBy, t.AnsweredAt
	case t.AnsweredBy == ticket.Default:
		w.Answer, w.AnsweredBy, w.AnsweredAt = defaultAnswer+t.Answer, t.AnsweredBy, t.AnsweredAt
	case t.Status == ticket.Expired:
		w.Note = "Nobody answered in time. That is no consent: choose what can be undone, or ask again."
	}
	return w
}

// noted adds what became of the time that was asked for.
func (w Waited) noted(c Caller, in waitForAnswerArgs) Waited {
	if w.Status != ticket.Pending || w.Revoked || in.Timeout == nil {
		return w
	}
	switch asked := time.Duration(*in.Timeout) * time.Second; {
	case asked > longestWait:
		w.Note = "timeout_seconds is at most 600 and was cut to that. " + w.Note
		if c.Progress == nil {
			w.Note = "timeout_seconds is at most 600, and at most 50 without a progress token: it was cut to that. " + newWaited(ticket.Ticket{}, false).Note
		}
	case asked > defaultWait && c.Progress == nil:
		w.Note = "Waits over 50 s need a progress token: this one ended at 50 s. " + w.Note
	}
	return w
}

func waitForAnswer() Op {
	return Wait(Spec{
		Name:  "wait_for_answer",
		Title: "Wait for an answer",
		Text: "Wait for the answer to ask_human. pending: none yet; do independent work and call again later, never in a tight loop. " +
			"revoked: the answer you had no longer counts. An answer says whether a person or the default gave it.",
		Surfaces: Agent | Shell,
	}, func(in waitForAnswerArgs) time.Duration {
		if in.Timeout == nil {
			return -1
		}
		return time.Duration(min(*in.Timeout, int64(longestWait/time.Second))) * time.Second
	}, func(v *ledger.View, c Caller, in waitForAnswerArgs) (Waited, bool, error) {
		t, err := ticket.Get(v, in.ID, v.Now())
		if err != nil {
			return Waited{}, false, err
		}
		told, err := t.Told(v, c.asker(), c.by())
		return newWaited(t, false).noted(c, in), told || !t.Waits(c.asker()), err
	}, func(tx *ledger.Tx, c Caller, in waitForAnswerArgs) (Waited, error) {
		t, revoked, err := ticket.Deliver(tx, in.ID, c.asker(), c.by())
		if err == nil && !revoked {
			revoked, err = t.Told(&tx.View, c.asker(), c.by())
		}
		if err != nil {
			return Waited{}, err
		}
		return newWaited(t, revoked), nil
	})
}

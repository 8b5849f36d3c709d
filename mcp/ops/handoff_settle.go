package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffSettleArgs struct {
	Handoff string `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
	Status  string `json:"status" arg:"required,enum=done|failed|cancelled"`
	Outcome string `json:"outcome" arg:"line,max=512" doc:"One line: what came of it"`
	Reason  string `json:"reason" arg:"line,max=512" doc:"Why the person ends it"`
	Fence   *int64 `json:"fence" arg:"min=0" doc:"Of the handoff as it was seen; refuses one that changed since"`
}

// HandoffState is the answer to a decision about a handoff.
type HandoffState struct {
	Handoff handoff.Handoff `json:"handoff"`
}

func handoffSettle() Op {
	return Decide(Spec{
		Name:     "handoff_settle",
		Title:    "Settle a handoff",
		Text:     "End a pending, claimed or running handoff as the person: done, failed or cancelled. A worker that holds it loses its claim, and its late finish is refused with this decision.",
		Surfaces: Window | Web,
	}, func(tx *ledger.Tx, c Caller, in handoffSettleArgs) (out HandoffState, err error) {
		status, err := handoff.ParseStatus(in.Status)
		if err != nil {
			return HandoffState{}, err
		}
		out.Handoff, err = handoff.Settle(tx, handoff.SettleCommand{
			Ref: in.Handoff, Status: status, Outcome: in.Outcome, Reason: in.Reason, Fence: in.Fence,
		}, c.by())
		return out, err
	})
}

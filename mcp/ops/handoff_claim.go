package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffClaimArgs struct {
	Handoff string `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
	Worker  string `json:"worker_session_id" arg:"required,line,max=128" doc:"Your session id; the same in claim and finish"`
}

func handoffClaim() Op {
	return Append(Spec{
		Name:  "handoff_claim",
		Title: "Take a handoff",
		Text: "Take a pending handoff before you work on it; claim again when you start, and it is running. claimed:false means it is not yours: status and owner say why, so leave it. " +
			"Keep the fence for handoff_finish. A claim never times out.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(tx *ledger.Tx, c Caller, in handoffClaimArgs) (handoff.ClaimResult, error) {
		return handoff.Claim(tx, in.Handoff, in.Worker, c.by())
	})
}

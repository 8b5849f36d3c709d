package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffFinishArgs struct {
	Handoff string  `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
	Worker  string  `json:"worker_session_id" arg:"required,line,max=128" doc:"The session id you claimed with"`
	Status  string  `json:"status" arg:"required,enum=done|failed|cancelled"`
	Outcome string  `json:"outcome" arg:"line,max=512" doc:"One line: what came of it"`
	Metrics Ordered `json:"metrics" arg:"max=8"`
	Error   string  `json:"error" arg:"max=2000" doc:"What went wrong"`
	Fence   *int64  `json:"fence" arg:"min=0" doc:"From handoff_claim; refuses a claim that is no longer yours"`
}

func handoffFinish() Op {
	return Append(Spec{
		Name:  "handoff_finish",
		Title: "End a handoff",
		Text: "End the handoff you claimed: done, failed or cancelled, with an outcome. Only its owner can; repeating the same status changes nothing (changed:false). " +
			"A refusal carries the current state: when it is closed, stop working on it.",
		Surfaces:   Agent | Window | Web | Shell,
		Idempotent: true,
	}, func(tx *ledger.Tx, c Caller, in handoffFinishArgs) (handoff.FinishResult, error) {
		status, err := handoff.ParseStatus(in.Status)
		if err != nil {
			return handoff.FinishResult{}, err
		}
		return handoff.Finish(tx, handoff.FinishCommand{
			Ref: in.Handoff, Worker: in.Worker, Status: status,
			Outcome: in.Outcome, Metrics: ledger.Metrics(in.Metrics), Error: in.Error, Fence: in.Fence,
		}, c.by())
	})
}

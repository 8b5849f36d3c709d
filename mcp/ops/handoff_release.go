package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffReleaseArgs struct {
	Handoff string `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
	Reason  string `json:"reason" arg:"line,max=512" doc:"Why it is taken back"`
	Fence   *int64 `json:"fence" arg:"min=0" doc:"Of the handoff as it was seen; refuses one that changed since"`
}

func handoffRelease() Op {
	return Decide(Spec{
		Name:     "handoff_release",
		Title:    "Release a handoff",
		Text:     "Take a claimed or running handoff back from its worker as the person: it is pending again, and the old owner's late finish is refused.",
		Surfaces: Window | Web,
	}, func(tx *ledger.Tx, c Caller, in handoffReleaseArgs) (out HandoffState, err error) {
		out.Handoff, err = handoff.Release(tx, handoff.ReleaseCommand{Ref: in.Handoff, Reason: in.Reason, Fence: in.Fence}, c.by())
		return out, err
	})
}

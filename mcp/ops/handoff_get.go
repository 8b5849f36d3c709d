package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffGetArgs struct {
	Handoff string `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
}

// HandoffDetail is a handoff with everything that happened to it.
type HandoffDetail struct {
	Handoff     handoff.Handoff      `json:"handoff"`
	Short       string               `json:"short_id"`
	Transitions []handoff.Transition `json:"transitions" doc:"in their order, the newest 100"`
	More        bool                 `json:"transitions_more,omitempty" doc:"earlier ones were left out"`
}

func handoffGet() Op {
	return Read(Spec{
		Name:     "handoff_get",
		Title:    "Read a handoff",
		Text:     "Read one handoff in full: instruction, attachments, context, owner, outcome, times and every transition. Do this after you claimed it and before you start.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(v *ledger.View, _ Caller, in handoffGetArgs) (out HandoffDetail, err error) {
		if out.Handoff, err = handoff.Get(v, in.Handoff); err != nil {
			return HandoffDetail{}, err
		}
		id := string(out.Handoff.ID)
		if out.Short, err = handoff.Short(v, out.Handoff.ID); err != nil {
			return HandoffDetail{}, err
		}
		out.Transitions, out.More, err = handoff.Transitions(v, id)
		return out, err
	})
}

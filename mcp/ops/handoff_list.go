package ops

import (
	"steward/handoff"
	"steward/ledger"
)

type handoffListArgs struct {
	Status string `json:"status" arg:"enum=pending|claimed|running|done|failed|cancelled"`
	Target string `json:"target" arg:"line,max=64"`
	Limit  int    `json:"limit" arg:"min=1,max=50,default=10" doc:"1 to 50; default 10"`
}

// HandoffList is a list of handoffs without their contents.
type HandoffList struct {
	Handoffs []handoff.Summary `json:"handoffs" doc:"newest first"`
	HasMore  bool              `json:"has_more"`
}

func handoffList() Op {
	return Read(Spec{
		Name:  "handoff_list",
		Title: "List handoffs",
		Text: "List handoffs, newest first, by status or target: a one-line preview, owner and times each. " +
			"Look for pending ones of your target when you are free for work; handoff_get has the contents.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(v *ledger.View, _ Caller, in handoffListArgs) (out HandoffList, err error) {
		f := handoff.Filter{Target: in.Target, Limit: in.Limit}
		if in.Status != "" {
			status, err := handoff.ParseStatus(in.Status)
			if err != nil {
				return HandoffList{}, err
			}
			f.Status = &status
		}
		out.Handoffs, out.HasMore, err = handoff.List(v, f)
		out.Handoffs = orEmpty(out.Handoffs)
		return out, err
	})
}

package ops

import (
	"encoding/json"

	"steward/handoff"
	"steward/ledger"
)

// by says who asks for a change of a handoff.
func (c Caller) by() handoff.By {
	return handoff.By{Workspace: c.Workspace, Session: c.Session, Request: c.Request, Person: c.Person}
}

type attachmentArgs struct {
	Path string `json:"path" arg:"required,line,max=4096"`
	Name string `json:"name" arg:"line,max=255" doc:"What people see"`
}

type handoffCreateArgs struct {
	Target      string           `json:"target" arg:"required,line,max=64" doc:"Who it is for: studio, dj or library unless configured otherwise"`
	Instruction string           `json:"instruction" arg:"required,max=4000" doc:"What to do, complete in itself; at most 4000 characters"`
	Key         string           `json:"idempotency_key" arg:"required,line,max=128" doc:"One key per piece of work; repeat it when you retry"`
	Attachments []attachmentArgs `json:"attachments" arg:"max=20" doc:"At most 20 files by path; Steward never reads them"`
	Source      string           `json:"source_session_id" arg:"line,max=128" doc:"Your session id"`
	Context     Object           `json:"context" arg:"bytes=8192,levels=16" doc:"What the worker needs to know; at most 8192 bytes, 16 levels"`
}

func handoffCreate() Op {
	return Append(Spec{
		Name:  "handoff_create",
		Title: "Hand work over",
		Text: "Hand work to another target so that exactly one worker takes it. Safe to retry: the same idempotency_key and payload return the stored handoff (duplicate:true); " +
			"another payload changes nothing (conflict:true): take a new key for new work.",
		Surfaces:   Agent | Window | Web | Shell,
		Idempotent: true,
		AlwaysLoad: true,
	}, func(tx *ledger.Tx, c Caller, in handoffCreateArgs) (handoff.CreateResult, error) {
		n := handoff.NewHandoff{
			Target: in.Target, Instruction: in.Instruction, Key: in.Key,
			Context: json.RawMessage(in.Context), SourceSession: in.Source,
		}
		for _, a := range in.Attachments {
			n.Attachments = append(n.Attachments, handoff.Attachment(a))
		}
		return handoff.Create(tx, n, c.env.targets(), c.by())
	})
}

package ops

import "steward/ledger"

type focusChangeArgs struct {
	Workspace  string `json:"workspace" arg:"line,max=128" doc:"Where attention went; default is this connection's"`
	Object     string `json:"object_id" arg:"line,max=128" doc:"What is looked at now"`
	ObjectType string `json:"object_type" arg:"line,max=64" doc:"What kind of thing it is: file, task, page"`
	Actor      string `json:"actor" arg:"line,max=128,default=user" doc:"Whose attention"`
}

func focusChange() Op {
	return Append(Spec{
		Name:  "focus_change",
		Title: "Say what is looked at now",
		Text: "Say that the user, or the actor you name, turned to another workspace or object: situation_report shows it as focus. " +
			"Wants at least one of workspace, object_id, object_type. It never counts as activity.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(tx *ledger.Tx, c Caller, in focusChangeArgs) (Receipt, error) {
		if in.Workspace == "" && in.Object == "" && in.ObjectType == "" {
			return Receipt{}, &ledger.FieldError{Field: "workspace", Rule: "at least one of workspace, object_id, object_type", Got: "none of them"}
		}
		e := c.event(in.Actor, ledger.TypeFocus)
		e.Object, e.ObjectType = in.Object, in.ObjectType
		if in.Workspace != "" {
			e.Workspace = in.Workspace
		}
		e, err := tx.Append(e)
		return receipt(e), err
	})
}

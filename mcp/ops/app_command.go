package ops

import (
	"slices"
	"strconv"

	"steward/ledger"
)

type appCommandArgs struct {
	Op          string `json:"op" arg:"required,line,max=64,words=navigate|dispatch"`
	View        string `json:"view" arg:"line,max=64,words=brief|decide|handoffs|tasks|ledger|settings" doc:"Needed by navigate"`
	Route       string `json:"route" arg:"line,max=2048" doc:"Place inside the view"`
	Reason      string `json:"reason" arg:"line,max=512" doc:"Why, in one line"`
	Target      string `json:"target" arg:"line,max=64" doc:"Needed by dispatch"`
	Instruction string `json:"instruction" arg:"max=4000" doc:"What to do there"`
}

var (
	appOps   = []string{"navigate", "dispatch"}
	appViews = []string{"brief", "decide", "handoffs", "tasks", "ledger", "settings"}
)

// AppCommand is a command for an app, as it was checked.
type AppCommand struct {
	Op          string `json:"op"`
	View        string `json:"view,omitempty"`
	Route       string `json:"route,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Target      string `json:"target,omitempty"`
	Instruction string `json:"instruction,omitempty"`
}

// AppFault is one thing that is wrong with a command.
type AppFault struct {
	Field   string   `json:"field"`
	Message string   `json:"message"`
	Allowed []string `json:"allowed"`
}

// AppVerdict is the answer to app_command.
type AppVerdict struct {
	Valid   bool        `json:"valid"`
	Command *AppCommand `json:"command,omitempty"`
	Errors  []AppFault  `json:"errors,omitempty"`
}

func appCommand() Op {
	return Read(Spec{
		Name:  "app_command",
		Title: "Check a command for an app",
		Text: "Check a command before you hand it to an app: navigate needs a view, dispatch a target. Answers valid with the command, or the errors with the allowed values. " +
			"It writes and moves nothing: to hand work over use handoff_create.",
		Surfaces: Agent | Window | Web | Shell,
	}, func(_ *ledger.View, c Caller, in appCommandArgs) (AppVerdict, error) {
		cmd, faults := checkAppCommand(AppCommand(in), c.env.targets())
		if len(faults) > 0 {
			return AppVerdict{Errors: faults}, nil
		}
		return AppVerdict{Valid: true, Command: &cmd}, nil
	})
}

// checkAppCommand returns the command with its target in place, or every fault.
func checkAppCommand(cmd AppCommand, targets []string) (AppCommand, []AppFault) {
	var faults []AppFault
	fault := func(field, message string, allowed []string) {
		faults = append(faults, AppFault{field, message, slices.Concat([]string{}, allowed)})
	}
	if cmd.Op == "dispatch" && cmd.Target == "" && slices.Contains(targets, cmd.View) {
		cmd.Target, cmd.View = cmd.View, "" // the older form
	}
	viewless := cmd.Op == "dispatch" && cmd.Target == "" // then the view was meant as the target
	switch {
	case !slices.Contains(appOps, cmd.Op):
		fault("op", "no such command: "+strconv.Quote(cmd.Op), appOps)
	case cmd.Op == "navigate" && cmd.View == "":
		fault("view", "navigate needs a view", appViews)
	case viewless && cmd.View != "":
		fault("target", "dispatch needs a target, and the view "+strconv.Quote(cmd.View)+" names none", targets)
	case viewless:
		fault("target", "dispatch needs a target", targets)
	}
	if cmd.View != "" && !viewless && !slices.Contains(appViews, cmd.View) {
		fault("view", "no such view: "+strconv.Quote(cmd.View), appViews)
	}
	if cmd.Target != "" && !slices.Contains(targets, cmd.Target) {
		fault("target", "no such target: "+strconv.Quote(cmd.Target), targets)
	}
	return cmd, faults
}

package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/ledger"
	"steward/mcp/ops"
)

func emitCommand() *command {
	return &command{
		name:  "emit",
		usage: `"TEXT" --actor NAME`,
		short: "leave one receipt, from any script",
		text: `Records that something happened: who, what, and up to three numbers. Starts the
service if none runs. If none can be reached within five seconds, the receipt is
kept on disk and entered, once, when the next service starts; the exit code is 0
then too.

A receipt of type failed stays a failure until one of type done or resolved
comes from the same actor about the same object.`,
		options: []option{
			{name: "actor", value: "NAME", help: "required. Who did it; the same name every time"},
			{name: "type", value: "TYPE", help: "done (the default), failed, resolved, progress, note, or a word of your own"},
			{name: "object", value: "ID", help: "what it is about: a ticket, a branch, a task"},
			{name: "file", value: "PATH", help: "the file that matters most"},
			{name: "metric", value: "KEY=N", help: "a number; the first three are kept", repeat: true},
			{name: "injectable", value: "true|false", help: "whether others' reports show it; by default not for progress, heartbeat, note"},
		},
		examples: []string{
			`steward emit "hello" --actor me`,
			`steward emit "backup done" --actor nightly --object db --metric files=812 --metric seconds=40.5`,
			`make test || steward emit "tests fail on main" --actor ci --type failed --object main`,
		},
		min: 1, max: 1,
		run: runEmit,
	}
}

// fields of report_done by option of emit.
var emitFields = []struct{ option, field string }{
	{"actor", "actor"}, {"type", "type"}, {"object", "object_id"}, {"file", "file"},
}

func runEmit(s *session, in input) error {
	if in.get("actor") == "" {
		return misuse("--actor", "--actor: required: who did it", `steward emit "hello" --actor me`)
	}
	b := append([]byte(`{"outcome":`), quote(in.args[0])...)
	for _, f := range emitFields {
		if in.has(f.option) {
			b = append(append(b, `,"`+f.field+`":`...), quote(in.get(f.option))...)
		}
	}
	if in.has("metric") {
		m, err := objectOf("metric", in.values["metric"])
		if err != nil {
			return err
		}
		b = append(append(b, `,"metrics":`...), m...)
	}
	switch v := in.get("injectable"); v {
	case "":
	case "true", "false":
		b = append(b, `,"injectable":`+v...)
	default:
		return misuse("--injectable", "--injectable: true or false; got "+v, "")
	}
	result, err := s.ask("report_done", append(b, '}'))
	if err != nil {
		return err
	}
	if s.json {
		return s.write(append(visibleJSON(result.Structured), '\n'))
	}
	var r struct {
		ops.Receipt
		Spooled bool `json:"spooled"`
	}
	if err := json.Unmarshal(result.Structured, &r); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var text strings.Builder
	if r.Spooled {
		why, _, _ := strings.Cut(result.Text, "\n") // the facts follow on a line of their own
		fmt.Fprintln(&text, visible(strings.TrimPrefix(why, "report_done: ")))
	} else {
		fmt.Fprintf(&text, "Recorded as event %d at %s.\n", r.EventID, r.RecordedAt)
	}
	if len(r.Dropped) > 0 {
		fmt.Fprintf(&text, "Only the first %d metrics are kept; left out: %s\n", ledger.MaxMetrics, visible(strings.Join(r.Dropped, ", ")))
	}
	return s.write([]byte(text.String()))
}

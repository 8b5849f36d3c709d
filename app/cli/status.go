package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"steward/handoff"
	"steward/ledger"
	"steward/mcp/ops"
)

func statusCommand() *command {
	return &command{
		name:  "status",
		short: "say what is going on",
		text: `Shows what needs care first: failures that nobody has resolved, who is moving,
which work waits to be taken, and the newest key events. Starts the service if
none runs.`,
		options: []option{
			{name: "workspace", value: "NAME", help: "only this workspace's events, failures and actors"},
			{name: "since", value: "ID", help: "only key events after this event id"},
		},
		examples: []string{"steward status", "steward status --workspace api", "steward status --json | jq .unresolved_failures.total"},
		run:      runStatus,
	}
}

func runStatus(s *session, in input) error {
	args := map[string]any{}
	if v := in.get("workspace"); v != "" {
		args["workspace_id"] = v
	}
	if in.has("since") {
		n, err := strconv.ParseInt(in.get("since"), 10, 64)
		if err != nil || n < 0 {
			return misuse("--since", "--since: an event id, 0 or greater; got "+in.get("since"), "")
		}
		args["since_id"] = n
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, err := s.ask("situation_report", raw)
	if err != nil {
		return err
	}
	if s.json {
		return s.write(append(visibleJSON(result.Structured), '\n'))
	}
	var r ops.Report
	if err := json.Unmarshal(result.Structured, &r); err != nil {
		return fmt.Errorf("read the situation report: %w", err)
	}
	var b strings.Builder
	situation(&b, &r, ledger.At(time.Now()))
	return s.write([]byte(b.String()))
}

// situation writes a report for people. Everything an agent wrote is shown,
// nothing of it acts on the terminal.
func situation(b *strings.Builder, r *ops.Report, now ledger.Millis) {
	fmt.Fprintln(b, visible(r.Headline))
	if d := r.Decisions; d.Pending > 0 {
		fmt.Fprintf(b, "\nDecisions: %s waiting, %s blocking; `steward open` leads to where you answer\n", count(d.Pending), count(d.Blocking))
	}
	part(b, "Unresolved failures", len(r.Failures.Items), r.Failures.Total, failureRows(r, now))
	part(b, "Moving", len(r.Movers.Items), r.Movers.Total, moverRows(r, now))
	handoffs(b, r, now)
	if f := r.Focus; f != nil {
		fmt.Fprintf(b, "\nIn focus\n  %s  %s\n", age(f.At, now), visible(phrase(given(f.Workspace), given(f.ObjectType), given(f.Object))))
	}
	title := "Key events"
	if r.KeyEventsMore {
		title = "Newest key events"
	}
	part(b, title, len(r.KeyEvents), int64(len(r.KeyEvents)), eventRows(r.KeyEvents, now))
	if r.Cut {
		fmt.Fprint(b, "\nMore did not fit: steward call recent_events shows everything.\n")
	}
}

// part writes a titled table, if it has rows.
func part(b *strings.Builder, title string, shown int, total int64, rows [][]string) {
	if shown == 0 {
		return
	}
	b.WriteString("\n" + title)
	if total > int64(shown) {
		fmt.Fprintf(b, " (%d of %s)", shown, count(total))
	}
	b.WriteByte('\n')
	_ = table(b, "  ", rows) // a strings.Builder takes everything
}

func failureRows(r *ops.Report, now ledger.Millis) (rows [][]string) {
	for _, f := range r.Failures.Items {
		times := ""
		if f.Count > 1 {
			times = fmt.Sprintf("%d times since %s", f.Count, age(f.FirstAt, now))
		}
		rows = append(rows, []string{age(f.At, now), who(f.Actor, f.Workspace), visible(f.Object), times, said1(f.Event)})
	}
	return rows
}

func moverRows(r *ops.Report, now ledger.Millis) (rows [][]string) {
	for _, m := range r.Movers.Items {
		rows = append(rows, []string{age(m.LastAt, now), who(m.Actor, m.Workspace), plural(m.Count, "event"), visible(phrase(m.Last.Type, m.Last.Object, m.Last.Outcome))})
	}
	return rows
}

func eventRows(events []ledger.Event, now ledger.Millis) (rows [][]string) {
	for _, e := range events {
		rows = append(rows, []string{"#" + strconv.FormatInt(e.ID, 10), age(e.At, now), who(e.Actor, e.Workspace), visible(phrase(e.Type, e.Object)), said1(e)})
	}
	return rows
}

// said1 is what an event says, on one line.
func said1(e ledger.Event) string {
	parts := []string{e.Outcome}
	if e.File != "" {
		parts = append(parts, e.File)
	}
	for _, m := range e.Metrics {
		parts = append(parts, m.Key+"="+m.Value.String())
	}
	return visible(phrase(parts...))
}

func handoffs(b *strings.Builder, r *ops.Report, now ledger.Millis) {
	c := r.Handoffs.Counts
	open := c.Pending + c.Claimed + c.Running
	if open == 0 && c.Done+c.Failed+c.Cancelled == 0 {
		return
	}
	fmt.Fprintf(b, "\nHandoffs: %s pending, %s claimed, %s running, %s done, %s failed, %s cancelled\n",
		count(c.Pending), count(c.Claimed), count(c.Running), count(c.Done), count(c.Failed), count(c.Cancelled))
	var rows [][]string
	short := shortIDs(r.Handoffs.Open)
	for i, h := range r.Handoffs.Open {
		state := h.Status.String()
		if h.Worker != "" {
			state += " by " + h.Worker
		}
		rows = append(rows, []string{age(h.CreatedAt, now), short[i], "for " + visible(h.Target), visible(state), visible(h.Preview)})
	}
	_ = table(b, "  ", rows) // a strings.Builder takes everything
	if n := int64(len(rows)); n < open {
		fmt.Fprintf(b, "  … and %s more: steward call handoff_list\n", count(open-n))
	}
}

// shortIDs gives each handoff the shortest name, H- and at least four
// characters, that no other one shown has. Every command takes it.
func shortIDs(hs []handoff.Summary) []string {
	out := make([]string, len(hs))
	for i, h := range hs {
		id := string(h.ID)
		for n := 4; ; n++ {
			end := id[max(0, len(id)-n):]
			clash := false
			for j, o := range hs {
				clash = clash || i != j && strings.HasSuffix(string(o.ID), end)
			}
			if !clash || n >= len(id) {
				out[i] = "H-" + visible(end)
				break
			}
		}
	}
	return out
}

func who(actor, workspace string) string {
	if workspace == "" {
		return visible(actor)
	}
	return visible(actor + " in " + workspace)
}

// given is the text of a field that may be null.
func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// phrase joins what is not empty.
func phrase(parts ...string) string {
	var have []string
	for _, p := range parts {
		if p != "" {
			have = append(have, p)
		}
	}
	return strings.Join(have, "  ")
}

// age says how long ago something was, as people do.
func age(at, now ledger.Millis) string {
	d := now.Time().Sub(at.Time())
	switch {
	case d < -time.Minute:
		return "ahead of the clock"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*24*time.Hour:
		return plural(int64(d.Hours()/24), "day") + " ago"
	}
	return at.Time().Format(time.DateOnly)
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"steward/app/daemon"
	"steward/mcp/ops"
)

// healthy is what a service that is well says of itself.
type healthy struct {
	Healthy bool   `json:"healthy"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	HTTP    string `json:"http,omitempty"` // where it is served; "": off
}

func healthCommand() *command {
	return &command{
		name:  "health",
		short: "ask whether the service is well, for programs that watch it",
		text: `Asks the running service over its socket, and over HTTP where it serves that, and
says whether it does its work. Starts nothing, changes nothing and reads no ledger,
so it may be asked every few seconds. The exit code is 0 or, when the service is
not there or not well, 6; steward doctor looks for the reason.`,
		examples: []string{"steward health", "steward health --json", "steward health || systemctl --user restart steward"},
		run:      func(s *session, _ input) error { return s.health() },
	}
}

func (s *session) health() error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	d := diagnosis{}
	x := examination{session: s, diagnosis: &d, p: paths, ctx: context.Background()}
	x.lock()
	x.service()
	if c := d.worst(); c != nil {
		return &ops.Error{Code: ops.Unavailable, Message: c.Detail, Hint: c.Hint}
	}
	if d.Service == nil || d.Service.State != "serving" {
		return &ops.Error{Code: ops.Unavailable, Message: "no service is at work", Hint: "see `steward doctor`"}
	}
	well := healthy{Healthy: true, PID: d.Service.PID, Version: d.Service.Version, HTTP: daemon.HolderListen(x.holder)}
	if well.HTTP != "" {
		if err := x.probe(well.HTTP); err != nil {
			return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("not served on %s: %v", well.HTTP, err), Hint: "see `steward doctor`", Err: err}
		}
	}
	return s.print(well, func(b *strings.Builder) {
		fmt.Fprintf(b, "Well: process %d, version %s.\n", well.PID, visible(well.Version))
	})
}

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// stopWithin bounds the whole command: a service drains within two seconds.
const stopWithin = 10 * time.Second

type stopped struct {
	Stopped bool   `json:"stopped"`          // false: there was nothing to stop
	PID     int    `json:"pid,omitempty"`    // of the service that has ended
	Holder  string `json:"holder,omitempty"` // who took its place meanwhile
}

func stopCommand() *command {
	return &command{
		name:  "stop",
		short: "end the running service",
		text: `Asks the service to answer what is running and to exit, and waits until the
ledger is free. A client that is connected starts a new one with its next call.`,
		examples: []string{"steward stop"},
		run:      func(s *session, _ input) error { return s.stop() },
	}
}

func (s *session) stop() error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return nowhere(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	before, held, err := ledger.Holder(paths.Ledger)
	if err != nil || !held {
		return s.stopRefusing(ctx, paths)
	}
	if err := daemon.Stop(ctx, paths, local.Stop{PID: os.Getpid(), Reason: "steward stop"}); err != nil && !gone(paths, before) {
		return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the service (%s) does not answer on %s: %v", before, paths.Socket, err),
			Hint: endByHand(before), Err: err}
	}
	for !gone(paths, before) {
		select {
		case <-ctx.Done():
			return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the service (%s) has not let go of the ledger within %s", before, stopWithin), Hint: endByHand(before)}
		case <-time.After(10 * time.Millisecond):
		}
	}
	done := stopped{Stopped: true, PID: daemon.HolderPID(before)}
	if now, held, err := ledger.Holder(paths.Ledger); err == nil && held {
		done.Holder = now
	}
	return s.print(done, func(b *strings.Builder) {
		fmt.Fprintln(b, "Stopped.")
		if done.Holder != "" {
			fmt.Fprintf(b, "Another one has taken its place: %s\n", visible(done.Holder))
		}
	})
}

// nowhere is why no ledger was found to look at, as a misuse: by ops.Unavailable
// the installer for Windows knows a service that runs on.
func nowhere(err error) error {
	e := *asError(err)
	e.Code = ops.Invalid
	return &e
}

// stopRefusing ends a service that holds no ledger because it cannot write one,
// and only says so to its clients.
func (s *session) stopRefusing(ctx context.Context, p daemon.Paths) error {
	info, err := daemon.Info(ctx, p)
	if err != nil || info.Ledger != p.Key {
		return s.print(stopped{}, func(b *strings.Builder) { fmt.Fprintln(b, "Steward is not running.") })
	}
	if err := daemon.Stop(ctx, p, local.Stop{PID: os.Getpid(), Reason: "steward stop"}); err != nil {
		return &ops.Error{Code: ops.Unavailable, Message: err.Error(), Hint: endByHand(fmt.Sprintf("pid %d,", info.PID)), Err: err}
	}
	return s.print(stopped{Stopped: true, PID: info.PID}, func(b *strings.Builder) { fmt.Fprintln(b, "Stopped.") })
}

// gone tells whether the holder of that text holds the ledger no more.
func gone(p daemon.Paths, text string) bool {
	now, held, err := ledger.Holder(p.Ledger)
	return err == nil && (!held || now != "" && now != text)
}

func endByHand(holder string) string {
	if pid := daemon.HolderPID(holder); pid != 0 {
		return fmt.Sprintf("end process %d yourself; nothing acknowledged is lost", pid)
	}
	return "end that process yourself; nothing acknowledged is lost"
}

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"steward/app/daemon"
)

func serveCommand() *command {
	return &command{
		name:  "serve",
		usage: "[--auto]",
		short: "run the service until it is stopped",
		text: `Runs the service that keeps the ledger, in the foreground. Clients start one by
themselves, so this is for a system's service manager, or to watch the log.

If another service runs that a client has started, this one takes over from it.
If a window or an explicit serve runs, this one waits until that one leaves.
A signal (Ctrl-C, SIGTERM) answers what is running and ends it with exit code 0.`,
		options:  []option{{name: "auto", help: "as a client starts it: gives way to any other, leaves after 10 minutes alone"}},
		examples: []string{"steward serve", "STEWARD_LOG_LEVEL=debug steward serve", "steward serve --json 2>service.jsonl"},
		run: func(s *session, in input) error {
			if in.on("auto") {
				return s.serve(daemon.Auto)
			}
			return s.serve(daemon.Serve)
		},
	}
}

func (s *session) serve(role daemon.Role) error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	settings := daemon.NewSettings(paths.Config, s.env)
	file := daemon.NewLogFile(paths.Log)
	var person io.Writer
	if role != daemon.Auto { // the output of an auto is the log already
		person = s.stderr
	}
	logger := daemon.NewLogger(&settings.Level, file, person, s.json)
	settings.SetLogger(logger)
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err = daemon.Run(ctx, daemon.Options{
		Paths: paths, Env: s.env, Role: role, Version: version, Settings: settings, Logger: logger,
		Notify: func(st daemon.State, on any) {
			if role == daemon.Auto || s.json {
				return // the log has it
			}
			switch st {
			case daemon.Waiting:
				fmt.Fprintf(s.stderr, "steward: waiting, the ledger is held by another process: %s\n", visible(fmt.Sprint(on)))
			case daemon.Refusing:
				fmt.Fprintf(s.stderr, "steward: %s\n", visible(fmt.Sprint(on)))
			}
		},
	})
	if err != nil {
		logger.Error("the service ends", "error", err)
	}
	return err
}

// endSignals are the signals that drain and end a service. A hang-up that
// nohup has switched off stays off.
func endSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

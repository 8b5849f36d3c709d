package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"steward/app/daemon"
	"steward/mcp/ops"
)

func serveCommand() *command {
	return &command{
		name:  "serve",
		usage: "[--listen ADDRESS:PORT]",
		short: "run the service until it is stopped",
		text: `Runs the service that keeps the ledger, in the foreground. Clients start one by
themselves, so this is for a system's service manager, or to watch the log.

If another service runs that a client has started, this one takes over from it.
If a window or an explicit serve runs, this one waits until that one leaves.
A signal (Ctrl-C, SIGTERM) answers what is running and ends it with exit code 0.

HTTP is off unless --listen, STEWARD_BIND, STEWARD_PORT or the key listen of
config.json turns it on. It serves your page at /, for which ` + "`steward open`" + ` signs
a browser in, and MCP at /mcp and /mcp/NAME to those who bring the token in the
file agent-token of the state folder. Others than this machine are let in only
when STEWARD_TOKEN is set.`,
		options: []option{
			{name: "listen", value: "ADDRESS:PORT", help: "serve HTTP too, there; 127.0.0.1 and 8971 are what is left out"},
			{name: "auto", help: "as a client starts it: gives way to any other, leaves after 10 minutes alone"},
		},
		examples: []string{"steward serve", "steward serve --listen 127.0.0.1:8971", "STEWARD_LOG_LEVEL=debug steward serve", "steward serve --json 2>service.jsonl"},
		run: func(s *session, in input) error {
			role, listen := daemon.Serve, ""
			if in.on("auto") {
				role = daemon.Auto
			}
			if in.has("listen") {
				var err error
				if listen, err = daemon.ListenAddress("--listen", in.get("listen")); err != nil {
					return err
				}
				if err := daemon.MayListen(s.env, listen); err != nil {
					return err
				}
			}
			return s.serve(role, listen)
		},
	}
}

func (s *session) serve(role daemon.Role, listen string) error {
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
		Paths: paths, Env: s.env, Role: role, Version: version, Settings: settings, Listen: listen, Logger: logger,
		Notify: func(st daemon.State, on any) {
			if role == daemon.Auto || s.json {
				return // the log has it
			}
			switch st {
			case daemon.Waiting:
				fmt.Fprintf(s.stderr, "steward: waiting, the ledger is held by another process: %s\n", visible(fmt.Sprint(on)))
			case daemon.Refusing:
				fmt.Fprintf(s.stderr, "steward: %s\n", visible(fmt.Sprint(on)))
				if e, ok := on.(*ops.Error); ok && e.Hint != "" {
					fmt.Fprintf(s.stderr, "  %s\n", visible(e.Hint))
				}
			case daemon.Serving:
				if d, ok := on.(*daemon.Door); ok {
					fmt.Fprint(s.stderr, welcome(d, callName()))
				}
			}
		},
	})
	if err != nil {
		logger.Error("the service ends", "error", err)
	}
	return err
}

// welcome tells a person how clients come in over HTTP. The tokens themselves
// are not shown: what a terminal shows ends up in logs and pictures. program is
// what they type for this one.
func welcome(d *daemon.Door, program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `steward: HTTP is on at %[1]s
  Your page is there; sign in by typing, in another terminal:  %[5]s open
  Agents use %[1]s/mcp/NAME, NAME being what they work on, with the token in %[2]s:
    claude mcp add --transport http steward %[1]s/mcp/NAME --header "Authorization: Bearer %[3]s"
  The token in %[4]s opens everything: keep it for yourself.
`, d.URL, visible(d.Agent), fromShell(d.Agent), visible(d.Owner), visible(program))
	if d.Wide != "" {
		fmt.Fprintf(&b, `  Other machines reach it at %s. Without TLS everybody on the way can read the
  tokens: put a proxy before it, and its name into STEWARD_ALLOWED_ORIGINS.
`, d.Wide)
	}
	return b.String()
}

// callName is what a shell takes for this program: its name where that leads here,
// else its path.
func callName() string {
	const name = "steward"
	exe, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(exe)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return name
		}
	}
	if runtime.GOOS == "windows" {
		path, _ := quotedWindows(exe)
		return path
	}
	return quoted(exe)
}

// fromShell is what a shell puts the token in place of: of a file, or of a
// variable.
func fromShell(at string) string {
	switch {
	case !filepath.IsAbs(at):
		return "$" + at
	case runtime.GOOS == "windows":
		return "$(Get-Content '" + visible(at) + "')"
	}
	return "$(cat '" + strings.ReplaceAll(visible(at), "'", `'\''`) + "')"
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

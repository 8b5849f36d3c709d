package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// openWithin bounds how long a running service is asked.
const openWithin = 10 * time.Second

type opened struct {
	URL     string `json:"url"`    // good once, for a minute
	Browser bool   `json:"opened"` // a browser was started with it
}

func openCommand() *command {
	return &command{
		name:  "open",
		usage: "[--print]",
		short: "open the page in your browser, signed in",
		text: `Opens Steward's page in your browser, signed in by a link that is good once and
for one minute, and prints the link. Whoever follows it first may decide as you:
use --print where others see what programs are started with.

It works where you sit at a terminal, and not for agents. HTTP must be on: by
--listen, STEWARD_BIND, STEWARD_PORT or the key listen of config.json.`,
		options:  []option{{name: "print", help: "only print the link"}},
		examples: []string{"steward open", "steward open --print"},
		run:      func(s *session, in input) error { return s.open(in.on("print")) },
	}
}

func (s *session) open(printOnly bool) error {
	if err := s.person(); err != nil {
		return err
	}
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.withPage(ctx, paths); err != nil {
		return err
	}
	proof, err := paths.Proof(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	link, err := local.AskSignIn(asking, paths.Socket, local.SignIn{PID: os.Getpid(), Proof: proof})
	if err != nil {
		return unreachable(err, paths)
	}
	done := opened{URL: link}
	why := ""
	if !printOnly {
		err := daemon.Browse(ctx, s.env, link)
		if done.Browser = err == nil; err != nil {
			why = asError(err).Message
		}
	}
	return s.print(done, func(b *strings.Builder) {
		switch {
		case done.Browser:
			fmt.Fprint(b, "Opening the page. Should no browser come up, follow this link within a minute; it works once:\n  ")
		case why != "":
			fmt.Fprintf(b, "No browser was started: %s. Follow this link within a minute; it works once:\n  ", visible(why))
		default:
			fmt.Fprint(b, "Follow this link within a minute; it works once:\n  ")
		}
		fmt.Fprintln(b, visible(link))
	})
}

// withPage sees to it that a service with HTTP runs. It starts none that would
// serve no page.
func (s *session) withPage(ctx context.Context, p daemon.Paths) error {
	config := local.ConnectConfig{Address: p.Socket, Hello: s.hello(local.RoleShell, p), Logger: slog.New(slog.DiscardHandler), Opening: s.opening()}
	holder, held, err := ledger.Holder(p.Ledger)
	switch {
	case err == nil && held && daemon.HolderListen(holder) == "":
		return httpOff("the running service serves no HTTP", "stop it with `steward stop`, turn HTTP on with ")
	case err == nil && !held:
		listen := daemon.NewSettings(p.Config, s.env).Config().Listen
		if listen == "" {
			return httpOff("HTTP is off", "turn it on with ")
		}
		if err := daemon.MayListen(s.env, listen); err != nil {
			return err
		}
		config.Spawn = func() error { return daemon.Spawn(s.env, p) }
	}
	c, err := local.Connect(ctx, config) // it may be opening its ledger
	if err != nil {
		return unreachable(err, p)
	}
	c.Close()
	return nil
}

func httpOff(what, hint string) error {
	return &ops.Error{Code: ops.Unavailable, Message: what + ", so there is no page", Hint: hint + daemon.TurnsOn}
}

// agentMarks are variables that agents set for the commands they run, as found in
// their sources and documentation. They are no lock, an agent can unset them: they
// keep one that only wants to be helpful from making itself the person.
// Variables that a person sets for an agent, such as CODEX_HOME, are not here.
var agentMarks = []string{
	"AI_AGENT", // proposed for all of them
	"CLAUDECODE", "CLAUDE_CODE", "CLAUDE_CODE_ENTRYPOINT",
	"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI",
	"GEMINI_CLI", "QWEN_CODE",
	"OPENCODE", "OPENCODE_CLIENT",
	"CURSOR_AGENT", // CURSOR_TRACE_ID is in a person's terminal too
	"COPILOT_CLI",
	"CLINE_ACTIVE",
	"AUGMENT_AGENT",
	"AMP_CURRENT_THREAD_ID",
	"ANTIGRAVITY_AGENT",
	"GOOSE_TERMINAL",
}

// person refuses when nobody sits at a terminal, or an agent runs the command.
func (s *session) person() error {
	refuse := func(why string) error {
		return &ops.Error{Code: ops.Forbidden, Message: "open: only for a person at a terminal: " + why, Hint: "type `steward open` in a terminal of your own"}
	}
	if _, mark := s.env.First(agentMarks...); mark != "" {
		return refuse("an agent runs this command (" + mark + " is set)")
	}
	switch {
	case !isTerminal(s.stdin):
		return refuse("its input is none")
	case !isTerminal(s.stdout):
		return refuse("its output is none")
	}
	return nil
}

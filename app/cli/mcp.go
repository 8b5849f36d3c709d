package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os/signal"

	"steward/app/daemon"
	"steward/mcp/local"
)

func mcpCommand() *command {
	return &command{
		name:  "mcp",
		short: "serve one MCP client on stdin and stdout",
		text: `The command to write into an MCP client's configuration. It speaks MCP on its
standard input and output, answers the list of tools at once, starts the service
with the first call if none runs, and outlives the service's restarts. Receipts
that nobody takes within five seconds are kept on disk and entered later.

STEWARD_STREAM names the work the client belongs to; by default that is the name
of the folder it runs in.`,
		examples: []string{
			"claude mcp add steward -- /path/to/steward mcp",
			"codex mcp add steward -- /path/to/steward mcp",
			`echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | steward mcp`,
		},
		run: func(s *session, _ input) error { return s.bridge() },
	}
}

// bridge must start whatever is wrong, because a client that cannot start it
// never tries again: what is wrong is said in the answer to a call.
func (s *session) bridge() error {
	local.Light()
	if isTerminal(s.stdin) {
		fmt.Fprintln(s.stderr, "steward: this is for MCP clients, which speak JSON-RPC on its input; see `steward mcp --help`")
	}
	paths, lost := daemon.Find(s.env)
	// Of its own log a client shows the person only what needs care.
	logger := daemon.NewLogger(s.env.Level(slog.LevelWarn), daemon.NewLogFile(paths.Log), s.stderr, false).With("role", "bridge")
	config := local.BridgeConfig{
		In: s.stdin, Out: s.stdout, Address: paths.Socket, Spool: paths.Spool, Hello: s.hello(local.RoleBridge, paths),
		Spawn: func() error { return daemon.Spawn(s.env, paths) }, Dial: paths.Dial, Logger: logger,
		Met: s.met(paths),
	}
	if lost != nil {
		config.Spool, config.Logger = "", slog.New(slog.NewTextHandler(s.stderr, nil))
		config.Dial = func(context.Context, string) (net.Conn, error) { return nil, lost }
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	return local.RunBridge(ctx, config)
}

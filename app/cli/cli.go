// Package cli is Steward's command line: each command in a file of its own,
// what was typed parsed before anything is done, exit codes in one place.
package cli

import (
	"fmt"
	"io"
	"strings"

	"steward/app/daemon"
	"steward/mcp/ops"
)

// command is one word after `steward`.
type command struct {
	name     string
	usage    string // what follows the name
	short    string // one line
	text     string // what it does, a paragraph or two
	options  []option
	examples []string
	more     func(args []string) (command, error) // usage, text and options that depend on the arguments
	min, max int                                  // how many arguments it takes; max -1: any number
	run      func(*session, input) error
}

// session is what a command runs in.
type session struct {
	env    daemon.Env
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	json   bool // the reader is a program
}

// jsonOption is understood by every command.
var jsonOption = option{name: "json", help: "print one line of JSON, for programs"}

func commands() []*command {
	return []*command{serveCommand(), mcpCommand(), callCommand(), statusCommand(), emitCommand(), searchCommand(),
		exportCommand(), backupCommand(), restoreCommand(), importCommand(), verifyCommand(), doctorCommand(), healthCommand(), openCommand(), stopCommand(), updateCommand(), versionCommand()}
}

// Main runs the command in args, which do not include the program's name, and
// returns the exit code. env holds NAME=value pairs as os.Environ returns them.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	s := &session{env: daemon.NewEnv(env), stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) > 0 && args[0] == "mcp" { // first, and with nothing built that it does not need: a client waits
		return s.do(mcpCommand(), args[1:])
	}
	if len(args) == 0 {
		_ = overview(stderr) // the exit code says it too
		return ops.Invalid.Exit()
	}
	switch args[0] {
	case "-h", "--help", "-help", "help":
		return s.help(args[1:])
	case "-v", "--version", "-version":
		args[0] = "version"
	}
	all := commands()
	for _, c := range all {
		if c.name == args[0] {
			return s.do(c, args[1:])
		}
	}
	s.json = hasJSON(args)
	return s.fail(unknownCommand(args[0], all))
}

func unknownCommand(name string, all []*command) error {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	hint := "see `steward --help`"
	if n := nearest(name, names); n != "" {
		hint = "did you mean `steward " + n + "`?"
	}
	return misuse("command", fmt.Sprintf("%s: an unknown command", name), hint)
}

func (s *session) help(args []string) int {
	if len(args) == 0 {
		return s.end(overview(s.stdout))
	}
	all := commands()
	for _, c := range all {
		if c.name == args[0] {
			return s.do(c, append(args[1:], "--help"))
		}
	}
	return s.fail(unknownCommand(args[0], all))
}

// do parses what was typed for c, and runs it.
func (s *session) do(c *command, args []string) int {
	s.json = hasJSON(args) // also for the refusal of the rest
	var unknown error
	if c.more != nil {
		var special command
		if special, unknown = c.more(args); special.usage != "" {
			c.usage, c.text, c.options, c.examples = special.usage, special.text, special.options, special.examples
		}
	}
	c.options = append(c.options, jsonOption)
	in, err := parse(args, c.options)
	switch {
	case in.help:
		return s.end(manual(s.stdout, c))
	case unknown != nil:
		return s.fail(unknown)
	case err != nil:
		return s.fail(err)
	case len(in.args) < c.min:
		return s.fail(misuse("arguments", fmt.Sprintf("%s: too few arguments", c.name), "steward "+c.line()))
	case c.max >= 0 && len(in.args) > c.max:
		return s.fail(misuse("arguments", fmt.Sprintf("%s: does not take %q", c.name, in.args[c.max]), "steward "+c.line()))
	}
	s.json = in.on("json")
	return s.end(c.run(s, in))
}

func (c *command) line() string { return strings.TrimSpace(c.name + " " + c.usage) }

// hasJSON tells whether --json is among args, for errors found before they
// are parsed.
func hasJSON(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "--json", "-json", "--json=true":
			return true
		}
	}
	return false
}

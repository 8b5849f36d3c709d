package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"steward/ledger"
	"steward/mcp/ops"
)

// Spawn starts `steward serve --auto` for these paths, detached: its own
// session, a cleaned environment, the state folder as its folder and the log
// as its output. It returns once the process runs; whether that one serves, or
// leaves because another does, shows on the socket. The error is an *ops.Error.
func Spawn(env Env, p Paths) error {
	if err := p.Make(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return cannotStart(err)
	}
	cmd := exec.Command(exe, "serve", "--auto")
	cmd.Dir = p.Home
	cmd.Env = childEnv(env, p)
	cmd.SysProcAttr = detached()
	if f, err := NewLogFile(p.Log).Open(); err == nil { // a state folder that is read-only is for the service to explain
		defer f.Close() //nolint:errcheck // the child has its own copy
		cmd.Stdout, cmd.Stderr = f, f
	}
	if err := cmd.Start(); err != nil {
		return cannotStart(err)
	}
	go cmd.Wait() //nolint:errcheck // takes the exit status, so that no zombie stays; what it is shows on the socket
	return nil
}

func cannotStart(err error) error {
	return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("steward serve cannot be started: %v", cause(err)), Hint: "run `steward serve` to see why", Err: err}
}

// kept are the variables a service started by a client keeps, beside XDG_… and
// STEWARD_…: a client's own secrets are none of its business.
var kept = []string{"HOME", "PATH", "LANG", "TMPDIR"}

// secrets never reach a child, though they begin with STEWARD_.
var secrets = []string{"STEWARD_TOKEN", "STEWARD_AGENT_TOKEN"}

// childEnv is the environment of a spawned service. The places are handed on
// as they were found, so that parent and child mean the same ledger whichever
// names the parent's environment used.
func childEnv(env Env, p Paths) []string {
	out := []string{}
	for name, value := range env {
		switch {
		case slices.Contains(secrets, name), slices.Contains(homeNames, name), name == "STEWARD_DB":
		case slices.Contains(kept, name), slices.Contains(keptHere, name), strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "STEWARD_"):
			out = append(out, name+"="+value)
		}
	}
	out = append(out, "STEWARD_HOME="+p.Home)
	if own, err := ledger.RealPath(filepath.Join(p.Home, "ledger.db")); err != nil || own != p.Ledger {
		out = append(out, "STEWARD_DB="+p.Ledger)
	} else if p.Older != "" {
		out = append(out, fileNames[1]+"="+p.Older)
	}
	slices.Sort(out)
	return out
}

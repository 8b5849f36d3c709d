package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"steward/ledger"
	"steward/mcp/ops"
)

// program is the file that this process was started from, "" when the system does
// not say. A link to it stays one: when an update lets the link lead to a newer
// file, and takes the older away, the newer one is started. It is found out at
// the start, before anybody can have done so. A system that does not say (Linux
// without /proc) has it looked up as a shell would.
var program = startedFrom(os.Args[0], os.Executable, exec.LookPath)

func startedFrom(name string, executable func() (string, error), look func(string) (string, error)) string {
	exe, errExe := executable()
	as, err := look(name)
	if err == nil {
		as, err = filepath.Abs(as)
	}
	switch {
	case errExe != nil && err != nil:
		return ""
	case errExe != nil:
		return as
	case err != nil:
		return exe
	}
	real, errReal := os.Stat(exe)
	link, errLink := os.Stat(as)
	if errReal != nil || errLink != nil || !os.SameFile(real, link) {
		return exe // somebody has given it another name
	}
	return as
}

// Spawn starts `steward serve --auto` for these paths, detached: its own
// session, a cleaned environment, the state folder as its folder and the log
// as its output. It returns once the process runs; whether that one serves, or
// leaves because another does, shows on the socket. The error is an *ops.Error.
func Spawn(env Env, p Paths) error {
	if err := p.Make(); err != nil {
		return err
	}
	if program == "" {
		return cannotStart(errors.New("this program's file is not known"))
	}
	cmd := exec.Command(program, "serve", "--auto")
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

// childEnv is the environment of a spawned service. The places are handed on
// as they were found, so that parent and child mean the same ledger whichever
// names the parent's environment used; so are the other settings, under their
// newer names. The two tokens are not.
func childEnv(env Env, p Paths) []string {
	child := map[string]string{}
	for name, value := range env {
		if slices.Contains(kept, name) || slices.Contains(keptHere, name) || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "STEWARD_") {
			child[name] = value
		}
	}
	for _, s := range known {
		delete(child, s.Var)
		if v, _ := env.First(s.names()...); v != "" && !s.secret {
			child[s.Var] = v
		}
	}
	child["STEWARD_HOME"] = p.Home
	delete(child, "STEWARD_DB")
	if own, err := ledger.RealPath(filepath.Join(p.Home, "ledger.db")); err != nil || own != p.Ledger {
		child["STEWARD_DB"] = p.Ledger
	} else if p.Older != "" {
		child[names("STEWARD_DB")[1]] = p.Older
	}
	out := make([]string, 0, len(child))
	for name, value := range child {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

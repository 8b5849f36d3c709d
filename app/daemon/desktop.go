package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"steward/mcp/ops"
)

// desktop opens things with the programs of the person's desktop, which are
// started directly, never through a shell.
type desktop struct{ env Env }

// Desktop is the person's desktop as the environment of this process reaches it.
func Desktop(env Env) ops.Opener { return desktop{env} }

// Open opens a file with the program that the person uses for its kind.
func (d desktop) Open(ctx context.Context, file string) error { return d.start(ctx, openFile(file)) }

// Show opens the folder of path.
func (d desktop) Show(ctx context.Context, path string) error { return d.start(ctx, showFile(path)) }

// Browse opens an http address in the person's browser. The error is an
// *ops.Error.
func Browse(ctx context.Context, env Env, url string) error {
	return desktop{env}.start(ctx, openURL(url))
}

// startWithin is how long a starter is watched. One that fails does so at once;
// one that goes on has become the program itself.
const startWithin = 2 * time.Second

func (d desktop) start(ctx context.Context, cmd *exec.Cmd) error {
	if !reachable(d.env) {
		return &ops.Error{Code: ops.Unavailable, Message: "there is no desktop here to open it on", Hint: "open it by hand"}
	}
	name := filepath.Base(cmd.Path)
	cmd.Dir = os.TempDir()
	cmd.Env = d.env.public()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = detached()
	}
	if err := cmd.Start(); err != nil {
		return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("%s cannot be started: %v", name, cause(err)), Hint: "open it by hand", Err: err}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(startWithin)
	defer timer.Stop()
	select {
	case err := <-ended:
		exit, failed := errors.AsType[*exec.ExitError](err)
		if failed && !ignored(name, exit.ExitCode()) {
			return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("%s could not open it (%v)", name, exit), Hint: "open it by hand", Err: err}
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// public is the environment without the two tokens, which are no other
// program's business.
func (e Env) public() []string {
	secret := map[string]bool{}
	for _, s := range known {
		if s.secret {
			for _, n := range s.names() {
				secret[n] = true
			}
		}
	}
	var out []string
	for name, value := range e {
		if !secret[name] && !strings.ContainsRune(value, 0) {
			out = append(out, name+"="+value)
		}
	}
	return out
}

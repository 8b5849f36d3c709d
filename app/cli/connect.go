package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"steward/app/daemon"
	"steward/app/update"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// hello is who this process is, as the service is told.
func (s *session) hello(role string, p daemon.Paths) local.Hello {
	cwd, err := os.Getwd()
	if err != nil { // the folder was removed: then it names no work either
		cwd = ""
	}
	home := s.env["HOME"]
	if v := s.env["USERPROFILE"]; home == "" {
		home = v
	}
	return local.Hello{
		Role: role, ID: local.NewID(), Version: version, Schema: ledger.SchemaVersion, PID: os.Getpid(), Ledger: p.Key,
		Workspace: cwd, Stream: local.StreamName(func(name string) string { return s.env[name] }, cwd, home), Tools: local.Digest(),
	}
}

// met starts a service of this version when the one there is older and either was
// started by a client, which gives way unless it is busy, or refuses everybody.
func (s *session) met(p daemon.Paths) func(string) bool {
	return func(theirs string) bool {
		if theirs != "" && update.Compare(version, theirs) <= 0 {
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), local.HelloTimeout)
		defer cancel()
		i, err := daemon.Info(ctx, p)
		return err == nil && daemon.Replaces(version, i) && daemon.Spawn(s.env, p) == nil
	}
}

// ask calls one tool of the service, which is started if none runs. A receipt
// that nobody takes is kept in the spool; the result says so. The error is an
// *ops.Error.
func (s *session) ask(tool string, args json.RawMessage) (local.CallResult, error) {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return local.CallResult{}, err
	}
	config := local.ConnectConfig{
		Address: paths.Socket, Hello: s.hello(local.RoleShell, paths), Spool: paths.Spool, Logger: slog.New(slog.DiscardHandler),
		Spawn: func() error { return daemon.Spawn(s.env, paths) }, Dial: paths.Dial, Met: s.met(paths),
	}
	ctx := context.Background()
	var c *local.Client
	if tool == "report_done" { // it goes into the spool rather than wait for a long opening
		c = local.Open(config)
	} else {
		config.Opening = s.opening()
		if c, err = local.Connect(ctx, config); err != nil {
			return local.CallResult{}, unreachable(err, paths)
		}
	}
	defer c.Close()
	result, err := c.Call(ctx, tool, args)
	if err != nil {
		return local.CallResult{}, unreachable(err, paths)
	}
	if result.IsError {
		return local.CallResult{}, toolError(result)
	}
	if len(result.Structured) == 0 {
		return local.CallResult{}, fmt.Errorf("%s: the service's answer holds no facts", tool)
	}
	return result, nil
}

// opening tells a person at a terminal that a long start is under way.
func (s *session) opening() func(done float64) {
	if s.json || !isTerminal(s.stderr) {
		return nil
	}
	told := false
	return func(done float64) {
		if !told && done > 0 {
			told = true
			fmt.Fprintln(s.stderr, "steward: the service is opening its ledger …")
		}
	}
}

// toolError is a refusal as the service worded it.
func toolError(r local.CallResult) error {
	var body struct {
		Error struct {
			Code    ops.Code `json:"code"`
			Field   string   `json:"field"`
			Message string   `json:"message"`
			Hint    string   `json:"hint"`
			ID      string   `json:"id"`
		} `json:"error"`
		Current json.RawMessage `json:"current"`
	}
	if err := json.Unmarshal(r.Structured, &body); err != nil || body.Error.Message == "" {
		return &ops.Error{Code: ops.Internal, Message: r.Text}
	}
	e := body.Error
	return &ops.Error{Code: e.Code, Field: e.Field, Message: e.Message, Hint: e.Hint, ID: e.ID, State: body.Current}
}

// unreachable says why no service answered, and what to do.
func unreachable(err error, p daemon.Paths) error {
	if e, ok := errors.AsType[*ops.Error](err); ok { // the service could not be started
		return e
	}
	if r, ok := errors.AsType[*local.Refused](err); ok {
		return &ops.Error{Code: codeNamed(r.Code), Message: r.Message, Hint: r.Hint, Err: err}
	}
	if c, ok := errors.AsType[*local.CallError](err); ok && c.Code != string(ops.Unavailable) {
		return &ops.Error{Code: codeNamed(c.Code), Message: c.Message, Hint: c.Hint, Err: err}
	}
	e := &ops.Error{Code: ops.Unavailable, Message: err.Error(), Hint: "`steward doctor` says what is wrong; the log is " + p.Log, Err: err}
	if c, ok := errors.AsType[*local.CallError](err); ok && c.Hint != "" {
		e.Hint = c.Hint
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, silent := daemon.Info(ctx, p); silent == nil {
		return e // it answers: the error has its own words
	}
	if holder, held, lockErr := ledger.Holder(p.Ledger); lockErr == nil && held {
		e.Message = fmt.Sprintf("the process that holds the ledger (%s) does not answer on %s", holder, p.Socket)
	}
	return e
}

// codeNamed maps a code from the wire to one with an exit code of its own.
func codeNamed(name string) ops.Code {
	switch c := ops.Code(name); c {
	case ops.Invalid, ops.NotFound, ops.Conflict, ops.Closed, ops.Forbidden, ops.Version, ops.Corrupt, ops.Internal:
		return c
	}
	return ops.Unavailable
}

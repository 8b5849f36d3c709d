package cli

import (
	"errors"
	"fmt"

	"steward/mcp/ops"
)

// exitCodes are all there are, and what a person is told of them.
var exitCodes = []struct {
	code  int
	means string
}{
	{0, "done"},
	{ops.Internal.Exit(), "internal"},
	{ops.Invalid.Exit(), "misuse"},
	{ops.NotFound.Exit(), "not found"},
	{ops.Conflict.Exit(), "conflict or too late"},
	{ops.Forbidden.Exit(), "forbidden"},
	{ops.Unavailable.Exit(), "the service or its version is not available"},
	{ops.Corrupt.Exit(), "the ledger is damaged"},
}

// said is an error whose text has been shown already.
type said struct{ of *ops.Error }

func (e said) Error() string { return e.of.Message }
func (e said) Unwrap() error { return e.of }

// asError is ops.AsError for what happens in this process: the text of an
// error without a code is for the person who typed the command.
func asError(err error) *ops.Error {
	e := ops.AsError(err)
	if _, known := errors.AsType[*ops.Error](err); !known && e.Code == ops.Internal {
		return &ops.Error{Code: ops.Internal, Message: err.Error(), Err: err}
	}
	return e
}

// end turns what a command returned into the exit code.
func (s *session) end(err error) int {
	if err == nil {
		return 0
	}
	return s.fail(err)
}

// fail reports err to the person, or with --json to a program, and returns its
// exit code: 1 internal, 2 invalid, 3 not_found, 4 conflict and closed,
// 5 forbidden, 6 unavailable and version, 7 corrupt.
func (s *session) fail(err error) int {
	if shown, ok := errors.AsType[said](err); ok {
		return shown.of.Code.Exit()
	}
	e := asError(err)
	if s.json {
		fmt.Fprintf(s.stderr, "%s\n", visibleJSON(e.JSON()))
		return e.Code.Exit()
	}
	fmt.Fprintf(s.stderr, "steward: %s\n", visible(e.Message))
	if e.ID != "" {
		fmt.Fprintf(s.stderr, "  look for %s in the service's log\n", visible(e.ID))
	}
	if e.Hint != "" {
		fmt.Fprintf(s.stderr, "  %s\n", visible(e.Hint))
	}
	return e.Code.Exit()
}

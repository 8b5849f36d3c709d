package ops

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"steward/handoff"
	"steward/handoff/ticket"
	"steward/ledger"
)

// Code is the class of an error, the same on every surface.
type Code string

// The codes. Each has one HTTP status and one exit code.
const (
	Invalid     Code = "invalid"     // the arguments break a rule; the field and the rule are named
	NotFound    Code = "not_found"   // there is no such thing
	Conflict    Code = "conflict"    // it is in another state, which comes along
	Closed      Code = "closed"      // it is final, expired or no longer the caller's
	Forbidden   Code = "forbidden"   // somebody else may, or the same caller elsewhere
	Unavailable Code = "unavailable" // not now; nothing was kept
	Version     Code = "version"     // a newer Steward is needed
	Corrupt     Code = "corrupt"     // the ledger is damaged
	Internal    Code = "internal"    // a fault of Steward's own; the log has it under an id
)

// codes says everything about a code in one place.
var codes = map[Code]struct {
	http, exit int
	tool       bool
}{
	Invalid:     {http.StatusBadRequest, 2, true},
	NotFound:    {http.StatusNotFound, 3, true},
	Conflict:    {http.StatusConflict, 4, true},
	Closed:      {http.StatusGone, 4, true},
	Forbidden:   {http.StatusForbidden, 5, true},
	Unavailable: {http.StatusServiceUnavailable, 6, false},
	Version:     {http.StatusUpgradeRequired, 6, false},
	Corrupt:     {http.StatusInternalServerError, 7, false},
	Internal:    {http.StatusInternalServerError, 1, false},
}

// HTTP returns the status of an HTTP answer with this code.
func (c Code) HTTP() int {
	if k, ok := codes[c]; ok {
		return k.http
	}
	return codes[Internal].http
}

// Exit returns the exit code of a command that failed with this code.
func (c Code) Exit() int {
	if k, ok := codes[c]; ok {
		return k.exit
	}
	return codes[Internal].exit
}

// ToolError tells whether MCP answers with a result marked isError, which the
// model reads and can act on, rather than with a protocol error.
func (c Code) ToolError() bool { return codes[c].tool }

// Error is the one form in which an operation fails. Everything in it may be
// shown to the caller.
type Error struct {
	Code    Code
	Field   string          // the argument at fault
	Message string          // what is wrong: field, limit and what came
	Hint    string          // what to do next
	ID      string          // of an internal error: where the log has its text
	State   json.RawMessage // of conflict and closed: the current state
	Err     error           // the cause, for errors.Is and the log; never shown
}

// Error returns the message, and with it the id of an internal error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// JSON returns {"error":{code, field?, message, hint?, id?},"current"?} on one line.
func (e *Error) JSON() []byte {
	b := []byte(`{"error":{"code":`)
	b = appendString(b, string(e.Code))
	for _, f := range [...]struct{ key, value string }{{"field", e.Field}, {"message", e.Message}, {"hint", e.Hint}, {"id", e.ID}} {
		if f.value == "" {
			continue
		}
		b = append(b, `,"`+f.key+`":`...)
		b = appendString(b, f.value)
	}
	b = append(b, '}')
	if len(e.State) > 0 {
		b = append(b, `,"current":`...)
		b = append(b, e.State...)
	}
	return append(b, '}')
}

// sentinels maps what ledger and handoff export. The first match counts. Where
// own is set the whole error's text is meant for the caller; else only the
// sentinel's, because the rest may name files and statements.
var sentinels = []struct {
	err  error
	code Code
	own  bool
	hint string
}{
	{err: handoff.ErrFinal, code: Closed, own: true},
	{err: handoff.ErrClaimLost, code: Closed, own: true},
	{err: handoff.ErrClosed, code: Closed, own: true},
	{err: handoff.ErrUnclaimed, code: Conflict, own: true},
	{err: handoff.ErrNotOwner, code: Conflict, own: true},
	{err: handoff.ErrFence, code: Conflict, own: true},
	{err: handoff.ErrConflict, code: Conflict, own: true},
	{err: handoff.ErrNotFound, code: NotFound, own: true, hint: "handoff_list names the handoffs there are"},
	{err: ticket.ErrAnswered, code: Closed, own: true},
	{err: ticket.ErrExpired, code: Closed, own: true},
	{err: ticket.ErrCancelled, code: Closed, own: true},
	{err: ticket.ErrNoUndo, code: Closed, own: true},
	{err: ticket.ErrClosed, code: Closed, own: true},
	{err: ticket.ErrNotAsker, code: Forbidden, own: true},
	{err: ticket.ErrFull, code: Conflict, own: true, hint: "wait for answers, or take questions back with cancel_ticket"},
	{err: ticket.ErrNotFound, code: NotFound, own: true, hint: "list_pending names the questions that wait"},
	{err: ledger.ErrInvalid, code: Invalid, own: true},
	{err: ledger.ErrNotFound, code: NotFound, own: true},
	{err: ledger.ErrReused, code: Conflict, hint: "take the next sequence number for another call"},
	{err: ledger.ErrSuperseded, code: Closed, hint: "the slot has moved on; the answer of this call is no longer kept"},
	{err: ledger.ErrClosed, code: Unavailable, hint: "the service is stopping; call again in a moment"},
	{err: ledger.ErrLocked, code: Unavailable, hint: "steward doctor names the process that holds it"},
	{err: ledger.ErrFull, code: Unavailable, hint: "free some space, then call again; nothing of this call was kept"},
	{err: ledger.ErrReadOnly, code: Unavailable, hint: "make the state folder writable, then call again"},
	{err: ledger.ErrUnavailable, code: Unavailable, hint: "nothing of this call was kept; call again"},
	{err: ledger.ErrLinked, code: Unavailable, hint: "copy the file, delete this name of it, and give the copy the name: then each ledger has its own"},
	{err: ledger.ErrMoved, code: Unavailable, hint: "call again: a service for the file that is there now will start; `steward stop` first, next time"},
	{err: ledger.ErrNotPlain, code: Unavailable, hint: "move away what stands in the place of the file; steward doctor names it"},
	{err: ledger.ErrForeign, code: Unavailable, hint: "STEWARD_DB names a file that is not Steward's; steward doctor names it"},
	{err: ledger.ErrNewer, code: Version, hint: "restart with the newer Steward"},
	{err: ledger.ErrCorrupt, code: Corrupt, hint: "steward verify names what is broken; steward restore FILE puts a copy back"},
}

// CodeOf returns the code of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// AsError turns any error into the form that goes out; nil stays nil. What has
// no code becomes internal, with a fresh id and without its text: whoever
// calls this logs the cause under that id.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if fe, ok := errors.AsType[*ledger.FieldError](err); ok {
		return &Error{Code: Invalid, Field: fe.Field, Message: fe.Error(), Err: err}
	}
	for _, s := range sentinels {
		if !errors.Is(err, s.err) {
			continue
		}
		message := s.err.Error()
		if s.own {
			message = err.Error()
		}
		e := &Error{Code: s.code, Message: message, Hint: s.hint, Err: err}
		if se, ok := errors.AsType[*handoff.StateError](err); ok {
			e.Hint = se.Hint
			e.State, _ = marshal(se.State) // a state that was read can be written
		}
		if se, ok := errors.AsType[*ticket.StateError](err); ok {
			e.Hint = se.Hint
			e.State, _ = marshal(se.State)
		}
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: Unavailable, Message: "the call was given up before it was done", Hint: "call again", Err: err}
	}
	id := newErrorID()
	return &Error{Code: Internal, ID: id, Message: "something went wrong inside Steward; its log has the cause under " + id, Err: err}
}

func newErrorID() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return "err_" + hex.EncodeToString(b[:])
}

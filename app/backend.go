package app

import (
	"context"
	"encoding/json"
	"errors"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// Backend is where the window's calls go: the service in this process, or
// another process's over its socket.
type Backend interface {
	// Call runs an operation offered to windows. args is one JSON object.
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, *ops.Error)
	// Follow tells emit what happens after an event, in order, until ctx ends or
	// the backend is lost; after below 0 begins now.
	Follow(ctx context.Context, after int64, emit func(ops.Notice)) error
	// Attached tells whether the ledger is another process's.
	Attached() bool
}

// person is the caller of everything that the window asks for.
var person = ops.Caller{Surface: ops.Window, Person: true, Client: "steward window"}

// embedded is the service in this process.
type embedded struct{ set *ops.Set }

func (b embedded) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, *ops.Error) {
	res, err := b.set.Call(ctx, person, name, args)
	if err != nil {
		return nil, ops.AsError(err)
	}
	return res.JSON, nil
}

func (b embedded) Follow(ctx context.Context, after int64, emit func(ops.Notice)) error {
	return b.set.Follow(ctx, after, func(n ops.Notice) error {
		emit(n)
		return nil
	})
}

func (embedded) Attached() bool { return false }

// attached is another process's service, and the desktop of this one.
type attached struct {
	to   *local.Attached
	desk ops.Opener
}

func (b attached) Call(ctx context.Context, name string, args json.RawMessage) (res json.RawMessage, _ *ops.Error) {
	var err error
	if name == "attachment_open" { // the window has a desktop; the service may have none
		res, err = ops.OpenAttachment(ctx, b.desk, args, b.to.Call)
	} else {
		res, err = b.to.Call(ctx, name, args)
	}
	if err != nil {
		return nil, callError(err)
	}
	return res, nil
}

func (b attached) Follow(ctx context.Context, after int64, emit func(ops.Notice)) error {
	return b.to.Follow(ctx, after, func(typ string, id int64, data json.RawMessage) {
		emit(ops.Notice{Type: typ, ID: id, Data: data})
	})
}

func (attached) Attached() bool { return true }

// callError is the error of another process in the form of this one's.
func callError(err error) *ops.Error {
	ce, ok := errors.AsType[*local.CallError](err)
	if !ok {
		return ops.AsError(err)
	}
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
	if json.Unmarshal(ce.Data, &body) == nil && body.Error.Code != "" {
		e := body.Error
		return &ops.Error{Code: e.Code, Field: e.Field, Message: e.Message, Hint: e.Hint, ID: e.ID, State: body.Current, Err: err}
	}
	code := ops.Code(ce.Code)
	if code == "" {
		code = ops.Internal
	}
	return &ops.Error{Code: code, Message: ce.Message, Hint: ce.Hint, Err: err}
}

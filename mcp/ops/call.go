package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"steward/ledger"
)

// Set is the operations of one service, bound to what they need of the machine.
// It is safe for use by many goroutines.
type Set struct {
	env    *Env
	ops    []Op
	byName map[string]*Op
	logger *slog.Logger
	stir   stir
}

// NewSet binds operations to env. Two of one name are a programmer's error and
// panic.
func NewSet(env *Env, ops ...Op) *Set {
	s := &Set{env: env, ops: slices.Clone(ops), byName: make(map[string]*Op, len(ops)), logger: slog.New(slog.DiscardHandler)}
	if env != nil && env.Logger != nil {
		s.logger = env.Logger
	}
	slices.SortFunc(s.ops, func(a, b Op) int { return strings.Compare(a.Name, b.Name) })
	for i := range s.ops {
		name := s.ops[i].Name
		if s.byName[name] != nil {
			panic("ops: a second " + name)
		}
		s.byName[name] = &s.ops[i]
	}
	return s
}

// Ops returns the operations, sorted by name.
func (s *Set) Ops() []Op { return slices.Clone(s.ops) }

// Call runs the operation of that name for c. args is one JSON object; nil,
// empty and null stand for {}. The error is always an *Error.
func (s *Set) Call(ctx context.Context, c Caller, name string, args json.RawMessage) (res Result, err error) {
	op, err := s.find(c, name)
	if err != nil {
		return Result{}, err
	}
	c.env = s.env
	c.Workspace = claim(c.Workspace, ledger.MaxWorkspace)
	c.Session = claim(c.Session, ledger.MaxSession)
	defer func() {
		if p := recover(); p != nil {
			res, err = Result{}, s.failed(name, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	res, err = op.call(ctx, s.env, c, args)
	if err != nil {
		return Result{}, s.failed(name, err)
	}
	if op.Stirs {
		s.Stir()
	}
	return res, nil
}

// find returns the operation if this caller may ask for it.
func (s *Set) find(c Caller, name string) (*Op, error) {
	op := s.byName[name]
	switch {
	case op == nil:
		return nil, &Error{Code: NotFound, Message: fmt.Sprintf("%q: there is no such tool", ledger.Clip(name, 64))}
	case op.Surfaces&c.Surface == 0 && op.Person && c.Surface&(Agent|Shell) != 0:
		return nil, &Error{Code: Forbidden, Message: name + ": only a person " + op.may(), Hint: op.where()}
	case op.Surfaces&c.Surface == 0:
		return nil, &Error{Code: Forbidden, Message: name + ": not offered here", Hint: "offered to " + strings.Join(op.Surfaces.Names(), ", ")}
	case op.Person && !c.Person:
		return nil, &Error{Code: Forbidden, Message: name + ": only a person " + op.may(), Hint: "sign in with the owner token"}
	}
	return op, nil
}

// may is what a person does with an operation that only a person may call.
func (o *Op) may() string {
	if o.Kind == Decides {
		return "decides this"
	}
	return "may"
}

// where a person may call it.
func (o *Op) where() string {
	if o.Surfaces&Web == 0 {
		return "in Steward's window"
	}
	return "in Steward's window or on its web page"
}

// failed turns err into what goes out and logs what must not.
func (s *Set) failed(name string, err error) *Error {
	e := AsError(err)
	switch e.Code {
	case Internal, Corrupt:
		s.logger.Error("operation failed", "op", name, "code", string(e.Code), "id", e.ID, "err", err)
	case Unavailable, Version:
		s.logger.Warn("operation refused", "op", name, "code", string(e.Code), "err", err)
	}
	return e
}

// claim makes what a connection says of itself fit to be stored: a folder may
// have a name that is longer, or no proper text.
func claim(s string, most int) string {
	return ledger.Clip(strings.ToValidUTF8(s, "\ufffd"), most)
}

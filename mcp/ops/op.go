// Package ops is the list of everything Steward can be asked. An operation is
// a value: a name, a text, the Go types of its arguments and its result, an
// effect and the surfaces that offer it. The MCP server, the window, the web
// page and the shell translate; they never decide.
//
// The effect is which constructor made the operation, so it cannot lie: a Read
// is handed a view and cannot write, an Append a transaction, a Decide wants a
// person, an Act touches the machine and holds no transaction.
package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"unicode/utf8"

	"steward/ledger"
)

// Kind is the effect of an operation.
type Kind uint8

// The effects.
const (
	Reads   Kind = iota // looks at the ledger
	Waits               // looks until something is so, or time is up
	Appends             // writes to the ledger
	Decides             // writes what only a person may decide
	Acts                // does something on the machine
)

var kindNames = [...]string{"reads", "waits", "appends", "decides", "acts"}

// String returns the effect's word.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Surface is a set of places that offer an operation. None is the default, so
// that an operation whose author forgot to choose is invisible.
type Surface uint8

// The surfaces.
const (
	Agent  Surface = 1 << iota // tools of the MCP server
	Window                     // the desktop window
	Web                        // the page of the HTTP service
	Shell                      // steward call NAME JSON
)

var surfaceNames = [...]string{"agent", "window", "web", "shell"}

// Names lists the surfaces in s, in a fixed order.
func (s Surface) Names() []string {
	var names []string
	for i, n := range surfaceNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Caller is who calls, as the surface knows it from the connection. Nothing in
// it comes from the arguments.
type Caller struct {
	Surface   Surface                                // exactly one
	Person    bool                                   // the window, or the web page with the owner token
	Session   string                                 // the client's session id, stored with receipts; a claim
	Request   string                                 // names the request within the session, where a repetition has the same; else ""
	Client    string                                 // the client's name and version
	Workspace string                                 // the connection's workspace: fills an absent one and is stored as caller
	Stream    string                                 // the connection's stream name
	Stamp     *ledger.Stamp                          // the session slot that makes an append happen once; nil without one
	SaidAt    ledger.Millis                          // when a spooled call was made; 0 for one made now
	Spooled   string                                 // the spool file of such a call: it takes effect once for each, whatever became of its slot
	Progress  func(done, total float64, text string) // nil when the client did not ask for it

	env *Env // set by Set.Call
}

// source says how an event made by this caller came to be known.
func (c Caller) source() ledger.Source {
	if c.Person {
		return ledger.Person
	}
	return ledger.Claimed
}

// event starts an event with what the connection says.
func (c Caller) event(actor, typ string) ledger.Event {
	return ledger.Event{
		SaidAt: c.SaidAt, Actor: actor, Type: typ, Source: c.source(),
		Workspace: c.Workspace, Caller: c.Workspace, Session: c.Session,
	}
}

// Env is what operations need of the machine.
type Env struct {
	Log      *ledger.Log
	Targets  func() []string // the names a handoff may be addressed to
	Backups  string          // the folder of dated copies
	Settings Settings        // nil: there are none
	About    func() About    // what the service says about itself; its targets are filled in
	Opener   Opener          // nil: nothing can be opened from here
	Logger   *slog.Logger    // nil discards
}

func (e *Env) targets() []string {
	if e == nil || e.Targets == nil {
		return nil
	}
	return e.Targets()
}

// Spec is what an operation says about itself.
type Spec struct {
	Name       string // snake_case, noun_verb for new ones
	Title      string // a few words for people
	Text       string // at most 300 characters for agents: when to use it
	Surfaces   Surface
	Idempotent bool // repeating a call with the same arguments changes nothing more; true of every read
	AlwaysLoad bool // asks clients never to defer the tool to its name
	Person     bool // only a person may call it; true of every decision
	Stirs      bool // changes what pages show without an event: their followers are told
}

// Op is one operation. Make it with Read, Wait, Append, Decide or Act.
type Op struct {
	Spec
	Kind    Kind
	In, Out *Schema
	writes  bool
	call    func(ctx context.Context, env *Env, c Caller, args json.RawMessage) (Result, error)
}

// ReadOnly tells whether no call of the operation changes anything.
func (o Op) ReadOnly() bool { return !o.writes }

// Read makes an operation that only looks: run sees one snapshot of the ledger.
func Read[I, O any](spec Spec, run func(*ledger.View, Caller, I) (O, error)) Op {
	op := newOp[I, O](spec, Reads)
	op.call = func(ctx context.Context, env *Env, c Caller, args json.RawMessage) (Result, error) {
		in, err := decode[I](op.In, args)
		if err != nil {
			return Result{}, err
		}
		var out O
		err = env.Log.View(ctx, func(v *ledger.View) error {
			out, err = run(v, c, in)
			return err
		})
		if err != nil {
			return Result{}, err
		}
		return result(out)
	}
	return op
}

// Append makes an operation that writes to the ledger. run has no effect but
// on its transaction, which may be rolled back and run again; with a stamp it
// takes effect once, however often the call is sent.
func Append[I, O any](spec Spec, run func(*ledger.Tx, Caller, I) (O, error)) Op {
	op := newOp[I, O](spec, Appends)
	op.call = transact(op.Name, op.In, run)
	return op
}

// Decide makes an operation that only a person may call, in the window or on
// the web page. Like every operation for a person alone it panics when offered to
// agents or in the shell: whoever can run a command there need not be a person.
func Decide[I, O any](spec Spec, run func(*ledger.Tx, Caller, I) (O, error)) Op {
	op := newOp[I, O](spec, Decides)
	op.call = transact(op.Name, op.In, run)
	return op
}

// Act makes an operation that does something on the machine. It holds no
// transaction, so it may take its time.
func Act[I, O any](spec Spec, run func(context.Context, *Env, Caller, I) (O, error)) Op {
	op := newOp[I, O](spec, Acts)
	op.call = func(ctx context.Context, env *Env, c Caller, args json.RawMessage) (Result, error) {
		in, err := decode[I](op.In, args)
		if err != nil {
			return Result{}, err
		}
		out, err := run(ctx, env, c, in)
		if err != nil {
			return Result{}, err
		}
		return result(out)
	}
	return op
}

// transact is the call of an operation that writes.
func transact[I, O any](name string, schema *Schema, run func(*ledger.Tx, Caller, I) (O, error)) func(context.Context, *Env, Caller, json.RawMessage) (Result, error) {
	return func(ctx context.Context, env *Env, c Caller, args json.RawMessage) (Result, error) {
		in, err := decode[I](schema, args)
		if err != nil {
			return Result{}, err
		}
		return update(ctx, env, c, name, args, func(tx *ledger.Tx) (O, error) { return run(tx, c, in) })
	}
}

// update runs fn in a transaction, once per stamp. The result is marshalled
// inside, because the ledger keeps it as the slot's reply.
func update[O any](ctx context.Context, env *Env, c Caller, name string, args []byte, fn func(*ledger.Tx) (O, error)) (Result, error) {
	var digest [32]byte
	if c.Stamp != nil {
		var err error
		if digest, err = Digest(name, args); err != nil {
			return Result{}, err
		}
	}
	ran := false // read only after a reply, which the writer sends after the last run
	reply, err := env.Log.Update(ctx, c.Stamp, digest, func(tx *ledger.Tx) ([]byte, error) {
		ran = true
		if c.Spooled != "" {
			if first, err := tx.MarkSpooled(c.Spooled); err != nil || !first {
				return []byte("{}"), err // an earlier run of the drain came this far
			}
		}
		out, err := fn(tx)
		if err != nil {
			return nil, err
		}
		return marshal(out)
	})
	if err != nil {
		return Result{}, err
	}
	return Result{JSON: reply, Text: string(reply), Replayed: !ran}, nil
}

// decode checks args and fills the arguments from them.
func decode[I any](s *Schema, args json.RawMessage) (in I, err error) {
	err = s.decode(args, reflect.ValueOf(&in).Elem())
	return in, err
}

var opName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

const maxToolText = 300 // characters of Spec.Text

func newOp[I, O any](spec Spec, kind Kind) Op {
	switch n := utf8.RuneCountInString(spec.Text); {
	case !opName.MatchString(spec.Name):
		panic("ops: " + spec.Name + ": a name is snake_case")
	case spec.Title == "" || spec.Text == "":
		panic("ops: " + spec.Name + ": wants a title and a text")
	case n > maxToolText:
		panic(fmt.Sprintf("ops: %s: a text has at most %d characters; got %d", spec.Name, maxToolText, n))
	}
	spec.Idempotent = spec.Idempotent || kind == Reads
	spec.Person = spec.Person || kind == Decides
	if spec.Person && spec.Surfaces&(Agent|Shell) != 0 {
		panic("ops: " + spec.Name + ": what only a person may do is offered to agents or in the shell")
	}
	return Op{
		Spec: spec, Kind: kind, writes: kind != Reads,
		In:  inputSchema(spec.Name, reflect.TypeFor[I]()),
		Out: outputSchema(spec.Name, reflect.TypeFor[O]()),
	}
}

package daemon

import (
	"steward/app/update"
	"steward/mcp/local"
)

// Role is why a process serves.
type Role string

// The roles. An Auto service was started by a client, gives way to the others
// and leaves when nobody needs it; Serve was started by the person and stays;
// Window serves from the window's process.
const (
	Auto   Role = "auto"
	Serve  Role = "serve"
	Window Role = "window"
)

// State of a service. Its order is the order of its life.
type State uint8

// The states.
const (
	Waiting  State = iota // for the lock: another process holds it
	Opening               // has lock and socket; opens the ledger, drains the spool
	Serving               // answers
	Refusing              // has lock and socket, but the ledger cannot be used: says why
	Draining              // answers what is running, takes nothing new
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"waiting", "opening", "serving", "refusing", "draining"}[s]
}

// owner is what decides whether the present owner gives way.
type owner struct {
	role    Role
	version string
	schema  int
	state   State
	active  bool // an agent's task is running
}

// Why an owner stays.
const (
	keptOlder = "older" // the asker knows less than the ledger already has
	keptBusy  = "busy"  // a task is active, or the ledger is just being opened
	keptStays = "kept"  // the owner's role comes first
)

// yields decides whether the owner gives way to y, and if not, why.
func (o owner) yields(y local.Yield) (granted bool, why string) {
	switch {
	case y.Schema < o.schema:
		return false, keptOlder
	case o.active, o.state != Serving && o.state != Refusing:
		return false, keptBusy
	case o.state == Refusing: // serves nobody
		return true, ""
	case Role(y.Role) == o.role:
		if update.Compare(y.Version, o.version) > 0 {
			return true, ""
		}
		return false, keptStays
	case o.role == Auto:
		return true, ""
	}
	return false, keptStays
}

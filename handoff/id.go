package handoff

import "steward/ledger"

// ID names a handoff: hnd_ and a ULID, upper case.
type ID string

var naming = Naming{Prefix: "hnd_", Short: "H-", Field: "handoff_id", Table: "handoffs", Missing: ErrNotFound}

func newID(now ledger.Millis) (ID, error) {
	id, err := naming.New(now)
	return ID(id), err
}

// Resolve returns the ID that ref, a full or short id, stands for. See
// Naming.Resolve; errors: ErrNotFound, *ledger.FieldError.
func Resolve(v *ledger.View, ref string) (ID, error) {
	id, err := naming.Resolve(v, ref)
	return ID(id), err
}

// Short returns the form of id that people see: H- and its last four characters,
// or as many as tell it from every other handoff there is.
func Short(v *ledger.View, id ID) (string, error) { return naming.ShortOf(v, string(id)) }

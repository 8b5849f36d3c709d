package ledger

import (
	"errors"
	"fmt"
)

// The ledger's sentinels. Compare with errors.Is, never by text.
var (
	ErrInvalid     = errors.New("invalid")                                         // a *FieldError says which field
	ErrClosed      = errors.New("the ledger is closed")                            // after Close, or while closing
	ErrUnavailable = errors.New("the ledger cannot be written")                    // the disk refused; nothing of the call was kept
	ErrReadOnly    = errors.New("the ledger's folder is read-only")                //
	ErrFull        = errors.New("the disk is full")                                //
	ErrNewer       = errors.New("the ledger was made by a newer Steward")          // never opened for writing
	ErrForeign     = errors.New("not a Steward ledger")                            // never opened for writing
	ErrCorrupt     = errors.New("the ledger is damaged")                           //
	ErrNotPlain    = errors.New("not a plain file")                                // a folder, a pipe, a device; never opened
	ErrLocked      = errors.New("another process holds the ledger")                //
	ErrLinked      = errors.New("the ledger file has a second name (a hard link)") // two names have two locks
	ErrMoved       = errors.New("the ledger file was removed or replaced while in use")
	ErrReused      = errors.New("this slot and sequence number already carried another call")
	ErrSuperseded  = errors.New("a later call has used this slot")
	ErrNotFound    = errors.New("not found")
)

// FieldError says which field broke which rule, and what came instead.
type FieldError struct{ Field, Rule, Got string }

func (e *FieldError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Rule)
	}
	return fmt.Sprintf("%s: %s; got %s", e.Field, e.Rule, e.Got)
}

// Is makes every FieldError an ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

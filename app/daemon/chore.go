package daemon

import (
	"context"
	"errors"
	"fmt"

	"steward/ledger"
	"steward/mcp/ops"
)

// self is the actor of what the service does by itself.
const self = ops.Self

// A chore is something that the service does by itself. When it does not work
// the service goes on, and an event says so: a failure, which stands in every
// situation report until the chore has worked again.
type chore struct {
	object string // what its events are about
	failed string // type of the event of its failing; ends in _failed
}

// losing is no chore, but stands in reports as one that failed: the ledger file was
// gone at a start. The person acknowledges it; nothing else ends it.
var losing = chore{object: "ledger_file", failed: "ledger_failed"}

var errLost = errors.New("the ledger file was gone, while the log of what was written last lay in its place; a new ledger was begun and that log is kept. `steward doctor` says what to do")

// fails notes why a chore did not work, once for the same reason.
func (c chore) fails(ctx context.Context, log *ledger.Log, why error, file string) error {
	outcome := ledger.Clip(reason(why), ledger.MaxOutcome)
	_, err := log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		standing, err := tx.FailureOf(self, c.object, "")
		if err == nil && standing.Outcome == outcome {
			return nil, nil
		}
		if err != nil && !errors.Is(err, ledger.ErrNotFound) {
			return nil, err
		}
		_, err = tx.Append(ledger.Event{Actor: self, Type: c.failed, Object: c.object, Outcome: outcome, File: file, Source: ledger.System})
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("note that %s failed: %w", c.object, err)
	}
	return nil
}

// works ends the failure of a chore, if there is one.
func (c chore) works(tx *ledger.Tx, outcome string) error {
	if _, err := tx.FailureOf(self, c.object, ""); errors.Is(err, ledger.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	_, err := tx.Append(ledger.Event{Actor: self, Type: ledger.TypeResolved, Object: c.object, Outcome: outcome, Source: ledger.System})
	return err
}

// reason is why something did not work, in words that are the same the next
// time: without the names of temporary files.
func reason(err error) string {
	if e := ops.AsError(err); e.Code != ops.Internal {
		return e.Message
	}
	return cause(err).Error()
}

// Told is what the ledger says of the service's own work.
type Told struct {
	Import       *ledger.Event // the newest of the take-over of an older ledger; nil: there was none
	BackupFailed *ledger.Event // why there is no daily copy; nil: nothing is in the way
}

// ReadTold reads it out of a ledger file, beside a service if one runs. Errors
// are those of ledger.ReadFile.
func ReadTold(ctx context.Context, path string) (t Told, err error) {
	err = ledger.ReadFile(ctx, path, ledger.Selection{Actor: self}, func(e ledger.Event) error {
		switch {
		case e.Source != ledger.System: // somebody else's word under our name
		case e.Object == ImportObject && e.Type != ledger.TypeResolved:
			t.Import = &e
		case e.Object == BackupObject && e.Type == BackupFailed:
			t.BackupFailed = &e
		case e.Object == BackupObject:
			t.BackupFailed = nil
		}
		return nil
	})
	return t, err
}

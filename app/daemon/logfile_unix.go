//go:build unix

package daemon

import (
	"os"

	"steward/ledger"
)

// openAppend opens a log file. The system appends each write in one piece,
// whoever else writes.
func openAppend(path string) (*os.File, error) {
	return ledger.OpenPlain(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

package ledger

import (
	"database/sql"
	"errors"
	"strings"
)

// MaxViewer is the longest name of a viewer, in code points.
const MaxViewer = 64

// Looked returns how far a viewer has looked, as an event id, and when that was
// last said; 0, 0 when it never was, or for a name that cannot be one.
func (v *View) Looked(viewer string) (through int64, at Millis, err error) {
	err = v.QueryRow(`SELECT through_id, looked_at FROM viewers WHERE viewer = ?`, viewer).Scan(&through, (*int64)(&at))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	return through, at, err
}

// Look notes that a viewer has looked at every event up to through, now, and
// returns what is kept: the mark never goes back and never beyond the newest
// event. No event tells of it. Error: *FieldError for a name that is empty,
// only space, or longer than MaxViewer.
func (tx *Tx) Look(viewer string, through int64) (int64, Millis, error) {
	if err := Text("viewer", &viewer, MaxViewer, true); err != nil {
		return 0, 0, err
	}
	if strings.TrimSpace(viewer) == "" {
		return 0, 0, &FieldError{Field: "viewer", Rule: "1 to 64 characters", Got: "nothing"}
	}
	head, err := tx.Head()
	if err != nil {
		return 0, 0, err
	}
	before, _, err := tx.Looked(viewer)
	if err != nil {
		return 0, 0, err
	}
	through = max(before, min(through, head.LastID))
	_, err = tx.Exec(`INSERT INTO viewers(viewer, through_id, looked_at) VALUES(?,?,?)
		ON CONFLICT DO UPDATE SET through_id = excluded.through_id, looked_at = excluded.looked_at`, viewer, through, int64(tx.now))
	return through, tx.now, err
}

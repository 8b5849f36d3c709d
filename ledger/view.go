package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// View is one snapshot of the ledger.
type View struct {
	conn *conn
	now  Millis
	tail *tail // of the open log, for Search
}

// Now returns the moment the snapshot was taken, or an update began.
func (v *View) Now() Millis { return v.now }

// QueryRow runs a query for at most one row. The statement is kept prepared.
func (v *View) QueryRow(query string, args ...any) *sql.Row { return v.conn.queryRow(query, args...) }

// Query runs a query. The statement is kept prepared; close the rows.
func (v *View) Query(query string, args ...any) (*sql.Rows, error) {
	return v.conn.query(query, args...)
}

// Head is the end of the ledger.
type Head struct {
	LastID     int64 // greatest event id, 0 in an empty ledger
	LastKey    int64 // greatest injectable event id
	Unresolved int64 // failures that stand
}

// Head returns the end of the ledger.
func (v *View) Head() (h Head, err error) {
	err = v.QueryRow(`SELECT last_id, last_key, unresolved FROM head`).Scan(&h.LastID, &h.LastKey, &h.Unresolved)
	return h, err
}

// Head returns the end of the ledger with this update's own events.
func (tx *Tx) Head() (Head, error) {
	if tx.w == nil {
		return Head{}, errors.New("ledger: Tx used after its update")
	}
	s := &tx.w.stage.head
	return Head{LastID: s.lastID, LastKey: s.lastKey, Unresolved: s.unresolved}, nil
}

// TallyOf returns one kept counter.
func (v *View) TallyOf(what string, part int64) (n int64, err error) {
	err = v.QueryRow(`SELECT n FROM tallies WHERE what = ? AND part = ?`, what, part).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// Tallies returns all kept counters of one kind that are not zero.
func (v *View) Tallies(what string) (map[int64]int64, error) {
	rows, err := v.Query(`SELECT part, n FROM tallies WHERE what = ? AND n <> 0`, what)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]int64{}
	for rows.Next() {
		var p, n int64
		if err := rows.Scan(&p, &n); err != nil {
			return nil, err
		}
		out[p] = n
	}
	return out, rows.Err()
}

const eventColumns = `SELECT id, at, coalesce(said_at, 0), actor, type, coalesce(object, 0), coalesce(object_type, 0), coalesce(workspace, 0), coalesce(session, 0), coalesce(caller, 0),
	injectable, source, outcome, file, metrics, data`

// read scans one row of eventColumns and more columns behind them.
func (k *conn) read(rows interface{ Scan(...any) error }, more ...any) (Event, error) {
	var e Event
	var ids [7]int64
	var source int64
	var outcome, file, metrics, data sql.NullString
	dest := append([]any{&e.ID, (*int64)(&e.At), (*int64)(&e.SaidAt), &ids[fActor], &ids[fType], &ids[fObject], &ids[fObjectType], &ids[fWorkspace], &ids[fSession], &ids[fCaller],
		&e.Injectable, &source, &outcome, &file, &metrics, &data}, more...)
	if err := rows.Scan(dest...); err != nil {
		return e, err
	}
	for i, p := range [...]*string{fActor: &e.Actor, fType: &e.Type, fObject: &e.Object, fObjectType: &e.ObjectType, fWorkspace: &e.Workspace, fSession: &e.Session, fCaller: &e.Caller} {
		s, err := k.name(ids[i])
		if err != nil {
			return e, err
		}
		*p = s
	}
	e.Source = Source(source)
	e.Outcome, e.File = outcome.String, file.String
	if metrics.Valid {
		if err := e.Metrics.UnmarshalJSON([]byte(metrics.String)); err != nil {
			return e, fmt.Errorf("%w: metrics of event %d: %w", ErrCorrupt, e.ID, err)
		}
	}
	if data.Valid {
		e.Data = json.RawMessage(data.String)
	}
	return e, nil
}

// events runs a query of eventColumns and returns at most limit of its rows,
// and whether there was one more.
func (v *View) events(limit int, query string, args ...any) ([]Event, bool, error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	out := make([]Event, 0, min(limit, 200))
	for rows.Next() {
		if len(out) == limit {
			return out, true, nil
		}
		e, err := v.conn.read(rows)
		if err != nil {
			return nil, false, err
		}
		out = append(out, e)
	}
	return out, false, rows.Err()
}

// Events returns the oldest limit events after since, ascending, and whether
// more follow.
func (v *View) Events(since int64, limit int) ([]Event, bool, error) {
	return v.events(limit, eventColumns+` FROM events WHERE id > ? ORDER BY id LIMIT ?`, since, limit+1)
}

// Newest returns the newest limit events, ascending, and whether older ones
// exist.
func (v *View) Newest(limit int) ([]Event, bool, error) {
	out, more, err := v.events(limit, eventColumns+` FROM events ORDER BY id DESC LIMIT ?`, limit+1)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, more, err
}

// Event returns one event, or ErrNotFound.
func (v *View) Event(id int64) (Event, error) {
	out, _, err := v.events(1, eventColumns+` FROM events WHERE id = ?`, id)
	if err != nil {
		return Event{}, err
	}
	if len(out) == 0 {
		return Event{}, fmt.Errorf("event %d: %w", id, ErrNotFound)
	}
	return out[0], nil
}

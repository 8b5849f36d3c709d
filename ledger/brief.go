package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The queries behind a situation report. Each reads a bounded number of rows
// through an index that the writer keeps, however long the ledger is. An empty
// workspace means all of them.

// KeyEvents returns the newest limit injectable events after since, newest
// first, whether there are more of them, and the greatest injectable id that was
// taken into account (0 for none), whatever since is. For a workspace a limit of
// at most 40 costs the same however long the ledger is; a greater one may pass
// over all of it.
func (v *View) KeyEvents(workspace string, since int64, limit int) (events []Event, more bool, last int64, err error) {
	if workspace == "" {
		events, more, err = v.events(limit, eventColumns+` FROM events INDEXED BY events_key WHERE injectable = 1 AND id > ? ORDER BY id DESC LIMIT ?`, since, limit+1)
		if err != nil {
			return nil, false, 0, err
		}
		err = v.QueryRow(`SELECT last_key FROM head`).Scan(&last)
		return events, more, last, err
	}
	ws, err := v.conn.nameID(workspace)
	if err != nil || ws == 0 {
		return nil, false, 0, err
	}
	kept, err := v.conn.keysOf(ws)
	if err != nil || len(kept.ids) == 0 {
		return nil, false, 0, err
	}
	oldest, last := kept.ids[0], kept.ids[len(kept.ids)-1]
	full := len(kept.ids) == keysKept
	i, _ := slices.BinarySearch(kept.ids, since+1)
	ids := kept.ids[i:]
	if len(ids) > limit {
		more, ids = true, ids[len(ids)-limit:]
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, false, 0, err
	}
	events, _, err = v.events(limit, eventColumns+` FROM events WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`, string(list))
	if err != nil || more || !full || since >= oldest {
		return events, more, last, err
	}
	// What is kept does not reach back far enough. This passes over the key events
	// of other workspaces, so its time depends on how many there are.
	older, more, err := v.events(limit-len(events), eventColumns+` FROM events INDEXED BY events_key WHERE injectable = 1 AND workspace = ? AND id > ? AND id < ? ORDER BY id DESC LIMIT ?`,
		ws, since, oldest, limit-len(events)+1)
	return append(events, older...), more, last, err
}

// Failure is a failure that stands: the newest failing event of one actor,
// object and workspace, and how often it came.
type Failure struct {
	Event
	FirstID int64
	FirstAt Millis
	Count   int64
}

const failureColumns = eventColumns + `, first_id, n, (SELECT at FROM events WHERE id = f.first_id)
	FROM (SELECT last_id, first_id, n FROM failures `

func (v *View) failures(query string, args ...any) ([]Failure, error) {
	rows, err := v.Query(failureColumns+query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Failure
	for rows.Next() {
		var f Failure
		var first sql.NullInt64
		if f.Event, err = v.conn.read(rows, &f.FirstID, &f.Count, &first); err != nil {
			return nil, err
		}
		f.FirstAt = Millis(first.Int64)
		out = append(out, f)
	}
	return out, rows.Err()
}

// Failures returns how many failures stand, and the newest limit of them,
// newest first.
func (v *View) Failures(workspace string, limit int) (total int64, items []Failure, err error) {
	if workspace == "" {
		if err := v.QueryRow(`SELECT unresolved FROM head`).Scan(&total); err != nil || total == 0 {
			return 0, nil, err
		}
		items, err = v.failures(`INDEXED BY failures_last ORDER BY last_id DESC LIMIT ?) f JOIN events ON id = f.last_id ORDER BY id DESC`, limit)
		return total, items, err
	}
	ws, err := v.conn.nameID(workspace)
	if err != nil || ws == 0 {
		return 0, nil, err
	}
	if total, err = v.TallyOf(tallyUnresolved, ws); err != nil || total == 0 {
		return 0, nil, err
	}
	items, err = v.failures(`INDEXED BY failures_ws_last WHERE workspace = ? ORDER BY last_id DESC LIMIT ?) f JOIN events ON id = f.last_id ORDER BY id DESC`, ws, limit)
	return total, items, err
}

// FailureOf returns the standing failure of an actor, object and workspace (each
// of the last two may be empty, which matches only empty), or ErrNotFound.
func (v *View) FailureOf(actor, object, workspace string) (Failure, error) {
	var ids [3]int64
	for i, s := range [...]string{actor, object, workspace} {
		id, err := v.conn.nameID(s)
		if err != nil {
			return Failure{}, err
		}
		if id == 0 && s != "" {
			return Failure{}, fmt.Errorf("no standing failure of %q: %w", actor, ErrNotFound)
		}
		ids[i] = id
	}
	out, err := v.failures(`WHERE actor = ? AND object = ? AND workspace = ?) f JOIN events ON id = f.last_id`, ids[0], ids[1], ids[2])
	if err != nil {
		return Failure{}, err
	}
	if len(out) == 0 {
		return Failure{}, fmt.Errorf("no standing failure of %q: %w", actor, ErrNotFound)
	}
	return out[0], nil
}

// Mover is an actor with recent activity, over all its workspaces.
type Mover struct {
	Actor     string
	Workspace string // of its newest event
	LastID    int64
	LastAt    Millis
	Last      Event
	Count     int64   // events in Buckets
	Buckets   []int64 // of two minutes each, oldest first, the last one holds now; at most 65 535 for each workspace
}

const (
	moversRead = 1000 // lanes one report counts
	moversOld  = 32   // lanes out of time it passes over
)

// Movers returns the actors with an event at or after since, newest first, and
// how many there are; more says that counting stopped at 1 000 lanes.
func (v *View) Movers(workspace string, since Millis, limit int) (total int64, more bool, items []Mover, err error) {
	query, args := `SELECT actor, workspace, last_id, last_at, bucket, recent FROM lanes INDEXED BY lanes_last ORDER BY last_id DESC LIMIT ?`, []any{moversRead + 1}
	if workspace != "" {
		ws, err := v.conn.nameID(workspace)
		if err != nil || ws == 0 {
			return 0, false, nil, err
		}
		query, args = `SELECT actor, workspace, last_id, last_at, bucket, recent FROM lanes INDEXED BY lanes_ws_last WHERE workspace = ? ORDER BY last_id DESC LIMIT ?`, []any{ws, moversRead + 1}
	}
	rows, err := v.Query(query, args...)
	if err != nil {
		return 0, false, nil, err
	}
	defer rows.Close()
	at := map[int64]int{} // actor to its place; -1 beyond the limit
	read, old := 0, 0
	for rows.Next() {
		var actor, ws int64
		var l lane
		var recent []byte
		if err := rows.Scan(&actor, &ws, &l.lastID, &l.lastAt, &l.bucket, &recent); err != nil {
			return 0, false, nil, err
		}
		if l.lastAt < int64(since) {
			// The order is the id; where the clock went back an older time may stand
			// before newer ones. Some are passed over, then there is nothing to come.
			if old++; old > moversOld {
				break
			}
			continue
		}
		if read++; read > moversRead {
			more = true
			break
		}
		i, seen := at[actor]
		if !seen {
			total++
			i = -1
			if len(items) < limit {
				i = len(items)
				m := Mover{LastID: l.lastID, LastAt: Millis(l.lastAt), Buckets: make([]int64, buckets)}
				if m.Actor, err = v.conn.name(actor); err != nil {
					return 0, false, nil, err
				}
				if m.Workspace, err = v.conn.name(ws); err != nil {
					return 0, false, nil, err
				}
				items = append(items, m)
			}
			at[actor] = i
		}
		if i >= 0 {
			l.unpack(recent)
			l.spread(int64(v.now), items[i].Buckets)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, false, nil, err
	}
	rows.Close()
	for i := range items {
		for _, n := range items[i].Buckets {
			items[i].Count += n
		}
		items[i].Count = max(items[i].Count, 1) // one at the very edge of the time lies before the first bucket
		if items[i].Last, err = v.Event(items[i].LastID); err != nil {
			return 0, false, nil, err
		}
	}
	return total, more, items, nil
}

// Focus returns the newest focus event, and whether there is one.
func (v *View) Focus(workspace string) (Event, bool, error) {
	ws := int64(anyWorkspace)
	if workspace != "" {
		var err error
		if ws, err = v.conn.nameID(workspace); err != nil || ws == 0 {
			return Event{}, false, err
		}
	}
	var id int64
	err := v.QueryRow(`SELECT event_id FROM focus WHERE workspace = ?`, ws).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return Event{}, false, nil
	}
	if err != nil {
		return Event{}, false, err
	}
	e, err := v.Event(id)
	return e, err == nil, err
}

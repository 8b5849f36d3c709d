package ledger

import (
	"encoding/json"
	"slices"
)

// KeyCount returns how many injectable events there are after since, at most
// limit, and whether there are more.
func (v *View) KeyCount(since int64, limit int) (n int64, more bool, err error) {
	err = v.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM events INDEXED BY events_key WHERE injectable = 1 AND id > ? LIMIT ?)`, since, limit+1).Scan(&n)
	if n > int64(limit) {
		return int64(limit), true, err
	}
	return n, false, err
}

// KeyGroup is a key event, or the newest of several failures that are equal in
// actor, workspace, object and type.
type KeyGroup struct {
	Event
	Count   int64  // of the failures, this one included
	FirstID int64  // of the oldest of them
	FirstAt Millis // when that was
}

// A group is made from what the row itself holds; names and texts are read of
// the newest event alone. No outcome that fails is longer than 7 characters.
const selectKeys = `SELECT id, at, actor, type, coalesce(object, 0), coalesce(workspace, 0), CASE WHEN length(outcome) <= 7 THEN outcome ELSE '' END
	FROM events INDEXED BY events_key WHERE injectable = 1 ORDER BY id DESC LIMIT ?`

// KeyGroups makes at most limit groups from the newest look injectable events,
// newest first, and tells whether there are events that are in none of them.
func (v *View) KeyGroups(look, limit int) (groups []KeyGroup, more bool, err error) {
	rows, err := v.Query(selectKeys, look+1)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	type same struct{ actor, typ, object, workspace int64 }
	seen := map[same]int{} // the group of each failure; limit when it has none
	fails := map[int64]bool{}
	for n := 0; rows.Next(); n++ {
		if n == look {
			more = true
			break
		}
		var id, at int64
		var key same
		var outcome *string
		if err := rows.Scan(&id, &at, &key.actor, &key.typ, &key.object, &key.workspace, &outcome); err != nil {
			return nil, false, err
		}
		failing, known := fails[key.typ]
		if !known {
			e := Event{}
			if e.Type, err = v.conn.name(key.typ); err != nil {
				return nil, false, err
			}
			failing = e.Failing()
			fails[key.typ] = failing
		}
		if !failing && outcome != nil && *outcome != "" {
			e := Event{Outcome: *outcome}
			failing = e.Failing()
		}
		if i, ok := seen[key]; failing && ok {
			if i < limit {
				groups[i].Count++
				groups[i].FirstID, groups[i].FirstAt = id, Millis(at)
			}
			continue
		}
		if failing {
			seen[key] = len(groups)
		}
		if len(groups) == limit {
			more = true
			continue
		}
		groups = append(groups, KeyGroup{Event: Event{ID: id}, Count: 1, FirstID: id, FirstAt: Millis(at)})
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	rows.Close()
	ids := make([]int64, len(groups))
	for i := range groups {
		ids[i] = groups[i].ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, false, err
	}
	events, _, err := v.events(len(ids), eventColumns+` FROM events WHERE id IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, false, err
	}
	for _, e := range events {
		i, _ := slices.BinarySearchFunc(groups, e.ID, func(g KeyGroup, id int64) int { return int(id - g.ID) })
		groups[i].Event = e
	}
	return groups, more, nil
}

// Activity is how many actors have had an event within a stretch of time.
type Activity struct {
	Total int64  // actors with an event not older than the stretch
	More  bool   // counting stopped at 1 000 lanes
	Next  Millis // when time alone first makes Total smaller; 0 when Total is 0
}

// Activity counts the actors with an event in each of the stretches of time
// that end now, as Movers does; the first stretch is the longest one. It looks
// at the newest 1 000 lanes once.
func (v *View) Activity(stretches ...Millis) ([]Activity, error) {
	out := make([]Activity, len(stretches))
	if len(out) == 0 {
		return out, nil
	}
	rows, err := v.Query(`SELECT actor, last_at FROM lanes INDEXED BY lanes_last ORDER BY last_id DESC LIMIT ?`, moversRead+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	newest := map[int64]Millis{} // of each actor
	read, old := 0, 0
	for rows.Next() {
		var actor int64
		var at Millis
		if err := rows.Scan(&actor, (*int64)(&at)); err != nil {
			return nil, err
		}
		if at < v.now-stretches[0] {
			if old++; old > moversOld {
				break
			}
			continue
		}
		if read++; read > moversRead {
			for i := range out {
				out[i].More = at >= v.now-stretches[i]
			}
			break
		}
		newest[actor] = max(newest[actor], at)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, at := range newest {
		for i := range out {
			if at < v.now-stretches[i] {
				continue
			}
			out[i].Total++
			if leaves := at + stretches[i] + 1; out[i].Next == 0 || leaves < out[i].Next {
				out[i].Next = leaves
			}
		}
	}
	return out, nil
}

// NextStep returns when the buckets of a Mover next move on after now.
func NextStep(now Millis) Millis { return (now/bucketLen + 1) * bucketLen }

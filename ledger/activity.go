package ledger

// KeyCount returns how many injectable events there are after since, at most
// limit, and whether there are more.
func (v *View) KeyCount(since int64, limit int) (n int64, more bool, err error) {
	err = v.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM events INDEXED BY events_key WHERE injectable = 1 AND id > ? LIMIT ?)`, since, limit+1).Scan(&n)
	if n > int64(limit) {
		return int64(limit), true, err
	}
	return n, false, err
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

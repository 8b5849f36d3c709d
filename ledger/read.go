package ledger

import (
	"context"
	"fmt"
)

// Selection chooses events to be read out of a file.
type Selection struct {
	From, To Millis // by at, both included; 0: no bound
	Actor    string // "": any
}

// SearchBehind returns how many events of a ledger file are not in the search
// index yet; a search looks at those one by one.
func SearchBehind(path string) (n int64, err error) {
	path, err = RealPath(path)
	if err != nil {
		return 0, err
	}
	if _, err := inspect(path, len(ladder)); err != nil {
		return 0, err
	}
	c, err := connectRead(path)
	if err != nil {
		return 0, err
	}
	defer c.close()
	err = c.queryRow(`SELECT max(0, (SELECT last_id FROM head) - through_id) FROM followers WHERE name = 'search'`).Scan(&n)
	return n, classify(err)
}

// readSlice is how many events one snapshot of an export covers.
const readSlice = 5000

// ReadFile gives fn the chosen events of a ledger file in their order, while
// another process may write it: all that were there when it began, none that came
// later. It writes nothing. An error of fn ends it and is returned. Errors: fs.ErrNotExist,
// ErrForeign, ErrNewer, ErrCorrupt.
func ReadFile(ctx context.Context, path string, s Selection, fn func(Event) error) error {
	path, err := RealPath(path)
	if err != nil {
		return err
	}
	version, err := inspect(path, len(ladder))
	if err != nil {
		return err
	}
	if version < len(ladder) {
		return fmt.Errorf("the ledger has the older schema %d: start Steward once to migrate it", version)
	}
	c, err := connectRead(path)
	if err != nil {
		return err
	}
	defer c.close()
	c.names = map[int64]string{}
	actor, err := c.nameID(s.Actor)
	if err != nil || actor == 0 && s.Actor != "" {
		return classify(err)
	}
	if s.To == 0 {
		s.To = 1<<63 - 1
	}
	v := View{conn: c}
	var end int64
	if err := c.queryRow(`SELECT last_id FROM head`).Scan(&end); err != nil {
		return classify(err)
	}
	for last := int64(0); last < end; last += readSlice {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The slice is of all events, so that a choice of few reads on in steps too.
		events, _, err := v.events(readSlice, eventColumns+` FROM events WHERE id > ?1 AND id <= ?1 + ?2 AND at >= ?3 AND at <= ?4 AND (?5 = 0 OR actor = ?5) ORDER BY id`,
			last, min(readSlice, end-last), int64(s.From), int64(s.To), actor)
		if err != nil {
			return classify(err)
		}
		for _, e := range events {
			if err := fn(e); err != nil {
				return err
			}
		}
	}
	return nil
}

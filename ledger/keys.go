package ledger

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// keysKept is how many of its newest key events are kept at hand for each
// workspace: twice what a report shows, and one that tells of more.
const keysKept = 41

// keyTail holds a workspace's newest key events, oldest first.
type keyTail struct{ ids []int64 }

func (t *keyTail) add(id int64) {
	if len(t.ids) == keysKept {
		copy(t.ids, t.ids[1:])
		t.ids = t.ids[:keysKept-1]
	}
	t.ids = append(t.ids, id)
}

// pack writes the newest id and then the distance from each to the one before
// it, as varints: 40 workspaces that take turns fit on one page.
func (t *keyTail) pack() []byte {
	b := make([]byte, 0, 64)
	next := int64(0)
	for _, id := range slices.Backward(t.ids) {
		if next == 0 {
			b = binary.AppendUvarint(b, uint64(id))
		} else {
			b = binary.AppendUvarint(b, uint64(next-id))
		}
		next = id
	}
	return b
}

func (t *keyTail) unpack(b []byte) error {
	t.ids = make([]int64, 0, keysKept)
	next := int64(0)
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		id := int64(n)
		if next != 0 {
			id = next - int64(n)
		}
		if size <= 0 || id <= 0 || next != 0 && id >= next || len(t.ids) == keysKept {
			return fmt.Errorf("%w: the key events kept for a workspace cannot be read", ErrCorrupt)
		}
		t.ids = append(t.ids, id)
		b, next = b[size:], id
	}
	slices.Reverse(t.ids)
	return nil
}

// keysOf reads a workspace's newest key events; none when it has none.
func (k *conn) keysOf(workspace int64) (keyTail, error) {
	var t keyTail
	var b []byte
	err := k.queryRow(`SELECT ids FROM keys WHERE workspace = ?`, workspace).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	return t, t.unpack(b)
}

// keyTail returns a workspace's key events from memory or the file.
func (w *writer) keyTail(workspace int64) (*keyTail, error) {
	if t := w.keys[workspace]; t != nil {
		return t, nil
	}
	t, err := w.keysOf(workspace)
	if err != nil {
		return nil, err
	}
	w.keys[workspace] = &t
	return &t, nil
}

// keysFromEvents fills keys for the events that are there already. The index
// that the step drops is read before it.
func keysFromEvents(k *conn) (fill func() error, err error) {
	tails := map[int64]*keyTail{}
	// Backwards, so that what is kept comes first and the rest only passes by.
	err = k.each(`SELECT workspace, id FROM events INDEXED BY events_key_ws WHERE injectable = 1 AND workspace IS NOT NULL ORDER BY workspace DESC, id DESC`, func(scan func(...any) error) error {
		var ws, id int64
		if err := scan(&ws, &id); err != nil {
			return err
		}
		t := tails[ws]
		if t == nil {
			t = &keyTail{}
			tails[ws] = t
		}
		if len(t.ids) < keysKept {
			t.ids = append(t.ids, id)
		}
		return nil
	})
	return func() error {
		for ws, t := range tails {
			slices.Reverse(t.ids)
			if _, err := k.exec(`INSERT INTO keys(workspace, ids) VALUES(?,?)`, ws, t.pack()); err != nil {
				return err
			}
		}
		return nil
	}, err
}

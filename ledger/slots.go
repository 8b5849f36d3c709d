package ledger

import (
	"bytes"
	"database/sql"
	"errors"
	"strconv"
	"time"
)

// Slots is how many calls of one bridge may be on their way at once.
const Slots = 32

// slotsKept is how long the slots of a bridge that is not seen any more stay.
const slotsKept = 30 * 24 * time.Hour

// Stamp makes a call take effect exactly once, however often it is sent: the
// bridge that sent it, one of its slots, and a number that rises by one with
// each new call in that slot. The idea is that of NFSv4.1 sessions, RFC 8881
// §2.10.6: one row for a slot, overwritten, so nothing grows with the ledger.
type Stamp struct {
	Bridge string // the bridge's id, 1 to 64 bytes
	Slot   int    // 0 to Slots-1
	Seq    uint64 // from 1
}

func (s *Stamp) check() error {
	switch {
	case s.Bridge == "" || len(s.Bridge) > 64:
		return &FieldError{Field: "stamp.bridge", Rule: "1 to 64 bytes", Got: strconv.Itoa(len(s.Bridge))}
	case s.Slot < 0 || s.Slot >= Slots:
		return &FieldError{Field: "stamp.slot", Rule: "0 to 31", Got: strconv.Itoa(s.Slot)}
	case s.Seq == 0 || s.Seq > 1<<62:
		return &FieldError{Field: "stamp.seq", Rule: "1 to 2^62", Got: strconv.FormatUint(s.Seq, 10)}
	}
	return nil
}

// slotKey names one slot of one bridge.
type slotKey struct {
	bridge string
	slot   int
}

// find returns the reply of an earlier run of the same call. A number above the
// one that the writer remembers is a new call, and costs no look into the file.
func (s *Stamp) find(tx *Tx, digest [32]byte) (reply []byte, found bool, err error) {
	if last, ok := tx.w.slots[slotKey{s.Bridge, s.Slot}]; ok && s.Seq > last {
		return nil, false, nil
	}
	var seq uint64
	var d []byte
	err = tx.QueryRow(`SELECT seq, digest, reply FROM slots WHERE bridge = ? AND slot = ?`, []byte(s.Bridge), s.Slot).Scan(&seq, &d, &reply)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case s.Seq > seq:
		return nil, false, nil
	case s.Seq < seq:
		return nil, false, ErrSuperseded
	case !bytes.Equal(d, digest[:]):
		return nil, false, ErrReused
	}
	return reply, true, nil
}

func (s *Stamp) keep(tx *Tx, digest [32]byte, reply []byte) error {
	_, err := tx.Exec(`INSERT INTO slots(bridge, slot, seq, digest, reply, at) VALUES(?,?,?,?,?,?)
		ON CONFLICT DO UPDATE SET seq = excluded.seq, digest = excluded.digest, reply = excluded.reply, at = excluded.at`,
		[]byte(s.Bridge), s.Slot, int64(s.Seq), digest[:], string(reply), int64(tx.now))
	return err
}

// ForgetSlots drops the slots of bridges not seen for 30 days, but for those in
// keep (bridges that still have spooled calls), and returns how many rows went.
func (tx *Tx) ForgetSlots(keep map[string]bool) (int, error) {
	rows, err := tx.Query(`SELECT DISTINCT bridge FROM slots AS s WHERE at < ?1 AND NOT EXISTS(SELECT 1 FROM slots WHERE bridge = s.bridge AND at >= ?1)`,
		int64(tx.now)-slotsKept.Milliseconds())
	if err != nil {
		return 0, err
	}
	var old [][]byte
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			rows.Close()
			return 0, err
		}
		if !keep[string(b)] {
			old = append(old, b)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	gone := 0
	for _, b := range old {
		res, err := tx.Exec(`DELETE FROM slots WHERE bridge = ?`, b)
		if err != nil {
			return gone, err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return gone, err
		}
		gone += int(n)
	}
	return gone, nil
}

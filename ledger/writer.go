package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// update is one caller's change on its way through the writer.
type update struct {
	ctx    context.Context
	stamp  *Stamp
	digest [32]byte
	fn     func(*Tx) ([]byte, error)
	reply  []byte
	err    error
	done   chan struct{}
}

// Update runs fn in a savepoint of the writer's next commit and returns its
// reply once that commit is on disk. What fn returns as an error comes back
// unchanged and nothing of it is kept; other updates of the same commit are not
// touched. fn must have no effect but through its Tx: it runs on the writer's
// goroutine, and its work may be thrown away when the commit fails.
//
// With a stamp the update takes effect once: the same stamp and digest give the
// stored reply back, another digest ErrReused, an older sequence number
// ErrSuperseded.
//
// A caller whose ctx ends while it waits gets ctx.Err(); the update may still be
// kept. Other errors: ErrClosed, ErrUnavailable, ErrFull, ErrReadOnly,
// ErrCorrupt.
func (l *Log) Update(ctx context.Context, stamp *Stamp, digest [32]byte, fn func(*Tx) ([]byte, error)) ([]byte, error) {
	if stamp != nil {
		if err := stamp.check(); err != nil {
			return nil, err
		}
	}
	u := &update{ctx: ctx, stamp: stamp, digest: digest, fn: fn, done: make(chan struct{})}
	l.gate.RLock()
	if l.closed {
		l.gate.RUnlock()
		return nil, ErrClosed
	}
	select {
	case l.queue <- u:
		l.gate.RUnlock()
	case <-ctx.Done():
		l.gate.RUnlock()
		return nil, ctx.Err()
	}
	select {
	case <-u.done:
		return u.reply, u.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write is the one writer: it folds the updates that wait into one commit, and
// never waits for more of them. When it is quiet, or the search index is far
// behind, it indexes a slice.
func (l *Log) write() {
	defer close(l.stopped)
	batch := make([]*update, 0, l.batch)
	for {
		u, ok := l.next()
		if !ok {
			return
		}
		if u == nil || l.w.head.lastID-l.w.indexed > searchLag {
			if _, err := l.w.catchUp(); err != nil {
				l.w.blocked = true // until the next commit: the disk will not be better at once
				l.logger.Error("search index", "error", classify(err))
			}
		}
		if u == nil {
			continue
		}
		l.w.busy = true
		batch = append(batch[:0], u)
	gather:
		for len(batch) < l.batch {
			select {
			case u, ok := <-l.queue:
				if !ok {
					break gather
				}
				batch = append(batch, u)
			default:
				break gather
			}
		}
		if l.w.commit(batch) {
			l.w.blocked = false
			l.wake()
		}
		for i, u := range batch {
			close(u.done)
			batch[i] = nil
		}
	}
}

// next returns the next update, or nil when it has been quiet for a while and
// the search index is behind; false when the log is closed.
func (l *Log) next() (*update, bool) {
	select {
	case u, ok := <-l.queue:
		return u, ok
	default:
	}
	if l.w.blocked || l.w.indexed >= l.w.head.lastID {
		l.w.busy = true
		u, ok := <-l.queue
		return u, ok
	}
	if !l.w.busy {
		return nil, true // still quiet: the next slice at once
	}
	pause := time.NewTimer(searchPause)
	defer pause.Stop()
	select {
	case u, ok := <-l.queue:
		return u, ok
	case <-pause.C:
		l.w.busy = false
		return nil, true
	}
}

type tallyKey struct {
	what string
	part int64
}

// state is what the writer knows of the end of the ledger.
type state struct {
	lastID, lastKey, unresolved int64
	hash                        hash
}

// hit is one event's share in a lane.
type hit struct {
	key    laneKey
	id, at int64
}

// writer holds the writing connection. Only the writer's goroutine touches it.
type writer struct {
	*conn
	log    *Log
	head   state
	nextID int64            // of names
	ids    map[string]int64 // committed or about to be
	lanes  map[laneKey]*lane
	dirty  map[laneKey]bool
	keys   map[int64]*keyTail // by workspace
	fresh  map[int64]bool     // those of keys that the file does not have
	tally  map[tallyKey]int64
	slots  map[slotKey]uint64  // the last sequence number in slots; where one is missing the file is asked
	open   map[failureKey]bool // the failures that stand, all of them; nil: too many to hold
	stale  bool                // a commit failed: what is in memory must be read again

	indexed int64            // how far the search index has come
	known   map[int64]string // committed names, for the index
	recent  []entry          // the newest events, without a gap, for the index
	careful int              // batches yet to run with savepoints
	busy    bool             // an update came since the index last had its turn
	blocked bool             // indexing failed since the last commit
	buf     []byte

	stage stage
}

// stage is what one update has changed in memory so far. It is merged when its
// savepoint is released and dropped when it is rolled back.
type stage struct {
	head   state
	nextID int64
	names  []string // their ids are known to writer.ids
	hits   []hit
	keys   []hit // of a workspace, whose actor is left out
	tally  []tallyDelta
	turned []failureKey // which began or ceased to stand in writer.open, oldest first

	entries []entry // for the search index
	wrote   bool    // something was written, perhaps in part
}

type tallyDelta struct {
	key tallyKey
	n   int64
}

func newWriter(c *conn, l *Log) (*writer, error) {
	w := &writer{conn: c, log: l, known: map[int64]string{}}
	if err := w.load(); err != nil {
		return nil, err
	}
	// A lock now, so that a folder that cannot be written is found at the start.
	if _, err := w.exec(`BEGIN IMMEDIATE`); err != nil {
		return nil, classify(err)
	}
	_, err := w.exec(`ROLLBACK`)
	return w, classify(err)
}

// load reads the end of the ledger from the file.
func (w *writer) load() error {
	var h []byte
	var s state
	err := w.queryRow(`SELECT last_id, last_key, unresolved, hash FROM head`).Scan(&s.lastID, &s.lastKey, &s.unresolved, &h)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: the head row is missing", ErrCorrupt)
	}
	if err != nil {
		return classify(err)
	}
	copy(s.hash[:], h)
	var next int64
	if err := w.queryRow(`SELECT coalesce(max(id), 0) + 1 FROM names`).Scan(&next); err != nil {
		return classify(err)
	}
	if err := w.queryRow(`SELECT through_id FROM followers WHERE name = 'search'`).Scan(&w.indexed); err != nil {
		return classify(err)
	}
	w.head, w.nextID, w.recent = s, next, nil
	w.ids, w.lanes = map[string]int64{}, map[laneKey]*lane{}
	w.dirty, w.tally = map[laneKey]bool{}, map[tallyKey]int64{}
	w.keys, w.fresh = map[int64]*keyTail{}, map[int64]bool{}
	w.slots = map[slotKey]uint64{}
	if err := w.loadFailures(); err != nil {
		return err
	}
	w.stale = false
	return nil
}

// openKept is how many standing failures the writer holds. It is asked about
// each receipt that could resolve one.
const openKept = 2048

func (w *writer) loadFailures() error {
	w.open = nil
	if w.head.unresolved > openKept/2 {
		return nil
	}
	open := map[failureKey]bool{}
	if err := w.each(`SELECT actor, object, workspace FROM failures`, func(scan func(...any) error) error {
		var k failureKey
		err := scan(&k.actor, &k.object, &k.workspace)
		open[k] = true
		return err
	}); err != nil {
		return classify(err)
	}
	w.open = open
	return nil
}

// turn notes that a failure began or ceased to stand.
func (w *writer) turn(k failureKey) {
	if w.open == nil {
		return
	}
	w.stage.turned = append(w.stage.turned, k)
	if w.open[k] {
		delete(w.open, k)
	} else {
		w.open[k] = true
	}
}

// commit runs the batch in one transaction and fills in the answers. It reports
// whether anything was kept.
func (w *writer) commit(batch []*update) (kept bool) {
	fail := func(err error) bool {
		err = classify(err)
		if !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrFull) && !errors.Is(err, ErrReadOnly) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrMoved) {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		w.exec(`ROLLBACK`) // may have happened already
		w.stale = true
		w.log.logger.Error("commit failed", "updates", len(batch), "error", err)
		for _, u := range batch {
			u.reply, u.err = nil, err
		}
		return false
	}
	if err := w.log.InPlace(); err != nil {
		return fail(err)
	}
	if w.stale {
		if err := w.load(); err != nil {
			return fail(err)
		}
	}
	if _, err := w.exec(`BEGIN IMMEDIATE`); err != nil {
		return fail(err)
	}
	kept, err := w.runAll(batch)
	if errors.Is(err, errTorn) { // start over, each update in a savepoint of its own
		w.careful = carefulFor
		w.exec(`ROLLBACK`) // may have happened already
		if err = w.load(); err == nil {
			if _, err = w.exec(`BEGIN IMMEDIATE`); err == nil {
				kept, err = w.runAll(batch)
			}
		}
	}
	if err != nil {
		return fail(err)
	}
	if !kept {
		if _, err := w.exec(`ROLLBACK`); err != nil {
			return fail(err)
		}
		return false
	}
	if err := w.flush(); err != nil {
		return fail(err)
	}
	if _, err := w.exec(`COMMIT`); err != nil {
		return fail(err)
	}
	return true
}

// errTorn says that an update failed after it had written, with no savepoint to
// go back to. Nearly every refusal comes before the first write, and a savepoint
// for each update costs a tenth of the writer's time, so updates run without
// until one fails that way; then the batch starts over with savepoints, and the
// next carefulFor batches have them too.
var errTorn = errors.New("an update failed after it had written")

const carefulFor = 64

// runAll runs the updates of a batch inside the open transaction.
func (w *writer) runAll(batch []*update) (kept bool, err error) {
	savepoint := w.careful > 0
	if savepoint {
		w.careful--
	}
	for _, u := range batch {
		if err := u.ctx.Err(); err != nil { // gave up before its turn: nothing of it has happened
			u.reply, u.err = nil, err
			continue
		}
		if err := w.run(u, savepoint); err != nil {
			return false, err
		}
		kept = kept || u.err == nil
	}
	return kept, nil
}

// run runs one update. Its own error goes into the update; the error returned is
// the transaction's.
func (w *writer) run(u *update, savepoint bool) error {
	if savepoint {
		if _, err := w.exec(`SAVEPOINT u`); err != nil {
			return err
		}
	}
	w.stage = stage{head: w.head, nextID: w.nextID, names: w.stage.names[:0], hits: w.stage.hits[:0], keys: w.stage.keys[:0], tally: w.stage.tally[:0], turned: w.stage.turned[:0], entries: w.stage.entries[:0]}
	u.reply, u.err = w.call(u)
	switch {
	case u.err != nil && !savepoint:
		if w.stage.wrote {
			return errTorn
		}
		u.err = classify(u.err)
		return nil
	case u.err != nil:
		for _, n := range w.stage.names {
			delete(w.ids, n)
		}
		for _, k := range w.stage.turned { // a second turn undoes the first, in any order
			w.turn(k)
		}
		// A full disk and its like roll back everything; then there is no savepoint
		// left, and the batch has failed as a whole.
		if _, err := w.exec(`ROLLBACK TO u`); err != nil {
			return errors.Join(u.err, err)
		}
		_, err := w.exec(`RELEASE u`)
		u.err = classify(u.err)
		return err
	case savepoint:
		if _, err := w.exec(`RELEASE u`); err != nil {
			return err
		}
	}
	w.head, w.nextID = w.stage.head, w.stage.nextID
	for _, h := range w.stage.hits {
		l, err := w.lane(h.key)
		if err != nil {
			return err
		}
		l.add(h.id, h.at)
		w.dirty[h.key] = true
	}
	for _, h := range w.stage.keys {
		t, err := w.keyTail(h.key.workspace)
		if err != nil {
			return err
		}
		t.add(h.id)
		w.fresh[h.key.workspace] = true
	}
	for _, d := range w.stage.tally {
		w.tally[d.key] += d.n
	}
	if u.stamp != nil {
		w.slots[slotKey{u.stamp.Bridge, u.stamp.Slot}] = u.stamp.Seq
	}
	w.remember(w.stage.entries)
	return nil
}

// call looks at the slot, runs the function and fills the slot.
func (w *writer) call(u *update) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.logger.Error("update panicked", "panic", p, "stack", string(debug.Stack()))
			reply, err = nil, fmt.Errorf("update panicked: %v", p)
		}
	}()
	tx := &Tx{View: View{conn: w.conn, now: At(w.log.now()), tail: w.log.tail}, w: w}
	defer func() { tx.w = nil }() // a Tx kept beyond its update must not write
	if u.stamp != nil {
		reply, found, err := u.stamp.find(tx, u.digest)
		if found || err != nil {
			return reply, err
		}
	}
	if reply, err = u.fn(tx); err != nil {
		return nil, err
	}
	if u.stamp != nil {
		err = u.stamp.keep(tx, u.digest, reply)
	}
	return reply, err
}

// lane returns the lane from memory or the file.
func (w *writer) lane(k laneKey) (*lane, error) {
	if l := w.lanes[k]; l != nil {
		return l, nil
	}
	l := &lane{}
	var recent []byte
	err := w.queryRow(`SELECT last_id, last_at, n, bucket, recent FROM lanes WHERE actor = ? AND workspace = ?`, k.actor, k.workspace).
		Scan(&l.lastID, &l.lastAt, &l.n, &l.bucket, &recent)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	l.unpack(recent)
	w.lanes[k] = l
	return l, nil
}

// flush writes lanes, tallies and head once for the whole batch.
func (w *writer) flush() error {
	for k := range w.dirty {
		l := w.lanes[k]
		if _, err := w.exec(`INSERT INTO lanes(actor, workspace, last_id, last_at, n, bucket, recent) VALUES(?,?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET last_id = excluded.last_id, last_at = excluded.last_at, n = excluded.n, bucket = excluded.bucket, recent = excluded.recent`,
			k.actor, k.workspace, l.lastID, l.lastAt, l.n, l.bucket, l.pack()); err != nil {
			return err
		}
	}
	clear(w.dirty)
	if len(w.lanes) > namesKept {
		clear(w.lanes)
	}
	for ws := range w.fresh {
		if _, err := w.exec(`INSERT INTO keys(workspace, ids) VALUES(?,?) ON CONFLICT DO UPDATE SET ids = excluded.ids`, ws, w.keys[ws].pack()); err != nil {
			return err
		}
	}
	clear(w.fresh)
	if len(w.keys) > namesKept {
		clear(w.keys)
	}
	if len(w.ids) > namesKept {
		clear(w.ids)
	}
	if len(w.slots) > namesKept {
		clear(w.slots)
	}
	if len(w.open) > openKept {
		w.open = nil
	}
	for k, n := range w.tally {
		if n == 0 {
			continue
		}
		if _, err := w.exec(`INSERT INTO tallies(what, part, n) VALUES(?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n`, k.what, k.part, n); err != nil {
			return err
		}
	}
	clear(w.tally)
	_, err := w.exec(`UPDATE head SET last_id = ?, last_key = ?, hash = ?, unresolved = ?`, w.head.lastID, w.head.lastKey, w.head.hash[:], w.head.unresolved)
	return err
}

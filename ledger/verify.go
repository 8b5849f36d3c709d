package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Report is what a check found.
type Report struct {
	Events   int64  `json:"events"`              // events whose link was checked
	LastID   int64  `json:"last_id"`             // where the chain ends
	Hash     string `json:"hash"`                // hex, of the last event; note it elsewhere to recognise a chain computed anew
	FirstBad int64  `json:"first_bad,omitempty"` // the first event that does not fit, 0 when the fault is elsewhere
	Problem  string `json:"problem,omitempty"`   // "" when all is well
}

// OK tells whether the check found nothing.
func (r *Report) OK() bool { return r.Problem == "" }

// verifySlice is how many events one snapshot of a check covers: a long one
// would keep the write-ahead log from shrinking.
const verifySlice = 20_000

// VerifyFile checks a ledger file while another process may write it: SQLite's
// own structure, the schema with its triggers, every link of the chain, and that
// the tables kept beside the events say what the events say. progress, if not
// nil, is told how many events of how many are done. A fault of the ledger is in
// the Report; an error says that the check could not be made. The process that
// has the ledger open asks its Log instead.
func VerifyFile(ctx context.Context, path string, progress func(done, total int64)) (Report, error) {
	path, err := RealPath(path)
	if err != nil {
		return Report{}, err
	}
	if _, err := inspect(path, len(ladder)); err != nil {
		return corruptReport(err)
	}
	c, err := connectRead(path)
	if err != nil {
		return corruptReport(err)
	}
	defer c.close()
	return c.report(ctx, progress)
}

// report checks the whole file behind a connection made for it.
func (k *conn) report(ctx context.Context, progress func(done, total int64)) (Report, error) {
	k.names = map[int64]string{}
	var version int
	if err := k.queryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return corruptReport(classify(err))
	}
	if version < len(ladder) {
		return Report{}, fmt.Errorf("the ledger has the older schema %d: start Steward once to migrate it", version)
	}
	if version > len(ladder) {
		return Report{}, newer(version, len(ladder))
	}
	r, err := k.verify(ctx, progress)
	if err != nil {
		var bad Report
		if bad, err = corruptReport(classify(err)); err == nil {
			r.Problem = bad.Problem
		}
	}
	return r, err
}

// corruptReport turns damage into a finding and leaves other errors as they are.
func corruptReport(err error) (Report, error) {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) {
		return Report{Problem: err.Error()}, nil
	}
	return Report{}, err
}

// Verify checks the open ledger as VerifyFile does, on a connection of its own. It
// leaves the file to SQLite alone: a descriptor opened beside it would, when it is
// closed, take the process's locks on the file away wherever they are POSIX's.
func (l *Log) Verify(ctx context.Context) (Report, error) {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return VerifyFile(ctx, l.path, nil)
	}
	c, err := connect(l.path, "ro", "query_only = 1")
	if err != nil {
		return corruptReport(err)
	}
	defer c.close()
	return c.report(ctx, nil)
}

func (k *conn) verify(ctx context.Context, progress func(done, total int64)) (Report, error) {
	var r Report
	if p, err := k.structure(ctx); err != nil || p != "" {
		r.Problem = p
		return r, err
	}
	f := newReplay()
	for {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		done, err := k.verifySlice(f, &r, progress)
		if err != nil || done || r.Problem != "" {
			r.LastID, r.Events, r.Hash = f.last, f.last, hex.EncodeToString(f.hash[:])
			return r, err
		}
	}
}

// verifySlice checks the next events in one snapshot, and once it has met the
// end of the ledger in that snapshot, compares the kept tables.
func (k *conn) verifySlice(f *replay, r *Report, progress func(done, total int64)) (done bool, err error) {
	if _, err := k.exec(`BEGIN`); err != nil {
		return false, err
	}
	defer k.exec(`ROLLBACK`)
	var end int64
	var headHash []byte
	if err := k.queryRow(`SELECT last_id, hash FROM head`).Scan(&end, &headHash); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			r.Problem = "the head row is missing"
			return true, nil
		}
		return false, err
	}
	n := 0
	err = k.rows(f.last, verifySlice, func(w *row, ids [7]int64, h []byte) bool {
		n++
		if w.id != f.last+1 {
			r.FirstBad, r.Problem = f.last+1, fmt.Sprintf("event %d is missing", f.last+1)
			return false
		}
		want := f.add(w, ids)
		if !bytes.Equal(h, want[:]) {
			r.FirstBad, r.Problem = w.id, fmt.Sprintf("event %d does not match its hash: it or an earlier event was changed", w.id)
			f.last--
			return false
		}
		return true
	})
	if err != nil || r.Problem != "" {
		return true, err
	}
	if progress != nil {
		progress(f.last, max(end, f.last))
	}
	if n == verifySlice && f.last < end {
		return false, nil
	}
	switch {
	case f.last > end:
		r.FirstBad, r.Problem = end+1, fmt.Sprintf("the head ends at event %d, but event %d follows", end, end+1)
	case f.last < end:
		r.FirstBad, r.Problem = f.last+1, fmt.Sprintf("event %d is missing: the head says %d events", f.last+1, end)
	case !bytes.Equal(headHash, f.hash[:]):
		r.Problem = "the head's hash is not that of the last event"
	default:
		r.Problem, err = k.compare(f)
	}
	return true, err
}

// rows reads stored events after since, ascending, as they were hashed.
func (k *conn) rows(since int64, limit int, fn func(w *row, ids [7]int64, hash []byte) bool) error {
	rows, err := k.query(`SELECT id, at, coalesce(said_at, 0), actor, type, coalesce(object, 0), coalesce(object_type, 0), coalesce(workspace, 0), coalesce(session, 0), coalesce(caller, 0),
		injectable, source, outcome, file, metrics, data, hash FROM events WHERE id > ? ORDER BY id LIMIT ?`, since, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var w row
		var ids [7]int64
		var injectable bool
		var source int64
		var t [4]sql.NullString
		var h []byte
		if err := rows.Scan(&w.id, &w.at, &w.saidAt, &ids[0], &ids[1], &ids[2], &ids[3], &ids[4], &ids[5], &ids[6], &injectable, &source, &t[0], &t[1], &t[2], &t[3], &h); err != nil {
			return err
		}
		for i, id := range ids {
			s, err := k.name(id)
			if err != nil {
				return err
			}
			w.text[i] = field{s, id != 0}
		}
		for i, s := range t {
			w.text[fOutcome+i] = field{s.String, s.Valid}
		}
		w.flags = flags(injectable, Source(source))
		if !fn(&w, ids, h) {
			break
		}
	}
	return rows.Err()
}

// replay computes from the events alone what the writer keeps beside them.
type replay struct {
	last, lastKey int64
	hash          hash
	lanes         map[laneKey]*lane
	failures      map[failureKey][3]int64 // first id, last id, count
	focus         map[int64]int64
	keys          map[int64]*keyTail
	handoffs      map[string]*told // by id
	tickets       map[string]*asked
	ids           map[string]int64
	buf           []byte
}

func newReplay() *replay {
	return &replay{lanes: map[laneKey]*lane{}, failures: map[failureKey][3]int64{}, focus: map[int64]int64{}, keys: map[int64]*keyTail{}, handoffs: map[string]*told{}, tickets: map[string]*asked{}, ids: map[string]int64{}}
}

func (f *replay) add(w *row, ids [7]int64) hash {
	f.hash, f.buf = w.link(f.hash, f.buf)
	f.last = w.id
	for i, id := range ids {
		f.ids[w.text[i].s] = id
	}
	e := Event{Type: w.text[fType].s, Outcome: w.text[fOutcome].s, Source: Source(w.flags >> 1)}
	if w.flags&1 != 0 {
		f.lastKey = w.id
		if ws := ids[fWorkspace]; ws != 0 {
			if f.keys[ws] == nil {
				f.keys[ws] = &keyTail{}
			}
			f.keys[ws].add(w.id)
		}
	}
	if e.Moving() {
		k := laneKey{ids[fActor], ids[fWorkspace]}
		if f.lanes[k] == nil {
			f.lanes[k] = &lane{}
		}
		f.lanes[k].add(w.id, w.at)
	}
	f.handoff(w)
	f.ticket(w)
	k := failureKey{ids[fActor], ids[fObject], ids[fWorkspace]}
	switch {
	case e.Failing():
		x, ok := f.failures[k]
		if !ok {
			x[0] = w.id
		}
		x[1], x[2] = w.id, x[2]+1
		f.failures[k] = x
	case e.Resolving():
		delete(f.failures, k)
	case e.Type == TypeAcknowledged && e.Source == Person:
		k, err := acknowledged(json.RawMessage(w.text[fData].s), func(s string) (int64, error) { return f.ids[s], nil })
		if err == nil {
			delete(f.failures, k)
		}
	case e.Type == TypeFocus && e.Source != Import:
		f.focus[ids[fWorkspace]], f.focus[anyWorkspace] = w.id, w.id
	}
	return f.hash
}

// compare returns the first difference between the kept tables and the fold.
func (k *conn) compare(f *replay) (string, error) {
	var lastKey, unresolved int64
	if err := k.queryRow(`SELECT last_key, unresolved FROM head`).Scan(&lastKey, &unresolved); err != nil {
		return "", err
	}
	if lastKey != f.lastKey || unresolved != int64(len(f.failures)) {
		return fmt.Sprintf("the head counts %d unresolved failures up to key event %d; the events say %d up to %d", unresolved, lastKey, len(f.failures), f.lastKey), nil
	}
	perWorkspace := map[int64]int64{}
	for x := range f.failures {
		perWorkspace[x.workspace]++
	}
	handoffs := map[int64]int64{}
	if err := k.each(`SELECT status, count(*) FROM handoffs GROUP BY status`, func(s func(...any) error) error {
		var status, n int64
		err := s(&status, &n)
		handoffs[status] = n
		return err
	}); err != nil {
		return "", err
	}
	v := View{conn: k}
	for what, want := range map[string]map[int64]int64{tallyUnresolved: perWorkspace, TallyHandoffs: handoffs} {
		got, err := v.Tallies(what)
		if err != nil {
			return "", err
		}
		if !maps.Equal(got, want) {
			return fmt.Sprintf("the counts of %s are not those of the rows", what), nil
		}
	}
	lanes := map[laneKey]lane{}
	if err := k.each(`SELECT actor, workspace, last_id, last_at, n, bucket, recent FROM lanes`, func(s func(...any) error) error {
		var key laneKey
		var l lane
		var recent []byte
		err := s(&key.actor, &key.workspace, &l.lastID, &l.lastAt, &l.n, &l.bucket, &recent)
		l.unpack(recent)
		lanes[key] = l
		return err
	}); err != nil {
		return "", err
	}
	if !maps.EqualFunc(lanes, f.lanes, func(a lane, b *lane) bool { return a == *b }) {
		return "the actors' activity is not that of the events", nil
	}
	failures := map[failureKey][3]int64{}
	if err := k.each(`SELECT actor, object, workspace, first_id, last_id, n FROM failures`, func(s func(...any) error) error {
		var key failureKey
		var x [3]int64
		err := s(&key.actor, &key.object, &key.workspace, &x[0], &x[1], &x[2])
		failures[key] = x
		return err
	}); err != nil {
		return "", err
	}
	if !maps.Equal(failures, f.failures) {
		return "the standing failures are not those of the events", nil
	}
	keys := map[int64]string{}
	if err := k.each(`SELECT workspace, ids FROM keys`, func(s func(...any) error) error {
		var ws int64
		var ids []byte
		err := s(&ws, &ids)
		keys[ws] = string(ids)
		return err
	}); err != nil {
		return "", err
	}
	if !maps.EqualFunc(keys, f.keys, func(a string, b *keyTail) bool { return a == string(b.pack()) }) {
		return "the newest key events of the workspaces are not those of the events", nil
	}
	focus := map[int64]int64{}
	if err := k.each(`SELECT workspace, event_id FROM focus`, func(s func(...any) error) error {
		var ws, id int64
		err := s(&ws, &id)
		focus[ws] = id
		return err
	}); err != nil {
		return "", err
	}
	if !maps.Equal(focus, f.focus) {
		return "the focus is not that of the events", nil
	}
	var stray int64
	err := k.queryRow(`SELECT coalesce(min(event_id), 0) FROM handoff_events WHERE NOT EXISTS(SELECT 1 FROM events WHERE id = event_id)`).Scan(&stray)
	if err == nil && stray != 0 {
		return fmt.Sprintf("a handoff names event %d, which is missing", stray), nil
	}
	if err != nil {
		return "", err
	}
	if problem, err := k.compareHandoffs(f); err != nil || problem != "" {
		return problem, err
	}
	if problem, err := k.compareTickets(f); err != nil || problem != "" {
		return problem, err
	}
	var ahead string
	err = k.queryRow(`SELECT viewer FROM viewers WHERE through_id > ? ORDER BY viewer LIMIT 1`, f.last).Scan(&ahead)
	if err == nil {
		return fmt.Sprintf("the mark of viewer %q lies behind the last event", ahead), nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return "", err
}

// TallyHandoffs counts handoffs per status.
const TallyHandoffs = "handoffs"

func (k *conn) each(query string, fn func(scan func(...any) error) error) error {
	rows, err := k.query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// structure runs SQLite's own check and compares the schema with a fresh one:
// a dropped trigger would let history be changed.
func (k *conn) structure(ctx context.Context) (problem string, err error) {
	if err := k.queryRow(`PRAGMA integrity_check(1)`).Scan(&problem); err != nil {
		return "", err
	}
	if problem != "ok" {
		return "SQLite finds: " + problem, nil
	}
	fresh, err := connect(":memory:", "memory")
	if err != nil {
		return "", err
	}
	defer fresh.close()
	for i, s := range ladder {
		if err := fresh.step(s, i+1); err != nil {
			return "", err
		}
	}
	want, err := fresh.schema()
	if err != nil {
		return "", err
	}
	got, err := k.schema()
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return fmt.Sprintf("the %s is missing or was changed", name), nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return fmt.Sprintf("the %s does not belong to a ledger", name), nil
		}
	}
	return "", ctx.Err()
}

func (k *conn) schema() (map[string]string, error) {
	out := map[string]string{}
	err := k.each(`SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'`, func(s func(...any) error) error {
		var name, text string
		err := s(&name, &text)
		out[name] = text
		return err
	})
	return out, err
}

// checkTail verifies the last n links on one of the readers: a torn or edited
// end is found before anything is added to it.
func checkTail(readers chan *conn, n int64) error {
	k := <-readers
	defer func() { readers <- k }()
	var end, last int64
	var headHash []byte
	if err := k.queryRow(`SELECT last_id, hash, (SELECT coalesce(max(id), 0) FROM events) FROM head`).Scan(&end, &headHash, &last); err != nil {
		return classify(err)
	}
	if end != last {
		return fmt.Errorf("%w: the head ends at event %d, the events at %d", ErrCorrupt, end, last)
	}
	from := max(end-n, 0)
	var prev hash
	if from > 0 {
		var b []byte
		if err := k.queryRow(`SELECT hash FROM events WHERE id = ?`, from).Scan(&b); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("%w: event %d is missing", ErrCorrupt, from)
			}
			return classify(err)
		}
		copy(prev[:], b)
	}
	var problem error
	err := k.rows(from, int(n), func(w *row, _ [7]int64, h []byte) bool {
		prev, _ = w.link(prev, nil)
		if !bytes.Equal(h, prev[:]) {
			problem = fmt.Errorf("%w: event %d does not match its hash", ErrCorrupt, w.id)
		}
		return problem == nil
	})
	if err != nil {
		return classify(err)
	}
	if problem == nil && !bytes.Equal(headHash, prev[:]) {
		problem = fmt.Errorf("%w: the head's hash is not that of the last event", ErrCorrupt)
	}
	return problem
}

package ledger

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Tx is one update. It sees what earlier updates of the same commit wrote, and
// is good only inside the function it was given to.
type Tx struct {
	View
	w *writer
}

// Exec runs one writing statement. The tables of events refuse anything but an
// insert; use Append for those.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if tx.w == nil {
		return nil, errors.New("ledger: Tx used after its update")
	}
	tx.w.stage.wrote = true
	return tx.w.exec(query, args...)
}

// Append adds one event and keeps the summaries. It returns the event as it was
// kept, with its id and time.
func (tx *Tx) Append(e Event) (Event, error) {
	w := tx.w
	if w == nil {
		return Event{}, errors.New("ledger: Tx used after its update")
	}
	if e.Source == Import || e.Type == TypeFocus {
		e.Injectable = false
	}
	if err := e.Validate(); err != nil {
		return Event{}, err
	}
	s := &w.stage
	s.wrote = true
	e.ID, e.At = s.head.lastID+1, tx.now
	r := row{id: e.ID, at: int64(e.At), saidAt: int64(e.SaidAt), flags: flags(e.Injectable, e.Source)}
	r.text = [11]field{fActor: present(e.Actor), fType: present(e.Type), fObject: present(e.Object), fObjectType: present(e.ObjectType),
		fWorkspace: present(e.Workspace), fSession: present(e.Session), fCaller: present(e.Caller), fOutcome: present(e.Outcome), fFile: present(e.File)}
	if len(e.Metrics) > 0 {
		m, err := e.Metrics.MarshalJSON()
		if err != nil {
			return Event{}, err
		}
		if len(m) > MaxMetricsLen {
			return Event{}, &FieldError{Field: "metrics", Rule: fmt.Sprintf("at most %d bytes as JSON", MaxMetricsLen), Got: fmt.Sprint(len(m))}
		}
		r.text[fMetrics] = field{string(m), true}
	}
	if len(e.Data) > 0 {
		var b bytes.Buffer
		if err := json.Compact(&b, e.Data); err != nil {
			return Event{}, err
		}
		e.Data = b.Bytes()
		r.text[fData] = field{b.String(), true}
	}
	var ids [7]int64
	for i := range ids {
		id, err := tx.intern(r.text[i].s)
		if err != nil {
			return Event{}, err
		}
		ids[i] = id
	}
	var h hash
	h, w.buf = r.link(s.head.hash, w.buf)
	if _, err := w.exec(`INSERT INTO events(id, at, said_at, actor, type, object, object_type, workspace, session, caller, injectable, source, outcome, file, metrics, data, hash)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		r.id, r.at, null(r.saidAt), ids[fActor], ids[fType], null(ids[fObject]), null(ids[fObjectType]), null(ids[fWorkspace]), null(ids[fSession]), null(ids[fCaller]),
		int64(r.flags&1), int64(e.Source), r.text[fOutcome].null(), r.text[fFile].null(), r.text[fMetrics].null(), r.text[fData].null(), h[:]); err != nil {
		return Event{}, err
	}
	s.head.lastID, s.head.hash = e.ID, h
	s.entries = append(s.entries, entry{e.ID, e.Outcome, e.File, e.Actor, e.Type, e.Object})
	if e.Injectable {
		s.head.lastKey = e.ID
		if ids[fWorkspace] != 0 {
			s.keys = append(s.keys, hit{laneKey{workspace: ids[fWorkspace]}, r.id, r.at})
		}
	}
	if e.Moving() {
		s.hits = append(s.hits, hit{laneKey{ids[fActor], ids[fWorkspace]}, r.id, r.at})
	}
	return e, tx.follow(&e, failureKey{ids[fActor], ids[fObject], ids[fWorkspace]})
}

func null(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func (f field) null() any {
	if !f.ok {
		return nil
	}
	return f.s
}

// intern returns the id of a name, making it if it is new.
func (tx *Tx) intern(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	w := tx.w
	if id, ok := w.ids[s]; ok {
		return id, nil
	}
	id, err := w.nameID(s)
	if err != nil {
		return 0, err
	}
	if id == 0 {
		id = w.stage.nextID
		if _, err := w.exec(`INSERT INTO names(id, name) VALUES(?,?)`, id, s); err != nil {
			return 0, err
		}
		w.stage.nextID++
	}
	// Also one that was found: it may stem from this very update.
	w.stage.names = append(w.stage.names, s)
	w.ids[s] = id
	return id, nil
}

type failureKey struct{ actor, object, workspace int64 }

// follow keeps failures and focus.
func (tx *Tx) follow(e *Event, k failureKey) error {
	w := tx.w
	switch {
	case e.Failing():
		if w.open == nil || w.open[k] {
			res, err := w.exec(`UPDATE failures SET last_id = ?, n = n + 1 WHERE actor = ? AND object = ? AND workspace = ?`, e.ID, k.actor, k.object, k.workspace)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				return err
			}
		}
		if _, err := w.exec(`INSERT INTO failures(actor, object, workspace, first_id, last_id, n) VALUES(?,?,?,?,?,1)`, k.actor, k.object, k.workspace, e.ID, e.ID); err != nil {
			return err
		}
		w.turn(k)
		w.stage.head.unresolved++
		tx.Tally(tallyUnresolved, k.workspace, 1)
	case e.Resolving():
		return tx.resolve(k)
	case e.Type == TypeAcknowledged && e.Source == Person:
		k, err := acknowledged(e.Data, w.nameID)
		if err != nil {
			return err
		}
		return tx.resolve(k)
	case e.Type == TypeFocus && e.Source != Import:
		for _, ws := range [...]int64{k.workspace, anyWorkspace} {
			if _, err := w.exec(`INSERT INTO focus(workspace, event_id) VALUES(?,?) ON CONFLICT DO UPDATE SET event_id = excluded.event_id`, ws, e.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	tallyUnresolved = "unresolved"
	anyWorkspace    = -1
)

func (tx *Tx) resolve(k failureKey) error {
	w := tx.w
	if w.stage.head.unresolved == 0 || w.open != nil && !w.open[k] { // the usual case costs nothing
		return nil
	}
	res, err := w.exec(`DELETE FROM failures WHERE actor = ? AND object = ? AND workspace = ?`, k.actor, k.object, k.workspace)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return err
	}
	w.turn(k)
	w.stage.head.unresolved--
	tx.Tally(tallyUnresolved, k.workspace, -1)
	return nil
}

// Acknowledgement is the data of a failure_acknowledged event: which failure.
type Acknowledgement struct {
	Actor     string `json:"actor"`
	Object    string `json:"object_id,omitempty"`
	Workspace string `json:"workspace,omitempty"`
}

// acknowledged reads which failure an acknowledgement means. A name that no
// event used stands for no failure.
func acknowledged(data json.RawMessage, id func(string) (int64, error)) (k failureKey, err error) {
	var a Acknowledgement
	if err := json.Unmarshal(data, &a); err != nil {
		return k, &FieldError{Field: "data", Rule: "an acknowledgement {actor, object_id, workspace}", Got: "something else"}
	}
	for _, f := range [...]struct {
		name string
		id   *int64
	}{{a.Actor, &k.actor}, {a.Object, &k.object}, {a.Workspace, &k.workspace}} {
		if *f.id, err = id(f.name); err != nil {
			return k, err
		}
		if f.name != "" && *f.id == 0 {
			*f.id = -1
		}
	}
	return k, nil
}

// Tally adds delta to a kept counter. Views see it after the commit.
func (tx *Tx) Tally(what string, part, delta int64) {
	if tx.w != nil {
		tx.w.stage.tally = append(tx.w.stage.tally, tallyDelta{tallyKey{what, part}, delta})
	}
}

// MarkSpooled notes that the spooled call in file takes effect in this update.
// It reports false when an earlier update has noted it already.
func (tx *Tx) MarkSpooled(file string) (first bool, err error) {
	res, err := tx.Exec(`INSERT INTO spooled(file, at) VALUES(?,?) ON CONFLICT DO NOTHING`, file, int64(tx.now))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// ForgetSpooled drops the note once the file itself is gone.
func (tx *Tx) ForgetSpooled(file string) error {
	_, err := tx.Exec(`DELETE FROM spooled WHERE file = ?`, file)
	return err
}

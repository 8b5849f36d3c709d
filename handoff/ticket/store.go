package ticket

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"steward/handoff"
	"steward/ledger"
)

// AskResult is the answer to a question's enqueueing.
type AskResult struct {
	Ticket    Ticket
	Created   bool
	Duplicate bool // the asker's key came again with the same question
	Conflict  bool // the asker's key came again with another question; nothing changed
}

// Ask stores a question, or returns the one that already has the asker's
// idempotency key. Errors: *ledger.FieldError; ErrFull.
func Ask(tx *ledger.Tx, q Question, by handoff.By) (AskResult, error) {
	if err := q.Validate(); err != nil {
		return AskResult{}, err
	}
	digest := q.digest()
	if q.Key != "" {
		stored, sum, err := byKey(&tx.View, q.AskedBy, q.Key)
		switch {
		case err != nil:
			return AskResult{}, err
		case stored != nil && sum == digest:
			return AskResult{Ticket: stored.At(tx.Now()), Duplicate: true}, nil
		case stored != nil:
			return AskResult{Ticket: stored.At(tx.Now()), Conflict: true}, nil
		}
	}
	now := tx.Now()
	var pending int
	if err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM tickets INDEXED BY tickets_pending WHERE status = 0 AND expires_at > ? LIMIT ?)`,
		int64(now), MaxPending).Scan(&pending); err != nil {
		return AskResult{}, fmt.Errorf("ticket: count: %w", err)
	}
	if pending >= MaxPending {
		return AskResult{}, fmt.Errorf("%w: at most %d questions wait at once", ErrFull, MaxPending)
	}
	id, err := naming.New(now)
	if err != nil {
		return AskResult{}, err
	}
	c := ask(q, id, now)
	if err := insert(tx, &c.after, q.Key, digest); err != nil {
		return AskResult{}, err
	}
	return AskResult{Ticket: c.after, Created: true}, record(tx, c, by)
}

// AnswerResult says whom an answer has reached.
type AnswerResult struct {
	Ticket   Ticket   // the one that was named
	Answered []Ticket // whom it reached
	Missed   []Ticket // those of the card that were no longer pending
}

// Answer gives the person's answer to the ticket of ref, and to those of ids,
// which are the same card. It reaches those that are pending; if none is, or
// the one of ref alone was asked for and is not, it is a *StateError. Errors
// besides: ErrNotFound, *ledger.FieldError.
func Answer(tx *ledger.Tx, ref, answer string, ids []string, by handoff.By) (out AnswerResult, err error) {
	if err := CheckAnswer(&answer); err != nil {
		return out, err
	}
	all, err := card(&tx.View, ref, ids)
	if err != nil {
		return out, err
	}
	var first error
	for _, t := range all {
		c, err := t.answer(answer, tx.Now())
		if _, ok := errors.AsType[*StateError](err); ok {
			if first == nil {
				first = err
			}
			out.Missed = append(out.Missed, t.At(tx.Now()))
			continue
		}
		if err == nil {
			err = apply(tx, c, by)
		}
		if err != nil {
			return AnswerResult{}, err
		}
		out.Answered = append(out.Answered, c.after)
	}
	if len(out.Answered) == 0 {
		return AnswerResult{}, first
	}
	out.Ticket, err = Get(&tx.View, all[0].ID, tx.Now())
	return out, err
}

// Undo takes the person's answer back from the ticket of ref and those of ids,
// as Answer gave it. Errors as Answer.
func Undo(tx *ledger.Tx, ref string, ids []string, by handoff.By) (undone []Ticket, err error) {
	all, err := card(&tx.View, ref, ids)
	if err != nil {
		return nil, err
	}
	var first error
	for _, t := range all {
		c, err := t.undo(tx.Now())
		if _, ok := errors.AsType[*StateError](err); ok {
			if first == nil {
				first = err
			}
			continue
		}
		if err == nil {
			err = apply(tx, c, by)
		}
		if err != nil {
			return nil, err
		}
		undone = append(undone, c.after)
	}
	if len(undone) == 0 {
		return nil, first
	}
	return undone, nil
}

// Cancel takes a question back for who asked it. On a ticket that is no longer
// pending nothing changes. Errors: ErrNotFound, *StateError of ErrNotAsker.
func Cancel(tx *ledger.Tx, ref, asker string, by handoff.By) (Ticket, bool, error) {
	t, err := read(&tx.View, ref)
	if err != nil {
		return Ticket{}, false, err
	}
	c, err := t.cancel(asker, tx.Now())
	if err != nil || c.event == "" {
		return c.after, false, err
	}
	return c.after, true, apply(tx, c, by)
}

// Deliver notes that asker is being handed what a wait has come to: the answer,
// or that an earlier one was taken back. It returns the ticket as it stands.
func Deliver(tx *ledger.Tx, ref, asker string, by handoff.By) (t Ticket, revoked bool, err error) {
	if t, err = read(&tx.View, ref); err != nil {
		return t, false, err
	}
	if t.Status == Pending && tx.Now() >= t.ExpiresAt { // before the timer: the first change writes the expiry down
		due := t.record(tx.Now())
		if err := apply(tx, due, handoff.By{}); err != nil {
			return t, false, err
		}
		t = due.after
	}
	c, revoked := t.deliver(asker, tx.Now())
	if c.event != "" {
		err = apply(tx, c, by)
	}
	return c.after, revoked, err
}

// Told tells whether the last that happened to a pending ticket is that this very
// request of its asker was told of an answer taken back. A bridge sends a request
// again whose answer was lost with the service; it is to be told again.
func (t Ticket) Told(v *ledger.View, asker string, by handoff.By) (bool, error) {
	if t.Status != Pending || t.AskedBy != asker || by.Session == "" || by.Request == "" {
		return false, nil
	}
	var last sql.NullInt64
	if err := v.QueryRow(`SELECT max(event_id) FROM ticket_events WHERE ticket = ?`, t.seq).Scan(&last); err != nil || !last.Valid {
		return false, err
	}
	e, err := v.Event(last.Int64)
	if err != nil || e.Type != EventRevoked || e.Session != by.Session {
		return false, err
	}
	var m Move
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return false, fmt.Errorf("ticket: event %d: %w", e.ID, err)
	}
	return m.Request == by.Request, nil
}

// expireAtOnce is how many expiries one update writes down.
const expireAtOnce = 200

// RecordExpired writes down the expiries whose time has come, at most 200 of
// them, and says how many.
func RecordExpired(tx *ledger.Tx) (n int, err error) {
	due, err := list(&tx.View, `INDEXED BY tickets_pending WHERE status = 0 AND expires_at <= ? ORDER BY expires_at LIMIT ?`, int64(tx.Now()), expireAtOnce)
	if err != nil {
		return 0, err
	}
	for _, t := range due {
		if err := apply(tx, t.record(tx.Now()), handoff.By{}); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// NextExpiry returns when the next recorded-as-pending ticket expires, 0 for
// never. It may lie in the past: then RecordExpired has work.
func NextExpiry(v *ledger.View) (ledger.Millis, error) {
	var at sql.NullInt64
	err := v.QueryRow(`SELECT min(expires_at) FROM tickets INDEXED BY tickets_pending WHERE status = 0`).Scan(&at)
	return ledger.Millis(at.Int64), err
}

// Get returns the ticket of a full or short id, as it is at that moment.
func Get(v *ledger.View, ref string, now ledger.Millis) (Ticket, error) {
	t, err := read(v, ref)
	return t.At(now), err
}

// Waits tells whether a wait of that asker has come to something.
func (t Ticket) Waits(asker string) bool {
	return t.Status == Pending && !(t.revoked && t.AskedBy == asker)
}

// PendingAt returns the tickets that are pending at that moment, oldest first, and
// how many there are.
func PendingAt(v *ledger.View, now ledger.Millis, limit int) (items []Ticket, total int, err error) {
	all, err := list(v, `INDEXED BY tickets_pending WHERE status = 0 AND expires_at > ? ORDER BY seq LIMIT ?`, int64(now), MaxPending)
	if err != nil {
		return nil, 0, err
	}
	return all[:min(limit, len(all))], len(all), nil
}

// AnsweredSince returns the tickets that the person answered at or after since,
// oldest first.
func AnsweredSince(v *ledger.View, since ledger.Millis, limit int) ([]Ticket, error) {
	return list(v, `INDEXED BY tickets_answered WHERE status = 1 AND answered_at >= ? ORDER BY answered_at LIMIT ?`, int64(since), limit)
}

// Count is how many decisions wait for the person. Tickets of one card are one.
type Count struct {
	Pending  int64 `json:"pending"`
	Blocking int64 `json:"blocking"`
}

// Counts counts the cards that are pending at that moment, and when the first of
// their tickets expires, 0 for never.
func Counts(v *ledger.View, now ledger.Millis) (c Count, next ledger.Millis, err error) {
	var at sql.NullInt64
	err = v.QueryRow(`SELECT count(*), coalesce(sum(urgent), 0), min(next) FROM (SELECT max(urgency) = 2 AS urgent, min(expires_at) AS next
		FROM tickets INDEXED BY tickets_pending WHERE status = 0 AND expires_at > ? GROUP BY card)`, int64(now)).Scan(&c.Pending, &c.Blocking, &at)
	if err != nil {
		return Count{}, 0, fmt.Errorf("ticket: count: %w", err)
	}
	return c, ledger.Millis(at.Int64), nil
}

// card returns the ticket of ref and those of ids, each once, that one first.
func card(v *ledger.View, ref string, ids []string) ([]Ticket, error) {
	first, err := read(v, ref)
	if err != nil {
		return nil, err
	}
	all := []Ticket{first}
	seen := map[string]bool{first.ID: true}
	for _, id := range ids {
		t, err := read(v, id)
		if err != nil {
			return nil, err
		}
		if seen[t.ID] {
			continue
		}
		if t.Card != first.Card {
			return nil, &ledger.FieldError{Field: "ids", Rule: "tickets of the same question as id", Got: t.ID}
		}
		seen[t.ID] = true
		all = append(all, t)
	}
	return all, nil
}

// apply writes a change of a stored ticket, and its event.
func apply(tx *ledger.Tx, c change, by handoff.By) error {
	t := c.after
	if _, err := tx.Exec(`UPDATE tickets SET status=?, expires_at=?, answer=?, answered_by=?, answered_at=?, delivered=?, revoked=? WHERE seq=?`,
		int64(t.Status), int64(t.ExpiresAt), null(t.Answer), null(string(t.AnsweredBy)), nullTime(t.AnsweredAt), t.delivered, t.revoked, t.seq); err != nil {
		return fmt.Errorf("ticket: update: %w", err)
	}
	return record(tx, c, by)
}

// record appends the change's event and links it to the ticket.
func record(tx *ledger.Tx, c change, by handoff.By) error {
	e, err := c.entry(by)
	if err != nil {
		return err
	}
	if e, err = tx.Append(e); err != nil {
		return fmt.Errorf("ticket: %s: %w", c.event, err)
	}
	if _, err := tx.Exec(`INSERT INTO ticket_events(ticket, event_id) VALUES(?,?)`, c.after.seq, e.ID); err != nil {
		return fmt.Errorf("ticket: link %s: %w", c.event, err)
	}
	return nil
}

func insert(tx *ledger.Tx, t *Ticket, key string, digest [32]byte) error {
	var options any
	if len(t.Options) > 0 {
		b, err := json.Marshal(t.Options)
		if err != nil {
			return fmt.Errorf("ticket: options: %w", err)
		}
		options = string(b)
	}
	r, err := tx.Exec(`INSERT INTO tickets(id, status, stream, asked_by, question, options, context, urgency, default_answer, reversible,
		idempotency_key, digest, card, created_at, expires_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		t.ID, int64(t.Status), t.Stream, t.AskedBy, t.Question, options, null(t.Context), int64(t.Urgency), null(t.Default), t.Reversible,
		null(key), digest[:], t.Card, int64(t.CreatedAt), int64(t.ExpiresAt))
	if err != nil {
		return fmt.Errorf("ticket: ask: %w", err)
	}
	t.seq, err = r.LastInsertId()
	return err
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullTime(m ledger.Millis) any {
	if m == 0 {
		return nil
	}
	return int64(m)
}

const columns = `SELECT seq, id, status, stream, asked_by, question, options, context, urgency, default_answer, reversible, card,
	created_at, expires_at, answer, answered_by, answered_at, delivered, revoked FROM tickets `

// read returns the ticket of a full or short id, as it is recorded.
func read(v *ledger.View, ref string) (Ticket, error) {
	id, err := naming.Resolve(v, ref)
	if err != nil {
		return Ticket{}, err
	}
	all, err := list(v, `WHERE id = ?`, id)
	if err != nil {
		return Ticket{}, err
	}
	if len(all) == 0 {
		return Ticket{}, naming.NotFound(ref)
	}
	return all[0], nil
}

// byKey returns the ticket with an asker's idempotency key, nil if there is
// none, and the digest of what was asked.
func byKey(v *ledger.View, asker, key string) (*Ticket, [32]byte, error) {
	var id string
	var sum []byte
	err := v.QueryRow(`SELECT id, digest FROM tickets INDEXED BY tickets_key WHERE asked_by = ? AND idempotency_key = ?`, asker, key).Scan(&id, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, [32]byte{}, nil
	}
	if err != nil {
		return nil, [32]byte{}, fmt.Errorf("ticket: look up a key: %w", err)
	}
	t, err := read(v, id)
	if err != nil {
		return nil, [32]byte{}, err
	}
	return &t, [32]byte(sum), nil
}

// list reads the rows of a query to its end before anything else is asked.
func list(v *ledger.View, where string, args ...any) ([]Ticket, error) {
	rows, err := v.Query(columns+where, args...)
	if err != nil {
		return nil, fmt.Errorf("ticket: list: %w", err)
	}
	defer rows.Close()
	out := []Ticket{}
	for rows.Next() {
		t := Ticket{Options: []string{}}
		var options, context, def, answer, by sql.NullString
		var answered sql.NullInt64
		if err := rows.Scan(&t.seq, &t.ID, &t.Status, &t.Stream, &t.AskedBy, &t.Question, &options, &context, &t.Urgency, &def, &t.Reversible, &t.Card,
			&t.CreatedAt, &t.ExpiresAt, &answer, &by, &answered, &t.delivered, &t.revoked); err != nil {
			return nil, fmt.Errorf("ticket: read: %w", err)
		}
		t.Context, t.Default, t.Answer, t.AnsweredBy, t.AnsweredAt = context.String, def.String, answer.String, By(by.String), ledger.Millis(answered.Int64)
		if options.Valid {
			if err := json.Unmarshal([]byte(options.String), &t.Options); err != nil {
				return nil, fmt.Errorf("%w: options of %s: %w", ledger.ErrCorrupt, t.ID, err)
			}
		}
		out = append(out, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ticket: list: %w", err)
	}
	return out, nil
}

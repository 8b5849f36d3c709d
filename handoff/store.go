package handoff

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"steward/ledger"
)

// tally is the name of the kept counts of handoffs per status.
const tally = "handoffs"

// Create stores a new handoff, or answers with the one that already has its
// idempotency key. The target must be one of targets, but only for what is
// stored now: a repetition of a stored handoff is answered for ever, whatever
// the configured targets are by then. The error is a *ledger.FieldError for
// anything wrong with n.
func Create(tx *ledger.Tx, n NewHandoff, targets []string, by By) (CreateResult, error) {
	if err := n.Validate(); err != nil {
		return CreateResult{}, err
	}
	digest := n.digest()
	stored, same, err := byKey(&tx.View, n.Key, digest)
	switch {
	case err != nil:
		return CreateResult{}, err
	case stored != nil && same:
		return CreateResult{Handoff: *stored, Duplicate: true}, nil
	}
	if err := n.allowed(targets); err != nil {
		return CreateResult{}, err
	}
	if stored != nil {
		return CreateResult{Handoff: *stored, Conflict: true}, nil
	}
	now := tx.Now()
	id, err := newID(now)
	if err != nil {
		return CreateResult{}, err
	}
	c := create(n, id, by, now)
	if err := insert(tx, &c.after, digest); err != nil {
		return CreateResult{}, err
	}
	tx.Tally(tally, int64(Pending), 1)
	if err := record(tx, c, by); err != nil {
		return CreateResult{}, err
	}
	return CreateResult{Handoff: c.after, Created: true}, nil
}

// Claim gives a pending handoff to worker; the owner's next claim marks it as
// running, and any further one changes nothing. That another worker holds it, or
// that it has ended, is an answer with Claimed false. Errors: ErrNotFound,
// *ledger.FieldError.
func Claim(tx *ledger.Tx, ref, worker string, by By) (ClaimResult, error) {
	cmd := claim{Worker: worker}
	c, err := do(tx, ref, &cmd, by)
	if err != nil {
		return ClaimResult{}, err
	}
	h := c.after
	return ClaimResult{
		Claimed: held(h, cmd.Worker), Changed: c.event != "",
		Status: h.Status, Owner: h.Worker, Fence: h.Fence, Handoff: h,
	}, nil
}

// Finish ends a handoff for the worker that holds it. Errors: ErrNotFound,
// *ledger.FieldError, and a *StateError for a handoff that is not the worker's
// to end.
func Finish(tx *ledger.Tx, cmd FinishCommand, by By) (FinishResult, error) {
	c, err := do(tx, cmd.Ref, &cmd, by)
	if err != nil {
		return FinishResult{}, err
	}
	return FinishResult{Handoff: c.after, Changed: c.event != ""}, nil
}

// Release frees a claimed or running handoff for the person, who is the only one
// that may: the caller vouches for it. Errors as Finish.
func Release(tx *ledger.Tx, cmd ReleaseCommand, by By) (Handoff, error) {
	c, err := do(tx, cmd.Ref, &cmd, by)
	return c.after, err
}

// Settle ends a pending, claimed or running handoff for the person, who is the
// only one that may: the caller vouches for it. Errors as Finish.
func Settle(tx *ledger.Tx, cmd SettleCommand, by By) (Handoff, error) {
	c, err := do(tx, cmd.Ref, &cmd, by)
	return c.after, err
}

// do is one decision about a stored handoff: check, read, decide, write the row,
// its event and its counts.
func do(tx *ledger.Tx, ref string, cmd command, by By) (change, error) {
	if err := naming.Check(ref); err != nil {
		return change{}, err
	}
	if err := cmd.Validate(); err != nil {
		return change{}, err
	}
	h, err := Get(&tx.View, ref)
	if err != nil {
		return change{}, err
	}
	c, err := cmd.decide(h, tx.Now())
	if err != nil {
		return change{}, err
	}
	if c.event == "" {
		return c, nil
	}
	if err := update(tx, c.after); err != nil {
		return change{}, err
	}
	if c.from != c.after.Status {
		tx.Tally(tally, int64(c.from), -1)
		tx.Tally(tally, int64(c.after.Status), 1)
	}
	if err := record(tx, c, by); err != nil {
		return change{}, err
	}
	return c, nil
}

// record appends the change's event and links it to the handoff.
func record(tx *ledger.Tx, c change, by By) error {
	e, err := c.entry(by)
	if err != nil {
		return err
	}
	if e, err = tx.Append(e); err != nil {
		return fmt.Errorf("handoff: %s: %w", c.event, err)
	}
	if _, err := tx.Exec(`INSERT INTO handoff_events(handoff, event_id) VALUES(?,?)`, c.after.seq, e.ID); err != nil {
		return fmt.Errorf("handoff: link %s: %w", c.event, err)
	}
	return nil
}

func insert(tx *ledger.Tx, h *Handoff, digest [32]byte) error {
	var attachments any
	if len(h.Attachments) > 0 {
		b, err := marshal(h.Attachments)
		if err != nil {
			return fmt.Errorf("handoff: attachments: %w", err)
		}
		attachments = string(b)
	}
	r, err := tx.Exec(`INSERT INTO handoffs(id, target, status, instruction, attachments, context, idempotency_key, digest,
		source_session_id, caller, fence, created_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)`,
		string(h.ID), h.Target, int64(h.Status), h.Instruction, attachments, null(string(h.Context)), h.Key, digest[:],
		null(h.SourceSession), null(h.Caller), h.Fence, int64(h.CreatedAt))
	if err != nil {
		return fmt.Errorf("handoff: create: %w", err)
	}
	if h.seq, err = r.LastInsertId(); err != nil {
		return fmt.Errorf("handoff: create: %w", err)
	}
	return nil
}

func update(tx *ledger.Tx, h Handoff) error {
	var metrics any
	if h.Metrics != nil {
		b, err := marshal(h.Metrics)
		if err != nil {
			return fmt.Errorf("handoff: metrics: %w", err)
		}
		metrics = string(b)
	}
	_, err := tx.Exec(`UPDATE handoffs SET status=?, worker_session_id=?, fence=?, outcome=?, metrics=?, error=?,
		claimed_at=?, running_at=?, finished_at=? WHERE seq=?`,
		int64(h.Status), null(h.Worker), h.Fence, null(h.Outcome), metrics, null(h.Error),
		nullTime(h.ClaimedAt), nullTime(h.RunningAt), nullTime(h.FinishedAt), h.seq)
	if err != nil {
		return fmt.Errorf("handoff: update: %w", err)
	}
	return nil
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

const columns = `seq, id, target, status, instruction, attachments, context, idempotency_key, source_session_id, caller,
	worker_session_id, fence, outcome, metrics, error, created_at, claimed_at, running_at, finished_at`

const (
	selectID  = `SELECT ` + columns + ` FROM handoffs WHERE id=?`
	selectKey = `SELECT id, digest FROM handoffs WHERE idempotency_key=?`
)

// Get returns the handoff that ref, a full or short id, stands for. Errors as
// Resolve.
func Get(v *ledger.View, ref string) (Handoff, error) {
	id, err := Resolve(v, ref)
	if err != nil {
		return Handoff{}, err
	}
	h, err := scan(v.QueryRow(selectID, string(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return Handoff{}, naming.NotFound(ref)
	}
	return h, err
}

// byKey returns the handoff with an idempotency key, nil if there is none, and
// whether its payload has that digest. Nearly every creation finds none, so the
// row is read only when there is one.
func byKey(v *ledger.View, key string, digest [32]byte) (stored *Handoff, same bool, err error) {
	var id string
	var sum []byte
	err = v.QueryRow(selectKey, key).Scan(&id, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("handoff: look up a key: %w", err)
	}
	h, err := scan(v.QueryRow(selectID, id))
	if err != nil {
		return nil, false, err
	}
	return &h, bytes.Equal(sum, digest[:]), nil
}

func scan(row *sql.Row) (h Handoff, err error) {
	var (
		attachments, context, source, caller, worker, outcome, metrics, failure sql.NullString
		claimed, running, finished                                              sql.NullInt64
	)
	err = row.Scan(&h.seq, &h.ID, &h.Target, &h.Status, &h.Instruction, &attachments, &context, &h.Key, &source, &caller,
		&worker, &h.Fence, &outcome, &metrics, &failure, &h.CreatedAt, &claimed, &running, &finished)
	if err != nil {
		return Handoff{}, fmt.Errorf("handoff: read: %w", err)
	}
	h.SourceSession, h.Caller, h.Worker, h.Outcome, h.Error = source.String, caller.String, worker.String, outcome.String, failure.String
	h.ClaimedAt, h.RunningAt, h.FinishedAt = ledger.Millis(claimed.Int64), ledger.Millis(running.Int64), ledger.Millis(finished.Int64)
	if context.Valid {
		h.Context = json.RawMessage(context.String)
	}
	if attachments.Valid {
		if err := json.Unmarshal([]byte(attachments.String), &h.Attachments); err != nil {
			return Handoff{}, fmt.Errorf("%w: attachments of %s: %w", ledger.ErrCorrupt, h.ID, err)
		}
	}
	if metrics.Valid {
		if err := json.Unmarshal([]byte(metrics.String), &h.Metrics); err != nil {
			return Handoff{}, fmt.Errorf("%w: metrics of %s: %w", ledger.ErrCorrupt, h.ID, err)
		}
	}
	return h, nil
}

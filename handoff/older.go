package handoff

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"steward/ledger"
)

// EventImported tells of a handoff that an older ledger held.
const EventImported = "handoff_imported"

// olderStatuses reads the words that older ledgers used.
var olderStatuses = map[string]Status{
	"pending": Pending, "queued": Pending, "open": Pending, "claimed": Claimed, "running": Running, "in_progress": Running,
	"done": Done, "completed": Done, "finished": Done, "failed": Failed, "error": Failed, "cancelled": Cancelled, "canceled": Cancelled,
}

// imported is the data of an EventImported: where the handoff came from and how
// it stood. Ledgers of schema 1 may hold some with the first two alone.
type imported struct {
	ID     string `json:"imported_id"`
	Status Status `json:"status"`
	Target string `json:"target"`
	Worker string `json:"worker,omitempty"`
	Fence  int64  `json:"fence"`
}

// Older takes over one handoff of an older ledger: a ledger.Follow for its table
// handoffs. It keeps its target, whatever the configured ones are, its
// idempotency key, owner and times, and gets an id of ours; texts over a limit
// are cut. A handoff with neither instruction nor target is left out, as is one
// whose key is taken by a handoff of ours. What was held and not ended comes as
// it was: its worker may still finish it.
func Older(tx *ledger.Tx, r ledger.Row) (eventID int64, err error) {
	text := func(column string, max int) string { s, _ := r.Clean(column, max); return s }
	one := func(column string, max int) string {
		s := text(column, max)
		if err := ledger.Text(column, &s, max, true); err != nil {
			return ""
		}
		return s
	}
	n := NewHandoff{
		Target: one("target", MaxTarget), Instruction: text("instruction", MaxInstruction), Key: one("idempotency_key", MaxKey), SourceSession: one("source_session_id", MaxSession),
	}
	if n.Key == "" {
		n.Key = "imported " + hex.EncodeToString([]byte(text("id", 32)))
	}
	if a := r.Text("attachments"); a != "" && json.Unmarshal([]byte(a), &n.Attachments) != nil {
		n.Attachments = nil // another form; the paths are in the older file
	}
	if len(n.Attachments) > MaxAttachments {
		n.Attachments = n.Attachments[:MaxAttachments]
	}
	if c := r.Text("context"); c != "" {
		n.Context = json.RawMessage(c)
	}
	if n.Validate() != nil {
		n.Context, n.Attachments = nil, nil
		if n.Validate() != nil {
			return 0, nil
		}
	}
	digest := n.digest()
	if stored, _, err := byKey(&tx.View, n.Key, digest); err != nil || stored != nil {
		return 0, err
	}
	now := tx.Now()
	id, err := newID(now)
	if err != nil {
		return 0, err
	}
	h := create(n, id, By{}, now).after
	h.Status = olderStatuses[one("status", MaxTarget)]
	h.Worker, h.Outcome, h.Error = one("worker_session_id", MaxSession), one("outcome", MaxOutcome), text("error", MaxError)
	h.ClaimedAt, h.RunningAt, h.FinishedAt = r.Time("claimed_at"), r.Time("running_at"), r.Time("finished_at")
	if at := r.Time("created_at"); at != 0 {
		h.CreatedAt = at
	}
	switch {
	case h.Status == Pending:
		h.Worker = ""
	case !h.Status.Final() && h.Worker == "":
		h.Status = Pending // nobody could ever finish it
	}
	if h.Worker != "" {
		h.Fence = 1
	}
	if err := insert(tx, &h, digest); err != nil {
		return 0, err
	}
	if err := update(tx, h); err != nil {
		return 0, err
	}
	tx.Tally(tally, int64(h.Status), 1)
	data, err := marshal(imported{ID: text("id", maxRef), Status: h.Status, Target: h.Target, Worker: h.Worker, Fence: h.Fence})
	if err != nil {
		return 0, err
	}
	e, err := tx.Append(ledger.Event{Actor: nobody, Type: EventImported, Object: string(id), ObjectType: ObjectType, Source: ledger.Import, SaidAt: h.CreatedAt, Data: data})
	if err != nil {
		return 0, fmt.Errorf("handoff: import: %w", err)
	}
	if _, err := tx.Exec(`INSERT INTO handoff_events(handoff, event_id) VALUES(?,?)`, h.seq, e.ID); err != nil {
		return 0, fmt.Errorf("handoff: link %s: %w", EventImported, err)
	}
	return e.ID, nil
}

package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// objectHandoff is the object type of the events that tell of handoffs.
const objectHandoff = "handoff"

// handoffStatuses are the names of the numbers in handoffs.status.
var handoffStatuses = [...]string{"pending", "claimed", "running", "done", "failed", "cancelled"}

// told is what a handoff's events say of its row.
type told struct {
	status, target, worker string
	fence                  int64
	created                Millis
	claimed, running       Millis
	finished               Millis
	events                 []int64
	imported               bool // the times are the older ledger's, which no event has
	vague                  bool // an imported one's owner and fence, which early events leave out
}

// move is what the data of a handoff's event may hold.
type move struct {
	To     string `json:"to"`
	Status string `json:"status"` // of an imported one, in place of to
	Target string `json:"target"`
	Worker string `json:"worker"`
	Fence  *int64 `json:"fence"`
}

// handoff folds one event into what is told of its handoff.
func (f *replay) handoff(w *row) {
	typ, id := w.text[fType].s, w.text[fObject].s
	if w.text[fObjectType].s != objectHandoff || !w.text[fData].ok || !strings.HasPrefix(typ, objectHandoff+"_") {
		return
	}
	var m move
	if json.Unmarshal([]byte(w.text[fData].s), &m) != nil {
		return
	}
	t := f.handoffs[id]
	if t == nil {
		t = &told{}
		f.handoffs[id] = t
	}
	at := Millis(w.at)
	switch typ {
	case "handoff_imported":
		m.To, t.imported = m.Status, true
	case "handoff_created":
		t.created = at
	case "handoff_claimed":
		t.claimed = at
	case "handoff_running":
		t.running = at
	case "handoff_released":
		t.claimed, t.running = 0, 0
	case "handoff_finished", "handoff_settled":
		t.finished = at
	}
	t.status, t.worker, t.vague = m.To, m.Worker, m.Fence == nil
	if m.Target != "" {
		t.target = m.Target
	}
	if m.Fence != nil {
		t.fence = *m.Fence
	}
	t.events = append(t.events, w.id)
}

// compareHandoffs returns the first handoff, by its creation, whose row or links
// are not what its events say.
func (k *conn) compareHandoffs(f *replay) (problem string, err error) {
	met := 0
	err = k.each(`SELECT seq, id, target, status, coalesce(worker_session_id, ''), fence, created_at, coalesce(claimed_at, 0), coalesce(running_at, 0), coalesce(finished_at, 0) FROM handoffs ORDER BY seq`,
		func(scan func(...any) error) error {
			if problem != "" {
				return nil
			}
			var seq int64
			var status int
			var id string
			var got told
			if err := scan(&seq, &id, &got.target, &status, &got.worker, &got.fence, &got.created, &got.claimed, &got.running, &got.finished); err != nil {
				return err
			}
			got.status = handoffStatuses[status]
			want := f.handoffs[id]
			if want == nil {
				problem = fmt.Sprintf("no event tells of handoff %s", id)
				return nil
			}
			met++
			links, err := k.ids(`SELECT event_id FROM handoff_events WHERE handoff = ? ORDER BY event_id`, seq)
			if err != nil {
				return err
			}
			if !slices.Equal(links, want.events) {
				problem = fmt.Sprintf("handoff %s is linked to other events than those that tell of it", id)
				return nil
			}
			if what := got.differs(want); what != "" {
				problem = fmt.Sprintf("the %s of handoff %s is not what its events say", what, id)
			}
			return nil
		})
	if err != nil || problem != "" {
		return problem, err
	}
	if met < len(f.handoffs) {
		return k.missingHandoff(f)
	}
	var stray sql.NullInt64
	err = k.queryRow(`SELECT min(event_id) FROM handoff_events WHERE handoff NOT IN (SELECT seq FROM handoffs)`).Scan(&stray)
	if stray.Valid {
		return fmt.Sprintf("event %d is linked to a handoff that is missing", stray.Int64), err
	}
	return "", err
}

// missingHandoff names the handoff of the first event that tells of one that has
// no row.
func (k *conn) missingHandoff(f *replay) (string, error) {
	first, name := int64(0), ""
	for id, t := range f.handoffs {
		var n int
		if err := k.queryRow(`SELECT count(*) FROM handoffs WHERE id = ?`, id).Scan(&n); err != nil {
			return "", err
		}
		if n == 0 && (first == 0 || t.events[0] < first) {
			first, name = t.events[0], id
		}
	}
	return fmt.Sprintf("event %d tells of handoff %s, which is missing", first, name), nil
}

// differs names the first column of a row that is not what was told.
func (got *told) differs(want *told) string {
	switch {
	case got.status != want.status:
		return "status"
	case want.target != "" && got.target != want.target:
		return "target"
	case !want.vague && got.worker != want.worker:
		return "owner"
	case !want.vague && got.fence != want.fence:
		return "fence"
	case want.imported:
		return ""
	case got.created != want.created || got.claimed != want.claimed || got.running != want.running || got.finished != want.finished:
		return "time"
	}
	return ""
}

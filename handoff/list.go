package handoff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"steward/ledger"
)

// Sizes of lists.
const (
	DefaultList    = 10
	MaxList        = 50
	MaxTransitions = 100 // kept in an answer; the newest

	previewLength = 120 // code points of an instruction in a list
	outcomeLength = 160 // of an outcome
)

// Summary is a handoff in a list: one line, no paths, no context.
type Summary struct {
	ID              ID            `json:"id"`
	Target          string        `json:"target"`
	Status          Status        `json:"status"`
	Preview         string        `json:"preview"` // the instruction in one line, cut with … after 120 characters
	AttachmentCount int           `json:"attachment_count"`
	SourceSession   string        `json:"source_session_id,omitempty"`
	Worker          string        `json:"worker_session_id,omitempty"`
	Fence           int64         `json:"fence"`
	Outcome         string        `json:"outcome,omitempty"` // cut with … after 160 characters
	CreatedAt       ledger.Millis `json:"created_at"`
	ClaimedAt       ledger.Millis `json:"claimed_at,omitempty"`
	RunningAt       ledger.Millis `json:"running_at,omitempty"`
	FinishedAt      ledger.Millis `json:"finished_at,omitempty"`
}

// Filter chooses handoffs of a list.
type Filter struct {
	Status *Status // nil: any
	Target string  // "": any; need not be a configured one
	Limit  int     // 1 to 50; 0 means 10
}

// Validate fills in the default and checks the limits.
func (f *Filter) Validate() error {
	if f.Limit == 0 {
		f.Limit = DefaultList
	}
	if f.Limit < 1 || f.Limit > MaxList {
		return &ledger.FieldError{Field: "limit", Rule: fmt.Sprintf("1 to %d", MaxList), Got: strconv.Itoa(f.Limit)}
	}
	if f.Status != nil && *f.Status > Cancelled {
		return &ledger.FieldError{Field: "status", Rule: "one of " + strings.Join(statusNames[:], ", "), Got: f.Status.String()}
	}
	return line("target", &f.Target, MaxTarget, optional)
}

const summaryColumns = `id, target, status, instruction, coalesce(json_array_length(attachments),0), coalesce(source_session_id,''),
	coalesce(worker_session_id,''), fence, coalesce(outcome,''), created_at, coalesce(claimed_at,0), coalesce(running_at,0), coalesce(finished_at,0)`

// Every change of a status moves the row in every index that has the status, so
// there is one of these, on (target, status): each of its runs is in order of
// creation, and a list of several runs is merged here.
const (
	listAll       = `SELECT ` + summaryColumns + ` FROM handoffs ORDER BY seq DESC LIMIT ?`
	listRows      = `SELECT ` + summaryColumns + ` FROM handoffs WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`
	selectRun     = `SELECT seq FROM handoffs WHERE target=? AND status=? ORDER BY seq DESC LIMIT ?`
	selectTargets = `WITH RECURSIVE t(name) AS (SELECT min(target) FROM handoffs
		UNION ALL SELECT (SELECT min(target) FROM handoffs WHERE target > t.name) FROM t WHERE t.name IS NOT NULL)
		SELECT name FROM t WHERE name IS NOT NULL`
)

var (
	openStatuses = []Status{Pending, Claimed, Running}
	allStatuses  = []Status{Pending, Claimed, Running, Done, Failed, Cancelled}
)

// List returns summaries, newest first, and whether there are older ones.
func List(v *ledger.View, f Filter) (items []Summary, more bool, err error) {
	if err := f.Validate(); err != nil {
		return nil, false, err
	}
	if f.Status == nil && f.Target == "" {
		items, err = summaries(v, listAll, f.Limit+1)
	} else {
		statuses := allStatuses
		if f.Status != nil {
			statuses = []Status{*f.Status}
		}
		items, err = merged(v, f.Target, statuses, f.Limit+1)
	}
	if err != nil {
		return nil, false, err
	}
	if len(items) > f.Limit {
		return items[:f.Limit], true, nil
	}
	return items, false, nil
}

// Open returns the newest handoffs that have not ended, at most limit (1 to 50;
// 0 means 10). Its cost grows with the number of targets there have been, not
// with the handoffs.
func Open(v *ledger.View, limit int) ([]Summary, error) {
	f := Filter{Limit: limit}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return merged(v, "", openStatuses, f.Limit)
}

// merged returns the newest handoffs of a target, or of any if it is "", in any
// of the statuses.
func merged(v *ledger.View, target string, statuses []Status, limit int) ([]Summary, error) {
	targets := []string{target}
	if target == "" {
		var err error
		if targets, err = column[string](v, selectTargets); err != nil {
			return nil, err
		}
	}
	var all []int64
	for _, t := range targets {
		for _, s := range statuses {
			run, err := column[int64](v, selectRun, t, int64(s), limit)
			if err != nil {
				return nil, err
			}
			all = append(all, run...)
		}
	}
	if len(all) == 0 {
		return []Summary{}, nil
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	list, err := json.Marshal(all[:min(limit, len(all))])
	if err != nil {
		return nil, fmt.Errorf("handoff: list: %w", err)
	}
	return summaries(v, listRows, string(list))
}

func summaries(v *ledger.View, query string, args ...any) ([]Summary, error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("handoff: list: %w", err)
	}
	defer rows.Close()
	items := []Summary{}
	for rows.Next() {
		var s Summary
		var instruction string
		err := rows.Scan(&s.ID, &s.Target, &s.Status, &instruction, &s.AttachmentCount, &s.SourceSession,
			&s.Worker, &s.Fence, &s.Outcome, &s.CreatedAt, &s.ClaimedAt, &s.RunningAt, &s.FinishedAt)
		if err != nil {
			return nil, fmt.Errorf("handoff: list: %w", err)
		}
		s.Preview, s.Outcome = preview(instruction), ledger.Clip(s.Outcome, outcomeLength)
		items = append(items, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("handoff: list: %w", err)
	}
	return items, nil
}

// preview puts a text on one line, every run of white space as one space, and
// cuts it.
func preview(s string) string {
	return ledger.Clip(strings.Join(strings.Fields(s), " "), previewLength)
}

// Count is how many handoffs have each status.
type Count struct {
	Pending   int64 `json:"pending"`
	Claimed   int64 `json:"claimed"`
	Running   int64 `json:"running"`
	Done      int64 `json:"done"`
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"`
}

// Counts returns the kept counts; nothing is counted for it.
func Counts(v *ledger.View) (Count, error) {
	t, err := v.Tallies(tally)
	if err != nil {
		return Count{}, fmt.Errorf("handoff: counts: %w", err)
	}
	of := func(s Status) int64 { return t[int64(s)] }
	return Count{of(Pending), of(Claimed), of(Running), of(Done), of(Failed), of(Cancelled)}, nil
}

// Transition is one change of a handoff, as its event tells it.
type Transition struct {
	EventID int64         `json:"event_id"`
	At      ledger.Millis `json:"at"`
	Type    string        `json:"type"`
	Actor   string        `json:"actor"`
	Source  ledger.Source `json:"source"`
	Move
}

// Transitions returns the changes of a handoff in their order, the newest 100 of
// them, and whether there were earlier ones. An unknown id is ErrNotFound.
func Transitions(v *ledger.View, ref string) (items []Transition, more bool, err error) {
	h, err := Get(v, ref)
	if err != nil {
		return nil, false, err
	}
	ids, err := column[int64](v, selectEvents, h.seq, MaxTransitions+1)
	if err != nil {
		return nil, false, err
	}
	if len(ids) > MaxTransitions {
		ids, more = ids[:MaxTransitions], true
	}
	items = make([]Transition, len(ids))
	for i, id := range ids {
		e, err := v.Event(id)
		if err != nil {
			return nil, false, fmt.Errorf("handoff: event %d of %s: %w", id, h.ID, err)
		}
		t := Transition{EventID: e.ID, At: e.At, Type: e.Type, Actor: e.Actor, Source: e.Source}
		if err := json.Unmarshal(e.Data, &t.Move); err != nil {
			return nil, false, fmt.Errorf("%w: data of event %d of %s: %w", ledger.ErrCorrupt, id, h.ID, err)
		}
		items[len(ids)-1-i] = t
	}
	return items, more, nil
}

const selectEvents = `SELECT event_id FROM handoff_events WHERE handoff=? ORDER BY event_id DESC LIMIT ?`

// column returns the only column of a query's rows. They are read to the end
// before anything else is asked, because a connection serves one open query at a
// time.
func column[T any](v *ledger.View, query string, args ...any) (out []T, err error) {
	rows, err := v.Query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("handoff: list: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var x T
		if err := rows.Scan(&x); err != nil {
			return nil, fmt.Errorf("handoff: list: %w", err)
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("handoff: list: %w", err)
	}
	return out, nil
}

package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"steward/ledger"
)

// The handoff sentinels. Compare with errors.Is, never by text. The finer ones
// are also their sort: errors.Is(ErrFinal, ErrClosed) holds.
var (
	ErrNotFound = fmt.Errorf("handoff %w", ledger.ErrNotFound)

	ErrConflict  = errors.New("the handoff is in another state")
	ErrUnclaimed = fmt.Errorf("%w: nobody holds it", ErrConflict)
	ErrNotOwner  = fmt.Errorf("%w: another worker holds it", ErrConflict)
	ErrFence     = fmt.Errorf("%w: this fence was never given", ErrConflict)

	ErrClosed    = errors.New("too late")
	ErrFinal     = fmt.Errorf("%w: it has ended", ErrClosed)
	ErrClaimLost = fmt.Errorf("%w: this claim is over", ErrClosed)
)

// StateError is a refusal that depends on the handoff's state, which it carries.
// Err is one of the sentinels; Hint says what to do next.
type StateError struct {
	Err   error
	State Handoff
	Hint  string
}

// Error names the handoff, its status and owner, and the reason; never the
// instruction.
func (e *StateError) Error() string {
	s := string(e.State.ID) + " is " + e.State.Status.String()
	if e.State.Worker != "" {
		s += " by " + strconv.Quote(e.State.Worker)
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the sentinel.
func (e *StateError) Unwrap() error { return e.Err }

// Status is where a handoff stands. The numbers are the ledger file's.
type Status uint8

// The statuses. Done, Failed and Cancelled are final.
const (
	Pending Status = iota
	Claimed
	Running
	Done
	Failed
	Cancelled
)

var statusNames = [...]string{"pending", "claimed", "running", "done", "failed", "cancelled"}

// Statuses returns the names of all statuses, in the order of the states.
func Statuses() []string { return append([]string(nil), statusNames[:]...) }

// Final tells whether nothing can change a handoff of this status any more.
func (s Status) Final() bool { return s >= Done && s <= Cancelled }

// String returns the status's JSON form.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the status's name.
func (s Status) MarshalText() ([]byte, error) {
	if int(s) >= len(statusNames) {
		return nil, fmt.Errorf("handoff status %d: unknown", s)
	}
	return []byte(statusNames[s]), nil
}

// UnmarshalText accepts the six names.
func (s *Status) UnmarshalText(b []byte) error {
	got, err := ParseStatus(string(b))
	if err == nil {
		*s = got
	}
	return err
}

// ParseStatus reads a status's name. The error is a *ledger.FieldError of the
// field `status`.
func ParseStatus(name string) (Status, error) {
	for i, n := range statusNames {
		if n == name {
			return Status(i), nil
		}
	}
	return 0, &ledger.FieldError{Field: "status", Rule: "one of " + strings.Join(statusNames[:], ", "), Got: ledger.Clip(strconv.Quote(name), 80)}
}

// Attachment points at a file that belongs to a handoff. Steward never reads it.
type Attachment struct {
	Path string `json:"path"`
	Name string `json:"name,omitempty"` // what people see; absent, the path is shown
}

// Handoff is one piece of work left for another session.
type Handoff struct {
	ID            ID              `json:"id"`
	Target        string          `json:"target"` // who it is for; stays when the configured targets change
	Status        Status          `json:"status"`
	Instruction   string          `json:"instruction"`
	Attachments   []Attachment    `json:"attachments"`
	Context       json.RawMessage `json:"context"` // compact JSON object; nil = none
	Key           string          `json:"idempotency_key"`
	SourceSession string          `json:"source_session_id"` // a claim of the creator, "" = none
	Worker        string          `json:"worker_session_id"` // the owner; "" while pending and after a settlement
	Fence         int64           `json:"fence"`
	Outcome       string          `json:"outcome"` // in the words of who ended it
	Metrics       ledger.Metrics  `json:"metrics"`
	Error         string          `json:"error"`
	CreatedAt     ledger.Millis   `json:"created_at"`
	ClaimedAt     ledger.Millis   `json:"claimed_at"` // of the present claim, or of the last one before the end
	RunningAt     ledger.Millis   `json:"running_at"`
	FinishedAt    ledger.Millis   `json:"finished_at"`
	Caller        string          `json:"-"` // the workspace of the connection that created it

	seq int64 // the row, in order of creation
}

// wire is Handoff's JSON form: every field is there always, and null means
// absent.
type wire struct {
	ID            ID              `json:"id"`
	Target        string          `json:"target"`
	Status        Status          `json:"status"`
	Instruction   string          `json:"instruction"`
	Attachments   []Attachment    `json:"attachments"`
	Context       json.RawMessage `json:"context"`
	Key           string          `json:"idempotency_key"`
	SourceSession *string         `json:"source_session_id"`
	Worker        *string         `json:"worker_session_id"`
	Fence         int64           `json:"fence"`
	Outcome       *string         `json:"outcome"`
	Metrics       ledger.Metrics  `json:"metrics"`
	Error         *string         `json:"error"`
	CreatedAt     ledger.Millis   `json:"created_at"`
	ClaimedAt     *ledger.Millis  `json:"claimed_at"`
	RunningAt     *ledger.Millis  `json:"running_at"`
	FinishedAt    *ledger.Millis  `json:"finished_at"`
}

// MarshalJSON writes every field; an absent text, time, context or metrics is
// null, no attachments are an empty array.
func (h Handoff) MarshalJSON() ([]byte, error) {
	w := wire{
		ID: h.ID, Target: h.Target, Status: h.Status, Instruction: h.Instruction, Attachments: h.Attachments, Context: h.Context, Key: h.Key,
		SourceSession: some(h.SourceSession), Worker: some(h.Worker), Fence: h.Fence, Outcome: some(h.Outcome), Metrics: h.Metrics, Error: some(h.Error),
		CreatedAt: h.CreatedAt, ClaimedAt: some(h.ClaimedAt), RunningAt: some(h.RunningAt), FinishedAt: some(h.FinishedAt),
	}
	if w.Attachments == nil {
		w.Attachments = []Attachment{}
	}
	return marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Handoff) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*h = Handoff{
		ID: w.ID, Target: w.Target, Status: w.Status, Instruction: w.Instruction, Key: w.Key,
		SourceSession: value(w.SourceSession), Worker: value(w.Worker), Fence: w.Fence, Outcome: value(w.Outcome), Metrics: w.Metrics, Error: value(w.Error),
		CreatedAt: w.CreatedAt, ClaimedAt: value(w.ClaimedAt), RunningAt: value(w.RunningAt), FinishedAt: value(w.FinishedAt),
	}
	if len(w.Attachments) > 0 {
		h.Attachments = w.Attachments
	}
	if string(w.Context) != "null" {
		h.Context = w.Context
	}
	return nil
}

// some returns nil for the zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// marshal leaves <, > and & as they are: people and models read this.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// By says who asks, as the surface knows it from the connection; nothing of it
// comes from arguments.
type By struct {
	Workspace string // the connection's workspace, "" if it has none
	Session   string // the connection's session, "" if it has none
	Request   string // the request's name within the session, "" if that is no proof of a repetition
	Person    bool   // the window, or the web with the owner token
}

// User is the actor of what the person did.
const User = "user"

// nobody is the actor of a creation by a connection that has neither a session
// id nor a workspace.
const nobody = "unknown"

// CreateResult is the answer to a creation. Exactly one of Created, Duplicate
// and Conflict is true; Handoff is the stored one in every case.
type CreateResult struct {
	Handoff   Handoff `json:"handoff"`
	Created   bool    `json:"created"`
	Duplicate bool    `json:"duplicate"` // same key, same payload: nothing changed
	Conflict  bool    `json:"conflict"`  // same key, another payload: nothing changed
}

// ClaimResult is the answer to a claim. Claimed tells whether the worker holds
// the handoff now; if not, Status and Owner say why.
type ClaimResult struct {
	Claimed bool    `json:"claimed"`
	Changed bool    `json:"changed"`
	Status  Status  `json:"status"`
	Owner   string  `json:"owner,omitempty"`
	Fence   int64   `json:"fence"` // to be passed to handoff_finish
	Handoff Handoff `json:"handoff"`
}

// FinishResult is the answer to a finish. Changed is false when the same worker
// had already ended it with the same status; what it said then stays.
type FinishResult struct {
	Handoff Handoff `json:"handoff"`
	Changed bool    `json:"changed"`
}

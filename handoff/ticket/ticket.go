package ticket

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"steward/handoff"
	"steward/ledger"
)

// The ticket sentinels. Compare with errors.Is, never by text.
var (
	ErrNotFound = fmt.Errorf("ticket %w", ledger.ErrNotFound)

	ErrClosed    = errors.New("too late")                                   // it is no longer pending
	ErrAnswered  = fmt.Errorf("%w: it has been answered", ErrClosed)        //
	ErrExpired   = fmt.Errorf("%w: it has expired", ErrClosed)              //
	ErrCancelled = fmt.Errorf("%w: who asked has taken it back", ErrClosed) //
	ErrNoUndo    = fmt.Errorf("%w: it cannot be undone", ErrClosed)         // not answered, or too long ago

	ErrNotAsker = errors.New("only who asked may cancel it")
	ErrFull     = errors.New("too many questions are waiting")
)

// StateError is a refusal that depends on the ticket's state, which it carries.
type StateError struct {
	Err   error
	State Ticket
	Hint  string
}

// Error names the ticket, its status and the reason; never the question.
func (e *StateError) Error() string {
	return e.State.ID + " is " + e.State.Status.String() + ": " + e.Err.Error()
}

// Unwrap returns the sentinel.
func (e *StateError) Unwrap() error { return e.Err }

// Status is where a ticket stands. The numbers are the ledger file's.
type Status uint8

// The statuses.
const (
	Pending Status = iota
	Answered
	Expired
	Cancelled
)

var statusNames = [...]string{"pending", "answered", "expired", "cancelled"}

// Statuses returns the names of all statuses.
func Statuses() []string { return append([]string(nil), statusNames[:]...) }

// String returns the status's JSON form.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the status's name.
func (s Status) MarshalText() ([]byte, error) { return text("ticket status", int(s), statusNames[:]) }

// UnmarshalText accepts the four names.
func (s *Status) UnmarshalText(b []byte) error {
	i, err := word("status", string(b), statusNames[:])
	*s = Status(i)
	return err
}

// Urgency is how much a ticket matters to who asked. The numbers are the ledger
// file's, and their order that of the need.
type Urgency uint8

// The urgencies. Blocking: the asker can do nothing else.
const (
	Low Urgency = iota
	Normal
	Blocking
)

var urgencyNames = [...]string{"low", "normal", "blocking"}

// Urgencies returns the names of all urgencies.
func Urgencies() []string { return append([]string(nil), urgencyNames[:]...) }

// String returns the urgency's JSON form.
func (u Urgency) String() string {
	if int(u) < len(urgencyNames) {
		return urgencyNames[u]
	}
	return "urgency(" + strconv.Itoa(int(u)) + ")"
}

// MarshalText returns the urgency's name.
func (u Urgency) MarshalText() ([]byte, error) {
	return text("ticket urgency", int(u), urgencyNames[:])
}

// UnmarshalText accepts the three names.
func (u *Urgency) UnmarshalText(b []byte) error {
	i, err := word("urgency", string(b), urgencyNames[:])
	*u = Urgency(i)
	return err
}

func text(what string, i int, names []string) ([]byte, error) {
	if i >= len(names) {
		return nil, fmt.Errorf("%s %d: unknown", what, i)
	}
	return []byte(names[i]), nil
}

func word(field, s string, names []string) (int, error) {
	for i, n := range names {
		if n == s {
			return i, nil
		}
	}
	return 0, &ledger.FieldError{Field: field, Rule: "one of " + strings.Join(names, ", "), Got: ledger.Clip(strconv.Quote(s), 80)}
}

// By says whose answer it is.
type By string

// The two that can answer. A ticket without an answer has none.
const (
	Human   By = "human"
	Default By = "default" // applied on expiry; nobody answered
)

// Ticket is one question to a person.
type Ticket struct {
	ID         string        `json:"id"`
	Stream     string        `json:"stream"`   // what the question is about: the work of one agent
	AskedBy    string        `json:"asked_by"` // the connection's workspace: who may cancel it
	Question   string        `json:"question"`
	Options    []string      `json:"options"` // none, or 2 to 5 to choose from; another answer may be written
	Context    string        `json:"context,omitempty"`
	Urgency    Urgency       `json:"urgency"`
	Default    string        `json:"default_answer,omitempty"` // applied on expiry
	Reversible bool          `json:"reversible"`
	Status     Status        `json:"status"`
	CreatedAt  ledger.Millis `json:"created_at"`
	ExpiresAt  ledger.Millis `json:"expires_at"`
	Answer     string        `json:"answer,omitempty"`
	AnsweredBy By            `json:"answered_by,omitempty"`
	AnsweredAt ledger.Millis `json:"answered_at,omitzero"`
	Card       string        `json:"card"` // equal for tickets that may be answered as one

	seq       int64
	delivered bool // the asker has been handed the present answer
	revoked   bool // the asker has been handed an answer that was taken back, and not been told
}

// Limits.
const (
	MaxQuestion = 500 // characters, as all of these
	MinOptions  = 2
	MaxOptions  = 5
	MaxOption   = 120
	MaxContext  = 4000
	MaxAnswer   = 2000
	MaxStream   = 128
	MaxKey      = 128
	MaxPending  = 1000 // tickets of all askers at once

	MinTimeout     = time.Second
	MaxTimeout     = 24 * time.Hour
	DefaultTimeout = 30 * time.Minute

	UndoWithin = 5 * time.Minute // after the answer
	UndoLeaves = 5 * time.Minute // at least, until the expiry of what is pending again
)

// At returns the ticket as everybody sees it at that moment: a pending one whose
// time has come is expired, recorded or not.
func (t Ticket) At(now ledger.Millis) Ticket {
	if t.Status == Pending && now >= t.ExpiresAt {
		t = t.expire()
	}
	return t
}

// expire ends a pending ticket at its expires_at.
func (t Ticket) expire() Ticket {
	t.Status = Expired
	if t.Default != "" {
		t.Answer, t.AnsweredBy, t.AnsweredAt = t.Default, Default, t.ExpiresAt
	}
	return t
}

var naming = handoff.Naming{Prefix: "tkt_", Short: "T-", Field: "id", Table: "tickets", Missing: ErrNotFound}

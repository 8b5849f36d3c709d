package ops

import (
	"strings"
	"time"

	"steward/handoff/ticket"
	"steward/ledger"
)

type askHumanArgs struct {
	Question   string   `json:"question" arg:"required,line,max=500"`
	Options    []string `json:"options" arg:"max=5,each=120" doc:"None or 2 to 5, distinct"`
	Context    string   `json:"context" arg:"max=4000"`
	Default    string   `json:"default_answer" arg:"max=2000" doc:"Applied on expiry; one of options if any"`
	Timeout    int64    `json:"timeout_seconds" arg:"min=1,max=86400,default=1800"`
	Urgency    string   `json:"urgency" arg:"enum=low|normal|blocking,default=normal"`
	Stream     string   `json:"stream" arg:"line,max=128" doc:"Absent: your workspace"`
	Reversible *bool    `json:"reversible" doc:"Absent: true; false allows no default"`
	Key        string   `json:"idempotency_key" arg:"line,max=128"`
}

// Asked is the answer to a question's enqueueing.
type Asked struct {
	ID        string        `json:"id"`
	Status    ticket.Status `json:"status"`
	ExpiresAt ledger.Millis `json:"expires_at"`
	Duplicate bool          `json:"duplicate,omitempty" doc:"the same question was asked with this key before; this is that ticket"`
	Conflict  bool          `json:"conflict,omitempty" doc:"another question was asked with this key before; nothing changed"`
}

func askHuman() Op {
	return Append(Spec{
		Name:  "ask_human",
		Title: "Ask a person",
		Text: "Ask the person to decide. Returns at once with an id and never waits: go on with independent work, then call wait_for_answer. " +
			"Silence is no answer: without default_answer it expires. Put all a decision needs into question and context.",
		Surfaces:   Agent | Shell,
		Idempotent: false,
	}, func(tx *ledger.Tx, c Caller, in askHumanArgs) (Asked, error) {
		q := ticket.Question{
			Stream: in.Stream, AskedBy: c.asker(), Question: in.Question, Options: in.Options, Context: in.Context, Default: in.Default,
			Timeout: time.Duration(in.Timeout) * time.Second, Reversible: in.Reversible == nil || *in.Reversible, Key: in.Key,
		}
		if q.Stream == "" {
			q.Stream = c.Stream
		}
		if q.Stream == "" && c.Workspace != "" {
			q.Stream = c.Workspace
		}
		if q.Stream == "" {
			return Asked{}, &Error{Code: Invalid, Field: "stream", Message: "stream: this connection has no name to take for it",
				Hint: "pass stream, or connect to /mcp/NAME with NAME being what you work on"}
		}
		if err := q.Urgency.UnmarshalText([]byte(in.Urgency)); err != nil {
			return Asked{}, err
		}
		r, err := ticket.Ask(tx, q, c.by())
		if err != nil {
			return Asked{}, err
		}
		return Asked{ID: r.Ticket.ID, Status: r.Ticket.Status, ExpiresAt: r.Ticket.ExpiresAt, Duplicate: r.Duplicate, Conflict: r.Conflict}, nil
	})
}

// asker is whose questions are whose: the connection's workspace, else the
// client's name.
func (c Caller) asker() string {
	switch {
	case c.Workspace != "":
		return c.Workspace
	case c.Client != "":
		name := c.Client
		if i := strings.LastIndexByte(name, ' '); i > 0 && strings.ContainsAny(name[i:], "0123456789") {
			name = name[:i]
		}
		return claim(name, ledger.MaxWorkspace)
	}
	return "unnamed"
}

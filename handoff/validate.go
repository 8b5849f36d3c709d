package handoff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"steward/ledger"
)

// Limits of a handoff's fields, in Unicode code points unless bytes are named.
const (
	MaxTarget         = 64
	MaxInstruction    = 4000
	MaxKey            = 128
	MaxAttachments    = 20
	MaxAttachmentPath = 4096
	MaxAttachmentName = 255
	MaxSession        = 128
	MaxContext        = 8192 // bytes as compact JSON
	MaxContextLevels  = 16   // objects and arrays inside each other, the context itself included
	MaxOutcome        = 512
	MaxMetrics        = 8 // keys
	MaxError          = 2000
	MaxReason         = 512
)

// NewHandoff is what its creator says of a handoff.
type NewHandoff struct {
	Target        string
	Instruction   string // keeps its line breaks
	Key           string // the idempotency key, global and for ever
	Attachments   []Attachment
	Context       json.RawMessage // a JSON object; nil = none
	SourceSession string

	canonical []byte // the context's canonical form, made by Validate
}

// Validate checks every field against its limit, folds line breaks and tabs of
// one-line fields into one space, makes the context compact, and returns a
// *ledger.FieldError that names the field, the limit and what came. Whether the
// target is a configured one is for Create to say.
func (n *NewHandoff) Validate() error {
	if err := line("target", &n.Target, MaxTarget, required); err != nil {
		return err
	}
	if err := ledger.Text("instruction", &n.Instruction, MaxInstruction, false); err != nil {
		return err
	}
	if strings.TrimSpace(n.Instruction) == "" {
		return blank("instruction", n.Instruction, MaxInstruction)
	}
	if err := line("idempotency_key", &n.Key, MaxKey, required); err != nil {
		return err
	}
	if len(n.Attachments) > MaxAttachments {
		return &ledger.FieldError{Field: "attachments", Rule: fmt.Sprintf("at most %d", MaxAttachments), Got: strconv.Itoa(len(n.Attachments))}
	}
	n.Attachments = slices.Clone(n.Attachments) // folding must not reach the caller's own
	for i := range n.Attachments {
		field := "attachments[" + strconv.Itoa(i) + "]"
		if err := line(field+".path", &n.Attachments[i].Path, MaxAttachmentPath, required); err != nil {
			return err
		}
		if err := line(field+".name", &n.Attachments[i].Name, MaxAttachmentName, optional); err != nil {
			return err
		}
	}
	if err := line("source_session_id", &n.SourceSession, MaxSession, optional); err != nil {
		return err
	}
	n.canonical = nil
	if len(n.Context) == 0 {
		n.Context = nil
		return nil
	}
	compact, canonical, err := readContext(n.Context)
	if err != nil {
		return err
	}
	n.Context, n.canonical = compact, canonical
	return nil
}

// allowed refuses a target that is not one of the configured.
func (n *NewHandoff) allowed(targets []string) error {
	if slices.Contains(targets, n.Target) {
		return nil
	}
	rule := "one of " + strings.Join(targets, ", ")
	if len(targets) == 0 {
		rule = "a configured target, and none is"
	}
	return &ledger.FieldError{Field: "target", Rule: rule, Got: strconv.Quote(n.Target)}
}

// FinishCommand is a worker's word that it has ended a handoff.
type FinishCommand struct {
	Ref     string // the id, full or short
	Worker  string
	Status  Status // Done, Failed or Cancelled
	Outcome string
	Metrics ledger.Metrics
	Error   string // keeps its line breaks
	Fence   *int64 // the fence of the claim that the worker speaks for; nil: its present one
}

// Validate checks every field as NewHandoff.Validate does.
func (c *FinishCommand) Validate() error {
	if err := line("worker_session_id", &c.Worker, MaxSession, required); err != nil {
		return err
	}
	if err := ending(c.Status); err != nil {
		return err
	}
	if err := line("outcome", &c.Outcome, MaxOutcome, optional); err != nil {
		return err
	}
	c.Metrics = slices.Clone(c.Metrics)
	if err := c.Metrics.Check("metrics", MaxMetrics); err != nil {
		return err
	}
	for i, m := range c.Metrics {
		if slices.ContainsFunc(c.Metrics[:i], func(o ledger.Metric) bool { return o.Key == m.Key }) {
			return &ledger.FieldError{Field: "metrics", Rule: "each key once", Got: strconv.Quote(m.Key) + " again"}
		}
	}
	if err := ledger.Text("error", &c.Error, MaxError, false); err != nil {
		return err
	}
	return checkFence(c.Fence)
}

// ReleaseCommand is the person's word that a held handoff is free again.
type ReleaseCommand struct {
	Ref    string // the id, full or short
	Reason string
	Fence  *int64 // of the handoff as the person saw it; nil: whatever it is now
}

// Validate checks every field as NewHandoff.Validate does.
func (c *ReleaseCommand) Validate() error {
	if err := line("reason", &c.Reason, MaxReason, optional); err != nil {
		return err
	}
	return checkFence(c.Fence)
}

// SettleCommand is the person's word that a handoff has ended.
type SettleCommand struct {
	Ref     string // the id, full or short
	Status  Status // Done, Failed or Cancelled
	Outcome string
	Reason  string // goes into the event, not into the handoff
	Fence   *int64 // of the handoff as the person saw it; nil: whatever it is now
}

// Validate checks every field as NewHandoff.Validate does.
func (c *SettleCommand) Validate() error {
	if err := ending(c.Status); err != nil {
		return err
	}
	if err := line("outcome", &c.Outcome, MaxOutcome, optional); err != nil {
		return err
	}
	if err := line("reason", &c.Reason, MaxReason, optional); err != nil {
		return err
	}
	return checkFence(c.Fence)
}

// claim is a worker's wish to hold a handoff, or its word that it has started.
type claim struct{ Worker string }

func (c *claim) Validate() error { return line("worker_session_id", &c.Worker, MaxSession, required) }

const (
	required = true
	optional = false
)

// line checks a one-line text in place. A required one has something to see in
// it; so has an optional one that came at all.
func line(field string, s *string, max int, must bool) error {
	if *s == "" && !must {
		return nil
	}
	if err := ledger.Text(field, s, max, true); err != nil {
		return err
	}
	if strings.TrimSpace(*s) == "" {
		return blank(field, *s, max)
	}
	return nil
}

func blank(field, s string, max int) error {
	got := "nothing"
	if s != "" {
		got = "only space"
	}
	return &ledger.FieldError{Field: field, Rule: fmt.Sprintf("1 to %d characters, not all of them space", max), Got: got}
}

func ending(s Status) error {
	if s.Final() {
		return nil
	}
	return &ledger.FieldError{Field: "status", Rule: "one of " + strings.Join(statusNames[Done:], ", "), Got: s.String()}
}

func checkFence(f *int64) error {
	if f == nil || *f >= 0 {
		return nil
	}
	return &ledger.FieldError{Field: "fence", Rule: "0 or more", Got: strconv.FormatInt(*f, 10)}
}

package ticket

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
)

// Question is what an agent asks.
type Question struct {
	Stream     string
	AskedBy    string
	Question   string
	Options    []string
	Context    string // keeps its line breaks
	Urgency    Urgency
	Default    string
	Timeout    time.Duration // 0: DefaultTimeout
	Reversible bool
	Key        string // the asker's own, for ever; "": none
}

// Validate checks every field against its limit, folds line breaks and tabs of
// one-line fields into one space, and returns a *ledger.FieldError that names the
// field, the limit and what came.
func (q *Question) Validate() error {
	if q.Timeout == 0 {
		q.Timeout = DefaultTimeout
	}
	if err := line("stream", &q.Stream, MaxStream, true); err != nil {
		return err
	}
	if err := line("asked_by", &q.AskedBy, MaxStream, true); err != nil {
		return err
	}
	if err := line("question", &q.Question, MaxQuestion, true); err != nil {
		return err
	}
	if n := len(q.Options); n != 0 && (n < MinOptions || n > MaxOptions) {
		return &ledger.FieldError{Field: "options", Rule: fmt.Sprintf("none, or %d to %d", MinOptions, MaxOptions), Got: strconv.Itoa(n)}
	}
	q.Options = slices.Clone(q.Options) // folding must not reach the caller's own
	for i := range q.Options {
		field := "options[" + strconv.Itoa(i) + "]"
		if err := line(field, &q.Options[i], MaxOption, true); err != nil {
			return err
		}
		q.Options[i] = strings.TrimSpace(q.Options[i])
		if j := slices.Index(q.Options[:i], q.Options[i]); j >= 0 {
			return &ledger.FieldError{Field: field, Rule: "different from the others", Got: "the same as options[" + strconv.Itoa(j) + "]"}
		}
	}
	if err := ledger.Text("context", &q.Context, MaxContext, false); err != nil {
		return err
	}
	if err := q.checkDefault(); err != nil {
		return err
	}
	if q.Timeout < MinTimeout || q.Timeout > MaxTimeout {
		return &ledger.FieldError{Field: "timeout_seconds", Rule: fmt.Sprintf("%d to %d", int(MinTimeout.Seconds()), int(MaxTimeout.Seconds())), Got: strconv.Itoa(int(q.Timeout.Seconds()))}
	}
	return line("idempotency_key", &q.Key, MaxKey, false)
}

// checkDefault refuses a default that could do harm: nobody answers for it.
func (q *Question) checkDefault() error {
	most := MaxAnswer
	if err := ledger.Text("default_answer", &q.Default, most, false); err != nil {
		return err
	}
	if q.Default == "" {
		return nil
	}
	if strings.TrimSpace(q.Default) == "" {
		return &ledger.FieldError{Field: "default_answer", Rule: "absent, or not all of it space", Got: "only space"}
	}
	if !q.Reversible {
		return &ledger.FieldError{Field: "default_answer", Rule: "absent where reversible is false: silence must not let something happen that cannot be undone", Got: "one"}
	}
	if len(q.Options) == 0 {
		return nil
	}
	q.Default = strings.TrimSpace(q.Default)
	if !slices.Contains(q.Options, q.Default) {
		return &ledger.FieldError{Field: "default_answer", Rule: "one of the options", Got: ledger.Clip(strconv.Quote(q.Default), 80)}
	}
	return nil
}

// CheckAnswer checks an answer in place: 1 to 2 000 characters, not all space.
func CheckAnswer(s *string) error {
	if err := ledger.Text("answer", s, MaxAnswer, false); err != nil {
		return err
	}
	if strings.TrimSpace(*s) == "" {
		return blank("answer", *s, MaxAnswer)
	}
	return nil
}

// card is what tickets have in common that may be answered as one. Every text
// comes with its length, so that no two differing questions run together.
func (q *Question) card() string {
	b := []byte{1} // of this form
	add := func(s string) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) }
	add(q.Question)
	b = binary.BigEndian.AppendUint32(b, uint32(len(q.Options)))
	for _, o := range q.Options {
		add(o)
	}
	add(q.Context)
	add(q.Default)
	if q.Reversible {
		b = append(b, 1)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// digest is what a repetition of an idempotency key is compared by: all that was
// asked.
func (q *Question) digest() [32]byte {
	b := append([]byte{1}, q.card()...)
	b = append(b, byte(q.Urgency))
	b = binary.BigEndian.AppendUint64(b, uint64(q.Timeout))
	b = append(b, q.Stream...)
	return sha256.Sum256(b)
}

// line checks a one-line text in place. A required one has something to see.
func line(field string, s *string, max int, must bool) error {
	if err := ledger.Text(field, s, max, true); err != nil {
		return err
	}
	if must && strings.TrimSpace(*s) == "" {
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

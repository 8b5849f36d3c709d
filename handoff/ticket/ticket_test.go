package ticket

import (
	"errors"
	"strings"
	"testing"
	"time"

	"steward/ledger"
)

const (
	t0     = ledger.Millis(1_800_000_000_000)
	second = ledger.Millis(1000)
	minute = 60 * second
)

func pending(def string) Ticket {
	q := Question{Stream: "api", AskedBy: "api", Question: "Go?", Default: def, Timeout: 10 * time.Minute, Reversible: true}
	if err := q.Validate(); err != nil {
		panic(err)
	}
	return ask(q, "tkt_1", t0).after
}

// Expiry is decided by the time alone: at expires_at and from then on.
func TestAt(t *testing.T) {
	for _, def := range []string{"", "keep it"} {
		p := pending(def)
		if got := p.At(t0 + 10*minute - 1); got.Status != Pending || got.Answer != "" {
			t.Errorf("a moment before: %+v", got)
		}
		for _, now := range []ledger.Millis{t0 + 10*minute, t0 + 1000*minute} {
			got := p.At(now)
			if got.Status != Expired || got.Answer != def || (got.AnsweredBy == Default) != (def != "") || (got.AnsweredAt == p.ExpiresAt) != (def != "") {
				t.Errorf("default %q at %d: %+v", def, now-t0, got)
			}
		}
	}
	done, err := pending("x").answer("yes", t0+minute)
	if err != nil || done.after.At(t0+1000*minute).Status != Answered {
		t.Errorf("an answered one expires: %+v, %v", done, err)
	}
}

// Each decision in each state: what comes out, or why not.
func TestDecisions(t *testing.T) {
	answered := func() Ticket { c, _ := pending("").answer("yes", t0+minute); return c.after }
	cancelled := func() Ticket { c, _ := pending("").cancel("api", t0+minute); return c.after }
	states := map[string]Ticket{
		"pending": pending(""), "past its time": pending(""), "expired": pending("").expire(), "answered": answered(), "answered long ago": answered(), "cancelled": cancelled(),
	}
	at := map[string]ledger.Millis{"past its time": t0 + 10*minute, "expired": t0 + 11*minute, "answered long ago": t0 + 6*minute + 1}
	type want struct {
		status Status
		err    error
	}
	for name, wants := range map[string][3]want{ // answer, undo, cancel
		"pending":           {{Answered, nil}, {0, ErrNoUndo}, {Cancelled, nil}},
		"past its time":     {{0, ErrExpired}, {0, ErrNoUndo}, {Expired, nil}},
		"expired":           {{0, ErrExpired}, {0, ErrNoUndo}, {Expired, nil}},
		"answered":          {{0, ErrAnswered}, {Pending, nil}, {Answered, nil}},
		"answered long ago": {{0, ErrAnswered}, {0, ErrNoUndo}, {Answered, nil}},
		"cancelled":         {{0, ErrCancelled}, {0, ErrNoUndo}, {Cancelled, nil}},
	} {
		now := at[name]
		if now == 0 {
			now = t0 + 2*minute
		}
		s := states[name]
		a, errA := s.answer("no", now)
		u, errU := s.undo(now)
		c, errC := s.cancel("api", now)
		for i, got := range []struct {
			c   change
			err error
		}{{a, errA}, {u, errU}, {c, errC}} {
			w := wants[i]
			what := [...]string{"answer", "undo", "cancel"}[i]
			if w.err != nil {
				var se *StateError
				if !errors.Is(got.err, w.err) || !errors.Is(got.err, ErrClosed) || !errors.As(got.err, &se) || se.Hint == "" || se.State.Status == Pending && name == "past its time" {
					t.Errorf("%s of one %s: %v, want %v", what, name, got.err, w.err)
				}
				continue
			}
			if got.err != nil || got.c.after.Status != w.status {
				t.Errorf("%s of one %s: %v, %v; want %v", what, name, got.c.after.Status, got.err, w.status)
			}
			if changed := got.c.event != ""; changed != (s.At(now).Status != w.status) {
				t.Errorf("%s of one %s: event %q", what, name, got.c.event)
			}
		}
		if _, err := s.cancel("web", now); !errors.Is(err, ErrNotAsker) {
			t.Errorf("cancelled by another: %v", err)
		}
	}
}

// An undone ticket has the time that was left when it was answered, and five
// minutes at least.
func TestUndoLeavesTime(t *testing.T) {
	for answeredAt, left := range map[ledger.Millis]ledger.Millis{t0 + minute: 9 * minute, t0 + 5*minute: 5 * minute, t0 + 9*minute: 5 * minute} {
		a, err := pending("x").answer("yes", answeredAt)
		if err != nil {
			t.Fatal(err)
		}
		now := answeredAt + 5*minute
		u, err := a.after.undo(now)
		if err != nil || u.after.ExpiresAt != now+left || u.after.Answer != "" || u.after.AnsweredBy != "" || u.after.AnsweredAt != 0 {
			t.Errorf("answered after %d: %+v, %v; want %d left", answeredAt-t0, u.after, err, left)
		}
		if _, err := a.after.undo(now + 1); !errors.Is(err, ErrNoUndo) {
			t.Errorf("a moment later: %v", err)
		}
	}
}

// The asker is told once that an answer it was given no longer counts, also when
// there is another by then; one that was never handed out is not worth a word.
func TestDelivery(t *testing.T) {
	now := t0 + minute
	a, _ := pending("").answer("yes", now)
	if c, revoked := a.after.deliver("web", now); c.event != "" || revoked {
		t.Errorf("to another: %q", c.event)
	}
	u, _ := a.after.undo(now)
	if c, revoked := u.after.deliver("api", now); c.event != "" || revoked {
		t.Errorf("undone before it was read: %q, %v", c.event, revoked)
	}
	d, revoked := a.after.deliver("api", now)
	if d.event != EventDelivered || revoked {
		t.Fatalf("%q, %v", d.event, revoked)
	}
	if c, _ := d.after.deliver("api", now); c.event != "" {
		t.Errorf("a second time: %q", c.event)
	}
	u, _ = d.after.undo(now)
	if !u.after.revoked || u.after.Waits("api") || !u.after.Waits("web") {
		t.Errorf("undone after it was read: %+v", u.after)
	}
	again, _ := u.after.answer("no", now)
	c, revoked := again.after.deliver("api", now)
	if c.event != EventRevoked || !revoked || c.after.Answer != "no" || !c.after.delivered {
		t.Errorf("answered anew: %q, %v, %+v", c.event, revoked, c.after)
	}
	if c, revoked := c.after.deliver("api", now); c.event != "" || revoked {
		t.Errorf("told twice: %q", c.event)
	}
	c, revoked = u.after.deliver("api", now)
	if c.event != EventRevoked || !revoked || !c.after.Waits("api") {
		t.Errorf("%q, %v", c.event, revoked)
	}
	// A default is handed out like an answer.
	if c, _ := pending("keep").deliver("api", t0+10*minute); c.event != EventDelivered || c.move.DecidedBy != "default" {
		t.Errorf("a default: %+v", c)
	}
}

// What differs in anything that a decision depends on is another card.
func TestCards(t *testing.T) {
	base := Question{Question: "a", Options: []string{"b", "c"}, Context: "d", Default: "b", Reversible: true}
	seen := map[string]string{base.card(): "the same"}
	for name, q := range map[string]Question{
		"question":   {Question: "aa", Options: []string{"b", "c"}, Context: "d", Default: "b", Reversible: true},
		"order":      {Question: "a", Options: []string{"c", "b"}, Context: "d", Default: "b", Reversible: true},
		"no options": {Question: "a", Context: "d", Default: "b", Reversible: true},
		"context":    {Question: "a", Options: []string{"b", "c"}, Context: "D", Default: "b", Reversible: true},
		"moved":      {Question: "a", Options: []string{"b", "cd"}, Default: "b", Reversible: true},
		"default":    {Question: "a", Options: []string{"b", "c"}, Context: "d", Default: "c", Reversible: true},
		"no default": {Question: "a", Options: []string{"b", "c"}, Context: "d", Reversible: true},
		"for good":   {Question: "a", Options: []string{"b", "c"}, Context: "d", Default: "b"},
	} {
		if other, there := seen[q.card()]; there {
			t.Errorf("%s has the card of %s", name, other)
		}
		seen[q.card()] = name
	}
	q := base
	q.Stream, q.AskedBy, q.Urgency, q.Timeout, q.Key = "x", "y", Blocking, time.Hour, "k"
	if q.card() != base.card() {
		t.Error("who asks, how urgently and for how long makes another card")
	}
}

// Whatever a question or an answer says, its event is no failure and fits.
func TestEventsOfAnyText(t *testing.T) {
	for _, text := range []string{"failed", "Error", "FAILURE", strings.Repeat("\x01", MaxQuestion), strings.Repeat("😀", MaxQuestion), "a\u2028b"} {
		q := Question{Stream: "api", AskedBy: "api", Question: text, Default: strings.Repeat("\x01", MaxAnswer), Reversible: true, Urgency: Blocking}
		for i := range MaxOptions - 1 {
			q.Options = append(q.Options, strings.Repeat("\x02", MaxOption-1)+string(rune('a'+i)))
		}
		q.Options = append(q.Options, "z")
		q.Default = q.Options[0]
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		c := ask(q, "tkt_1", t0)
		long := strings.Repeat("\x01", MaxAnswer)
		answered, err := c.after.answer(long, t0)
		if err != nil {
			t.Fatal(err)
		}
		q.Options, q.Default = nil, long
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		free := ask(q, "tkt_2", t0)
		short, _ := free.after.answer(text, t0)
		for _, c := range []change{c, answered, free, short, free.after.record(t0)} {
			e, err := c.entry(by("api"))
			if err == nil {
				err = e.Validate()
			}
			if err != nil || e.Failing() {
				t.Errorf("%s of %.20q: failing %v, %v", c.event, text, e.Failing(), err)
			}
		}
	}
}

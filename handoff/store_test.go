package handoff_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

func TestLife(t *testing.T) {
	clock := ledgertest.NewClock()
	l := ledgertest.Open(t, clock)
	at := func() ledger.Millis { return ledger.At(clock.Now()) }
	n := handoff.NewHandoff{
		Target: "studio", Instruction: "cut it\nat 3:10", Key: "k1", SourceSession: "s1",
		Attachments: []handoff.Attachment{{Path: "/a.wav", Name: "A"}, {Path: "/b.wav"}}, Context: json.RawMessage(`{ "bpm": 120.0, "a": [1] }`),
	}
	r, err := create(t, l, n, agent)
	if err != nil {
		t.Fatal(err)
	}
	id := string(r.Handoff.ID)
	want := handoff.Handoff{
		ID: r.Handoff.ID, Target: "studio", Status: handoff.Pending, Instruction: n.Instruction, Attachments: n.Attachments, Context: json.RawMessage(`{"bpm":120.0,"a":[1]}`),
		Key: "k1", SourceSession: "s1", CreatedAt: at(), Caller: "api",
	}
	check := func(h handoff.Handoff) {
		t.Helper()
		for _, got := range []handoff.Handoff{h, get(t, l, id)} {
			a, b := plain(t, got), plain(t, want)
			if a != b || got.Caller != want.Caller {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		}
	}
	if !r.Created || r.Duplicate || r.Conflict {
		t.Errorf("create: %+v", r)
	}
	check(r.Handoff)
	checkCounts(t, l, handoff.Count{Pending: 1})

	clock.Add(time.Second)
	want.Status, want.Worker, want.Fence, want.ClaimedAt = handoff.Claimed, "w1", 1, at()
	c := claim(t, l, id, "w1")
	if !c.Claimed || !c.Changed || c.Fence != 1 || c.Owner != "w1" || c.Status != handoff.Claimed {
		t.Errorf("first claim: %+v", c)
	}
	check(c.Handoff)
	checkCounts(t, l, handoff.Count{Claimed: 1})

	if c := claim(t, l, id, "w2"); c.Claimed || c.Changed || c.Owner != "w1" || c.Status != handoff.Claimed || c.Fence != 1 {
		t.Errorf("another worker's claim: %+v", c)
	}

	clock.Add(time.Second)
	want.Status, want.RunningAt = handoff.Running, at()
	c = claim(t, l, id, "w1")
	if !c.Claimed || !c.Changed || c.Fence != 1 || c.Status != handoff.Running {
		t.Errorf("second claim: %+v", c)
	}
	check(c.Handoff)
	checkCounts(t, l, handoff.Count{Running: 1})

	clock.Add(time.Second)
	if c = claim(t, l, id, "w1"); !c.Claimed || c.Changed || c.Status != handoff.Running {
		t.Errorf("third claim: %+v", c)
	}

	before := head(t, l).LastID
	var state *handoff.StateError
	if _, err := finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w2", Status: handoff.Done}); !errors.Is(err, handoff.ErrNotOwner) || !errors.As(err, &state) || state.State.Worker != "w1" {
		t.Errorf("another worker's finish: %v", err)
	}
	if got := head(t, l).LastID; got != before {
		t.Errorf("a refusal left %d events", got-before)
	}

	clock.Add(-time.Hour) // the wall clock is never clamped
	want.Status, want.FinishedAt = handoff.Done, at()
	want.Outcome, want.Metrics, want.Error = "cut", ledger.Metrics{{Key: "z", Value: "1.50"}, {Key: "a", Value: "2"}}, "one\nwarning"
	f, err := finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w1", Status: handoff.Done, Outcome: "cut", Metrics: want.Metrics, Error: want.Error, Fence: &c.Fence})
	if err != nil || !f.Changed {
		t.Fatalf("finish: %+v, %v", f, err)
	}
	check(f.Handoff)
	checkCounts(t, l, handoff.Count{Done: 1})

	f, err = finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w1", Status: handoff.Done, Outcome: "again", Fence: &c.Fence})
	if err != nil || f.Changed {
		t.Errorf("finish again: %+v, %v", f, err)
	}
	check(f.Handoff)
	if c := claim(t, l, id, "w1"); c.Claimed || c.Status != handoff.Done || c.Owner != "w1" {
		t.Errorf("claim of an ended one: %+v", c)
	}

	var told []string
	for _, tr := range transitions(t, l, r.Handoff.ID) {
		from := "-"
		if tr.From != nil {
			from = tr.From.String()
		}
		told = append(told, fmt.Sprintf("%s %s %s>%s %s/%d", tr.Type, tr.Actor, from, tr.To, tr.Worker, tr.Fence))
	}
	if wantTold := []string{
		"handoff_created s1 ->pending /0", "handoff_claimed w1 pending>claimed w1/1",
		"handoff_running w1 claimed>running w1/1", "handoff_finished w1 running>done w1/1",
	}; !reflect.DeepEqual(told, wantTold) {
		t.Errorf("transitions\n got %q\nwant %q", told, wantTold)
	}
	for _, e := range events(t, l) {
		if e.Workspace != "api" || e.Caller != "api" || e.Session != "conn-1" || e.Object != id || e.ObjectType != "handoff" || e.Source != ledger.Claimed {
			t.Errorf("event %+v", e)
		}
		if b := plain(t, e); strings.Contains(b, "cut it") || strings.Contains(b, ".wav") || strings.Contains(b, "bpm") || strings.Contains(b, "warning") {
			t.Errorf("content in event %s", b)
		}
	}
	ledgertest.Verify(t, l)
}

func TestCreateTwice(t *testing.T) {
	l := ledgertest.Open(t, nil)
	n := handoff.NewHandoff{Target: "dj", Instruction: "mix it", Key: "k", Context: json.RawMessage(`{"a":1,"b":2}`), SourceSession: "s1"}
	first, err := create(t, l, n, agent)
	if err != nil {
		t.Fatal(err)
	}
	id := string(first.Handoff.ID)
	end := func() {
		claim(t, l, id, "w")
		if _, err := finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w", Status: handoff.Failed}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		edit func(n *handoff.NewHandoff)
		by   handoff.By
		dup  bool
	}{
		{"same", func(*handoff.NewHandoff) {}, agent, true},
		{"another caller and session", func(n *handoff.NewHandoff) { n.SourceSession = "s2" }, handoff.By{Workspace: "web"}, true},
		{"same context, other spelling", func(n *handoff.NewHandoff) { n.Context = json.RawMessage(`{"b":2.0, "a":1}`) }, agent, true},
		{"another instruction", func(n *handoff.NewHandoff) { n.Instruction = "mix it twice" }, agent, false},
		{"another target", func(n *handoff.NewHandoff) { n.Target = "studio" }, handoff.By{Workspace: "web"}, false},
		{"another context", func(n *handoff.NewHandoff) { n.Context = nil }, agent, false},
		{"an attachment", func(n *handoff.NewHandoff) { n.Attachments = []handoff.Attachment{{Path: "/a"}} }, agent, false},
	} {
		for _, ended := range []bool{false, true} {
			if ended && get(t, l, id).Status == handoff.Pending {
				end()
			}
			before, lastID := get(t, l, id), head(t, l).LastID
			m := n
			c.edit(&m)
			r, err := create(t, l, m, c.by)
			if err != nil || r.Created || r.Duplicate != c.dup || r.Conflict == c.dup {
				t.Errorf("%s, ended %v: %+v, %v", c.name, ended, r, err)
			}
			if plain(t, r.Handoff) != plain(t, before) || plain(t, get(t, l, id)) != plain(t, before) {
				t.Errorf("%s: the stored one changed", c.name)
			}
			if head(t, l).LastID != lastID {
				t.Errorf("%s: an event", c.name)
			}
		}
	}
	checkCounts(t, l, handoff.Count{Failed: 1})
}

func TestCreateTargets(t *testing.T) {
	l := ledgertest.Open(t, nil)
	with := func(targets []string, n handoff.NewHandoff) (handoff.CreateResult, error) {
		return update(t, l, func(tx *ledger.Tx) (handoff.CreateResult, error) { return handoff.Create(tx, n, targets, agent) })
	}
	n := handoff.NewHandoff{Target: "attic", Instruction: "a", Key: "k"}
	_, err := with(targets, n)
	var f *ledger.FieldError
	if !errors.As(err, &f) || f.Field != "target" || !strings.Contains(f.Error(), `one of studio, dj, library; got "attic"`) {
		t.Errorf("an unknown target: %v", err)
	}
	if _, err := with(nil, n); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("no targets: %v", err)
	}
	r, err := with([]string{"attic"}, n)
	if err != nil || !r.Created {
		t.Fatalf("%+v, %v", r, err)
	}
	// The configuration changed since: what is stored keeps its target and moves on.
	if r, err := with(targets, n); err != nil || !r.Duplicate || r.Handoff.Target != "attic" {
		t.Errorf("a repetition after the target is gone: %+v, %v", r, err)
	}
	n.Instruction = "b"
	if _, err := with(targets, n); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("another payload with an unknown target: %v", err)
	}
	if c := claim(t, l, string(r.Handoff.ID), "w"); !c.Claimed {
		t.Errorf("claim: %+v", c)
	}
}

// TestNothingOfARefusedUpdate checks that a decision leaves nothing when its
// update fails later.
func TestNothingOfARefusedUpdate(t *testing.T) {
	l := ledgertest.Open(t, nil)
	h := fresh(t, l, "k")
	no := errors.New("no")
	before := head(t, l)
	_, err := update(t, l, func(tx *ledger.Tx) (int, error) {
		if c, err := handoff.Claim(tx, string(h.ID), "w", agent); err != nil || !c.Claimed {
			t.Errorf("claim: %+v, %v", c, err)
		}
		n := handoff.NewHandoff{Target: "dj", Instruction: "a", Key: "k2"}
		if _, err := handoff.Create(tx, n, targets, agent); err != nil {
			t.Error(err)
		}
		return 0, no
	})
	if !errors.Is(err, no) {
		t.Fatal(err)
	}
	if head(t, l) != before || get(t, l, string(h.ID)).Status != handoff.Pending {
		t.Error("something was kept")
	}
	checkCounts(t, l, handoff.Count{Pending: 1})
	ledgertest.Verify(t, l)
}

func TestRefusedArguments(t *testing.T) {
	l := ledgertest.Open(t, nil)
	h := fresh(t, l, "k")
	const unknown = "hnd_01KB5Z0V8R9T6M3Q2W1XYZABCD"
	before := head(t, l)
	for name, c := range map[string]struct {
		do   func(tx *ledger.Tx) error
		want error
	}{
		"create": {func(tx *ledger.Tx) error {
			_, err := handoff.Create(tx, handoff.NewHandoff{Target: "dj", Key: "x"}, targets, agent)
			return err
		}, ledger.ErrInvalid},
		"claim without a worker": {func(tx *ledger.Tx) error { _, err := handoff.Claim(tx, string(h.ID), "", agent); return err }, ledger.ErrInvalid},
		"claim of nothing":       {func(tx *ledger.Tx) error { _, err := handoff.Claim(tx, "", "w", agent); return err }, ledger.ErrInvalid},
		"claim of a long text": {func(tx *ledger.Tx) error {
			_, err := handoff.Claim(tx, strings.Repeat("x", 129), "w", agent)
			return err
		}, ledger.ErrInvalid},
		"claim of an unknown": {func(tx *ledger.Tx) error { _, err := handoff.Claim(tx, unknown, "w", agent); return err }, handoff.ErrNotFound},
		"claim of no id":      {func(tx *ledger.Tx) error { _, err := handoff.Claim(tx, "the first one", "w", agent); return err }, handoff.ErrNotFound},
		"finish of an unknown": {func(tx *ledger.Tx) error {
			_, err := handoff.Finish(tx, handoff.FinishCommand{Ref: unknown, Worker: "w", Status: handoff.Done}, agent)
			return err
		}, handoff.ErrNotFound},
		"settle as running": {func(tx *ledger.Tx) error {
			_, err := handoff.Settle(tx, handoff.SettleCommand{Ref: string(h.ID), Status: handoff.Running}, person)
			return err
		}, ledger.ErrInvalid},
		"release of an unknown": {func(tx *ledger.Tx) error {
			_, err := handoff.Release(tx, handoff.ReleaseCommand{Ref: "H-ZZZZ"}, person)
			return err
		}, handoff.ErrNotFound},
		"transitions of an unknown": {func(tx *ledger.Tx) error { _, _, err := handoff.Transitions(&tx.View, unknown); return err }, handoff.ErrNotFound},
	} {
		_, err := update(t, l, func(tx *ledger.Tx) (int, error) { return 0, c.do(tx) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if head(t, l) != before {
		t.Error("a refusal left an event")
	}
}

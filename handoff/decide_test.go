package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"steward/ledger"
)

const (
	then = ledger.Millis(1_000)
	now  = ledger.Millis(2_000)
)

// states are the places a handoff can be in, settled and released ones included.
var states = []struct {
	name string
	h    Handoff
}{
	{"pending", Handoff{Status: Pending}},
	{"released", Handoff{Status: Pending, Fence: 2}},
	{"claimed", Handoff{Status: Claimed, Worker: "A", Fence: 3, ClaimedAt: then}},
	{"running", Handoff{Status: Running, Worker: "A", Fence: 3, ClaimedAt: then, RunningAt: then}},
	{"done", Handoff{Status: Done, Worker: "A", Fence: 3, ClaimedAt: then, FinishedAt: then, Outcome: "first"}},
	{"failed", Handoff{Status: Failed, Worker: "A", Fence: 3, ClaimedAt: then, FinishedAt: then, Outcome: "first"}},
	{"cancelled", Handoff{Status: Cancelled, Worker: "A", Fence: 3, ClaimedAt: then, FinishedAt: then, Outcome: "first"}},
	{"settled done", Handoff{Status: Done, Fence: 4, ClaimedAt: then, FinishedAt: then, Outcome: "first"}},
	{"settled failed", Handoff{Status: Failed, Fence: 4, FinishedAt: then}},
	{"settled cancelled", Handoff{Status: Cancelled, Fence: 4, FinishedAt: then}},
}

// commands are everything that can be asked; fences are relative to the state's.
var commands = []struct {
	name string
	make func(fence int64) command
}{
	{"claim A", func(int64) command { return &claim{"A"} }},
	{"claim B", func(int64) command { return &claim{"B"} }},
	{"finish A done", func(int64) command { return &FinishCommand{Worker: "A", Status: Done, Outcome: "late"} }},
	{"finish A failed", func(int64) command { return &FinishCommand{Worker: "A", Status: Failed, Error: "x"} }},
	{"finish A cancelled", func(int64) command { return &FinishCommand{Worker: "A", Status: Cancelled} }},
	{"finish A done, its fence", func(f int64) command { return &FinishCommand{Worker: "A", Status: Done, Fence: &f} }},
	{"finish A done, old fence", func(f int64) command { f--; return &FinishCommand{Worker: "A", Status: Done, Fence: &f} }},
	{"finish A done, new fence", func(f int64) command { f++; return &FinishCommand{Worker: "A", Status: Done, Fence: &f} }},
	{"finish B done", func(int64) command { return &FinishCommand{Worker: "B", Status: Done} }},
	{"finish B done, old fence", func(f int64) command { f--; return &FinishCommand{Worker: "B", Status: Done, Fence: &f} }},
	{"release", func(int64) command { return &ReleaseCommand{Reason: "why"} }},
	{"release, its fence", func(f int64) command { return &ReleaseCommand{Fence: &f} }},
	{"release, old fence", func(f int64) command { f--; return &ReleaseCommand{Fence: &f} }},
	{"release, new fence", func(f int64) command { f++; return &ReleaseCommand{Fence: &f} }},
	{"settle done", func(int64) command { return &SettleCommand{Status: Done, Outcome: "by hand", Reason: "why"} }},
	{"settle failed", func(int64) command { return &SettleCommand{Status: Failed, Reason: "why"} }},
	{"settle cancelled", func(int64) command { return &SettleCommand{Status: Cancelled} }},
	{"settle done, its fence", func(f int64) command { return &SettleCommand{Status: Done, Fence: &f} }},
	{"settle done, old fence", func(f int64) command { f--; return &SettleCommand{Status: Done, Fence: &f} }},
	{"settle done, new fence", func(f int64) command { f++; return &SettleCommand{Status: Done, Fence: &f} }},
}

// outcomes says for every state and command what comes of it: "status owner
// fence-change event", "same", or the sentinel. An old fence of a handoff whose
// fence is 0 does not exist ("-").
var outcomes = map[string][]string{
	"claim A":                  {"claimed A +1 handoff_claimed", "claimed A +1 handoff_claimed", "running A +0 handoff_running", "same", "same", "same", "same", "same", "same", "same"},
	"claim B":                  {"claimed B +1 handoff_claimed", "claimed B +1 handoff_claimed", "same", "same", "same", "same", "same", "same", "same", "same"},
	"finish A done":            {"ErrUnclaimed", "ErrUnclaimed", "done A +0 handoff_finished", "done A +0 handoff_finished", "same", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish A failed":          {"ErrUnclaimed", "ErrUnclaimed", "failed A +0 handoff_finished", "failed A +0 handoff_finished", "ErrFinal", "same", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish A cancelled":       {"ErrUnclaimed", "ErrUnclaimed", "cancelled A +0 handoff_finished", "cancelled A +0 handoff_finished", "ErrFinal", "ErrFinal", "same", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish A done, its fence": {"ErrUnclaimed", "ErrUnclaimed", "done A +0 handoff_finished", "done A +0 handoff_finished", "same", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish A done, old fence": {"-", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost"},
	"finish A done, new fence": {"ErrFence", "ErrFence", "ErrFence", "ErrFence", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish B done":            {"ErrUnclaimed", "ErrUnclaimed", "ErrNotOwner", "ErrNotOwner", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"finish B done, old fence": {"-", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost", "ErrClaimLost"},
	"release":                  {"ErrUnclaimed", "ErrUnclaimed", "pending  +1 handoff_released", "pending  +1 handoff_released", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"release, its fence":       {"ErrUnclaimed", "ErrUnclaimed", "pending  +1 handoff_released", "pending  +1 handoff_released", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"release, old fence":       {"-", "ErrUnclaimed", "ErrConflict", "ErrConflict", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"release, new fence":       {"ErrUnclaimed", "ErrUnclaimed", "ErrFence", "ErrFence", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle done":              {"done  +1 handoff_settled", "done  +1 handoff_settled", "done  +1 handoff_settled", "done  +1 handoff_settled", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle failed":            {"failed  +1 handoff_settled", "failed  +1 handoff_settled", "failed  +1 handoff_settled", "failed  +1 handoff_settled", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle cancelled":         {"cancelled  +1 handoff_settled", "cancelled  +1 handoff_settled", "cancelled  +1 handoff_settled", "cancelled  +1 handoff_settled", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle done, its fence":   {"done  +1 handoff_settled", "done  +1 handoff_settled", "done  +1 handoff_settled", "done  +1 handoff_settled", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle done, old fence":   {"-", "ErrConflict", "ErrConflict", "ErrConflict", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
	"settle done, new fence":   {"ErrFence", "ErrFence", "ErrFence", "ErrFence", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal", "ErrFinal"},
}

var sentinels = map[string]error{
	"ErrConflict": ErrConflict, "ErrUnclaimed": ErrUnclaimed, "ErrNotOwner": ErrNotOwner, "ErrFence": ErrFence,
	"ErrClosed": ErrClosed, "ErrFinal": ErrFinal, "ErrClaimLost": ErrClaimLost,
}

func TestDecideEveryStateAndCommand(t *testing.T) {
	if len(outcomes) != len(commands) {
		t.Fatalf("%d rows for %d commands", len(outcomes), len(commands))
	}
	for _, cmd := range commands {
		row := outcomes[cmd.name]
		if len(row) != len(states) {
			t.Fatalf("%s: %d outcomes for %d states", cmd.name, len(row), len(states))
		}
		for i, s := range states {
			want := row[i]
			if want == "-" {
				if s.h.Fence != 0 {
					t.Errorf("%s of %s: has an outcome", cmd.name, s.name)
				}
				continue
			}
			t.Run(s.name+"/"+cmd.name, func(t *testing.T) {
				h := s.h
				h.ID, h.Target = "hnd_X", "dj"
				command := cmd.make(h.Fence)
				if err := command.Validate(); err != nil {
					t.Fatal(err)
				}
				before := h
				c, err := command.decide(h, now)
				if !reflect.DeepEqual(h, before) {
					t.Error("decide changed its argument")
				}
				if got := describe(c, h, err); got != want {
					t.Fatalf("got %q, want %q", got, want)
				}
				if err != nil {
					checkRefusal(t, err, h)
				} else {
					checkTimes(t, c, h)
				}
			})
		}
	}
}

func describe(c change, h Handoff, err error) string {
	if err != nil {
		for name, sentinel := range sentinels {
			var state *StateError
			if errors.As(err, &state) && state.Err == sentinel { //nolint:errorlint // this very one, not its sort
				return name
			}
		}
		return err.Error()
	}
	if c.event == "" {
		if reflect.DeepEqual(c.after, h) && c.from == h.Status {
			return "same"
		}
		return "changed without an event"
	}
	return fmt.Sprintf("%s %s +%d %s", c.after.Status, c.after.Worker, c.after.Fence-h.Fence, c.event)
}

func checkRefusal(t *testing.T, err error, h Handoff) {
	t.Helper()
	var state *StateError
	if !errors.As(err, &state) {
		t.Fatalf("%v is no StateError", err)
	}
	if !reflect.DeepEqual(state.State, h) {
		t.Errorf("it carries %+v, want %+v", state.State, h)
	}
	if state.Hint == "" {
		t.Errorf("%v: no hint", err)
	}
	if errors.Is(err, ErrConflict) == errors.Is(err, ErrClosed) {
		t.Errorf("%v: must be one of conflict and closed", err)
	}
	if !strings.Contains(err.Error(), h.Status.String()) || !strings.Contains(err.Error(), string(h.ID)) {
		t.Errorf("%q names neither status nor id", err)
	}
}

// checkTimes checks that each time says when what it names happened.
func checkTimes(t *testing.T, c change, h Handoff) {
	t.Helper()
	want := h
	switch c.event {
	case EventClaimed:
		want.ClaimedAt = now
	case EventRunning:
		want.RunningAt = now
	case EventFinished, EventSettled:
		want.FinishedAt = now
	case EventReleased:
		want.ClaimedAt, want.RunningAt = 0, 0
	}
	a := c.after
	if a.ClaimedAt != want.ClaimedAt || a.RunningAt != want.RunningAt || a.FinishedAt != want.FinishedAt {
		t.Errorf("times %v %v %v, want %v %v %v", a.ClaimedAt, a.RunningAt, a.FinishedAt, want.ClaimedAt, want.RunningAt, want.FinishedAt)
	}
}

func TestFinishKeepsWhatWasSaid(t *testing.T) {
	h := Handoff{Status: Running, Worker: "A", Fence: 1}
	cmd := FinishCommand{Worker: "A", Status: Failed, Outcome: "half of it", Error: "line 1\nline 2", Metrics: ledger.Metrics{{Key: "files", Value: "3"}}}
	if err := cmd.Validate(); err != nil {
		t.Fatal(err)
	}
	c, err := cmd.decide(h, now)
	if err != nil {
		t.Fatal(err)
	}
	if c.after.Outcome != cmd.Outcome || c.after.Error != "line 1\nline 2" || len(c.after.Metrics) != 1 {
		t.Errorf("kept %+v", c.after)
	}
	again := FinishCommand{Worker: "A", Status: Failed, Outcome: "all of it"}
	d, err := again.decide(c.after, now+1)
	if err != nil || d.event != "" || d.after.Outcome != "half of it" {
		t.Errorf("a repetition: %+v, %v; the first word must stay", d, err)
	}
}

// TestEntry checks the event of each change, data included.
func TestEntry(t *testing.T) {
	agent := By{Workspace: "api", Session: "conn-1"}
	person := By{Person: true}
	base := Handoff{ID: "hnd_X", Target: "dj", Instruction: "secret words"}
	at := func(s Status, worker string, fence int64) Handoff {
		h := base
		h.Status, h.Worker, h.Fence = s, worker, fence
		return h
	}
	must := func(cmd command, h Handoff) change {
		t.Helper()
		if err := cmd.Validate(); err != nil {
			t.Fatal(err)
		}
		c, err := cmd.decide(h, now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	event := func(actor, typ string, key bool, by By) ledger.Event {
		return ledger.Event{Actor: actor, Type: typ, Object: "hnd_X", ObjectType: "handoff", Injectable: key,
			Workspace: by.Workspace, Caller: by.Workspace, Session: by.Session}
	}
	with := func(e ledger.Event, outcome string, s ledger.Source) ledger.Event {
		e.Outcome, e.Source = outcome, s
		return e
	}
	for _, c := range []struct {
		name string
		c    change
		by   By
		want ledger.Event
		data string
	}{
		{"created by a session", create(NewHandoff{Target: "dj", SourceSession: "s1"}, "hnd_X", agent, now), agent, event("s1", EventCreated, true, agent),
			`{"to":"pending","target":"dj","fence":0}`},
		{"created by a workspace", create(NewHandoff{Target: "dj"}, "hnd_X", agent, now), agent, event("api", EventCreated, true, agent),
			`{"to":"pending","target":"dj","fence":0}`},
		{"created by nobody known", create(NewHandoff{Target: "dj"}, "hnd_X", By{}, now), By{}, event("unknown", EventCreated, true, By{}),
			`{"to":"pending","target":"dj","fence":0}`},
		{"created by the person", create(NewHandoff{Target: "dj"}, "hnd_X", person, now), person, with(event("user", EventCreated, true, person), "", ledger.Person),
			`{"to":"pending","target":"dj","fence":0}`},
		{"claimed", must(&claim{"A"}, at(Pending, "", 0)), agent, event("A", EventClaimed, false, agent),
			`{"from":"pending","to":"claimed","target":"dj","worker":"A","fence":1}`},
		{"running", must(&claim{"A"}, at(Claimed, "A", 1)), agent, event("A", EventRunning, false, agent),
			`{"from":"claimed","to":"running","target":"dj","worker":"A","fence":1}`},
		{"finished", must(&FinishCommand{Worker: "A", Status: Done, Outcome: "fine"}, at(Running, "A", 1)), agent, with(event("A", EventFinished, true, agent), "done", ledger.Claimed),
			`{"from":"running","to":"done","target":"dj","worker":"A","fence":1}`},
		{"failed", must(&FinishCommand{Worker: "A", Status: Failed, Error: "secret"}, at(Claimed, "A", 1)), agent, with(event("A", EventFinished, true, agent), "failed", ledger.Claimed),
			`{"from":"claimed","to":"failed","target":"dj","worker":"A","fence":1}`},
		{"released", must(&ReleaseCommand{Reason: "stuck <here>"}, at(Running, "A", 1)), person, with(event("user", EventReleased, false, person), "", ledger.Person),
			`{"from":"running","to":"pending","target":"dj","fence":2,"previous_owner":"A","reason":"stuck <here>","decided_by":"human"}`},
		{"settled", must(&SettleCommand{Status: Cancelled, Reason: "not needed"}, at(Claimed, "A", 1)), person, with(event("user", EventSettled, true, person), "cancelled", ledger.Person),
			`{"from":"claimed","to":"cancelled","target":"dj","fence":2,"previous_owner":"A","reason":"not needed","decided_by":"human"}`},
		{"settled while pending", must(&SettleCommand{Status: Failed}, at(Pending, "", 0)), person, with(event("user", EventSettled, true, person), "failed", ledger.Person),
			`{"from":"pending","to":"failed","target":"dj","fence":1,"decided_by":"human"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.c.entry(c.by)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Data) != c.data {
				t.Errorf("data\n got %s\nwant %s", got.Data, c.data)
			}
			got.Data = nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("event\n got %+v\nwant %+v", got, c.want)
			}
			if wantFailing := c.c.after.Status == Failed; got.Failing() != wantFailing {
				t.Errorf("failing %v, want %v", got.Failing(), wantFailing)
			}
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
			var m Move
			if err := json.Unmarshal([]byte(c.data), &m); err != nil {
				t.Errorf("data does not read back: %v", err)
			}
		})
	}
}

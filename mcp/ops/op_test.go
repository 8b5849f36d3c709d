package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"steward/ledger"
)

type noArgs struct{}

type oneOut struct {
	N int64 `json:"n"`
}

func spec(name string, s Surface) Spec { return Spec{Name: name, Title: "t", Text: "t", Surfaces: s} }

func nothing(*ledger.Tx, Caller, noArgs) (oneOut, error) { return oneOut{}, nil }

// A decision that an agent or a script could make would not be a person's.
func TestDecideIsNeverOfferedToPrograms(t *testing.T) {
	for _, s := range []Surface{Agent, Shell, Agent | Window, Window | Web | Shell} {
		panics(t, "ops: decide_probe: ", func() { Decide(spec("decide_probe", s), nothing) })
	}
	Decide(spec("decide_probe", Window|Web), nothing)
}

func TestSpecIsChecked(t *testing.T) {
	for name, s := range map[string]Spec{
		"camel case": {Name: "decideProbe", Title: "t", Text: "t"},
		"no name":    {Title: "t", Text: "t"},
		"no title":   {Name: "a_b", Text: "t"},
		"no text":    {Name: "a_b", Title: "t"},
		"long text":  {Name: "a_b", Title: "t", Text: strings.Repeat("é", 301)},
	} {
		t.Run(name, func(t *testing.T) { panics(t, "ops: ", func() { Append(s, nothing) }) })
	}
}

func TestSetRefusesTwoOfOneName(t *testing.T) {
	panics(t, "ops: a second a_b", func() { NewSet(&Env{}, Append(spec("a_b", Agent), nothing), Append(spec("a_b", Web), nothing)) })
}

func TestSurfaces(t *testing.T) {
	b := newBench(t)
	b.refused(t, agent, "no_such_tool", `{}`, NotFound)
	b.refused(t, Caller{}, "report_done", `{"actor":"a"}`, Forbidden)
	for _, tool := range []string{"failure_acknowledge", "handoff_settle", "handoff_release"} {
		for _, s := range []Surface{Agent, Shell} {
			e := b.refused(t, Caller{Surface: s, Person: true}, tool, `{}`, Forbidden)
			if !strings.Contains(e.Message, "only a person") || e.Hint == "" {
				t.Errorf("%s: %s (%s)", tool, e.Message, e.Hint)
			}
		}
		b.refused(t, Caller{Surface: Web}, tool, `{}`, Forbidden) // no owner token
		b.refused(t, person, tool, `{}`, Invalid)
	}
	hidden := NewSet(b.env, Append(spec("hidden_op", 0), nothing), Append(spec("web_op", Web), nothing))
	for _, s := range []Surface{Agent, Window, Shell} {
		for _, name := range []string{"hidden_op", "web_op"} {
			if _, err := hidden.Call(context.Background(), Caller{Surface: s, Person: true}, name, nil); CodeOf(err) != Forbidden {
				t.Errorf("%s on %v: %v", name, s.Names(), err)
			}
		}
	}
}

// A call that is sent again takes effect once and has the first answer.
func TestStampReplays(t *testing.T) {
	b := newBench(t)
	c := agent
	c.Stamp = &ledger.Stamp{Bridge: "01KDQ4W3V9ZC8J5T6B7N8M9P0Q", Slot: 3, Seq: 1}
	call := func(args string) (Result, error) {
		return b.Call(context.Background(), c, "report_done", json.RawMessage(args))
	}
	first, err := call(`{"actor":"a","outcome":"é"}`)
	if err != nil || first.Replayed {
		t.Fatalf("%s, %v", first.JSON, err)
	}
	again, err := call(`{ "outcome":"\u00e9", "actor":"a" }`)
	if err != nil || !again.Replayed || !bytes.Equal(first.JSON, again.JSON) || first.Text != again.Text {
		t.Errorf("again: %s, replayed %v, %v", again.JSON, again.Replayed, err)
	}
	if _, err := call(`{"actor":"b"}`); CodeOf(err) != Conflict {
		t.Errorf("another call in the same slot: %v", err)
	}
	// A refusal is not kept: the next try runs.
	c.Stamp.Seq = 2
	if _, err := call(`{"actor":""}`); CodeOf(err) != Invalid {
		t.Errorf("invalid call: %v", err)
	}
	if r, err := call(`{"actor":"b"}`); err != nil || r.Replayed {
		t.Errorf("after a refusal: %s, %v", r.JSON, err)
	}
	c.Stamp.Seq = 1
	if _, err := call(`{"actor":"a","outcome":"é"}`); CodeOf(err) != Closed {
		t.Errorf("an older call: %v", err)
	}
	if out := b.ok(t, agent, "recent_events", ``); len(out["events"].([]any)) != 2 {
		t.Errorf("events: %v", out)
	}
}

// A panic or an unknown error costs its own call and tells nothing but an id,
// under which the log has the cause.
func TestInternalErrors(t *testing.T) {
	b := newBench(t)
	var text bytes.Buffer
	b.env.Logger = slog.New(slog.NewTextHandler(&text, nil))
	set := NewSet(b.env,
		Read(spec("panic_read", Agent), func(*ledger.View, Caller, noArgs) (oneOut, error) { panic("secret-1") }),
		Append(spec("panic_append", Agent), func(*ledger.Tx, Caller, noArgs) (oneOut, error) { panic("secret-2") }),
		Act(spec("panic_act", Agent), func(context.Context, *Env, Caller, noArgs) (oneOut, error) { panic("secret-3") }),
		Append(spec("fail_append", Agent), func(*ledger.Tx, Caller, noArgs) (oneOut, error) { return oneOut{}, errors.New("secret-4") }),
		Append(spec("still_well", Agent), nothing),
	)
	for i, name := range []string{"panic_read", "panic_append", "panic_act", "fail_append"} {
		text.Reset()
		_, err := set.Call(context.Background(), agent, name, nil)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != Internal || e.ID == "" || strings.Contains(string(e.JSON()), "secret") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if logged := text.String(); !strings.Contains(logged, e.ID) || !strings.Contains(logged, "secret-"+string(rune('1'+i))) {
			t.Errorf("%s: the log has %q", name, logged)
		}
		if _, err := set.Call(context.Background(), agent, "still_well", nil); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// What callers say never reaches the log, refused or not.
func TestPayloadsAreNotLogged(t *testing.T) {
	b := newBench(t)
	var text bytes.Buffer
	b.env.Logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := &bench{NewSet(b.env, All()...), b.log, b.clock}
	s.ok(t, agent, "report_done", `{"actor":"hush","outcome":"hush"}`)
	s.refused(t, agent, "report_done", `{"actor":"hush","hush":1}`, Invalid)
	s.refused(t, agent, "handoff_get", `{"handoff_id":"hush"}`, NotFound)
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	s.refused(t, agent, "report_done", `{"actor":"hush"}`, Unavailable)
	if strings.Contains(text.String(), "hush") {
		t.Errorf("the log has %q", text.String())
	}
}

// What a connection says of itself is made fit to be stored, not refused: its
// user can do nothing about the name of a folder.
func TestCallerIsMadeFit(t *testing.T) {
	b := newBench(t)
	c := Caller{Surface: Agent, Workspace: strings.Repeat("é", 200) + "\xff", Session: "s\xff" + strings.Repeat("x", 200)}
	b.ok(t, c, "report_done", `{"actor":"a"}`)
	e := b.ok(t, agent, "recent_events", ``)["events"].([]any)[0].(map[string]any)
	if w := e["workspace"].(string); len([]rune(w)) != 128 || e["caller"] != w {
		t.Errorf("workspace %q, caller %q", w, e["caller"])
	}
	if s := e["session_id"].(string); len([]rune(s)) != 128 || !strings.HasPrefix(s, "s\ufffdx") {
		t.Errorf("session %q", s)
	}
}

func TestCancelledCall(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Call(ctx, agent, "report_done", json.RawMessage(`{"actor":"a"}`)); CodeOf(err) != Unavailable {
		t.Errorf("got %v", err)
	}
}

// Many callers at once share one set.
func TestConcurrentCalls(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if _, err := b.Call(context.Background(), agent, "report_done", json.RawMessage(`{"actor":"a","metrics":{"n":1}}`)); err != nil {
					t.Error(err)
				}
				if _, err := b.Call(context.Background(), agent, "situation_report", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if out := b.ok(t, agent, "situation_report", ``); out["last_event_id"] != 200.0 {
		t.Errorf("last event %v", out["last_event_id"])
	}
}

func TestMarshalDoesNotEscapeHTML(t *testing.T) {
	got, err := marshal(struct {
		A string          `json:"a"`
		B json.RawMessage `json:"b"`
	}{"<a&b>", json.RawMessage(`{"c": "<&>"}`)})
	if want := `{"a":"<a&b>","b":{"c":"<&>"}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// The receipt writes its own JSON; it must say what its tags say.
func TestReceiptJSON(t *testing.T) {
	type tagged Receipt
	for _, r := range []Receipt{
		{EventID: 7, RecordedAt: 1796040000123},
		{EventID: 1, RecordedAt: 1, Dropped: []string{"a", "<\"\n\u0001é", "b"}},
	} {
		got, err := marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := marshal(tagged(r))
		if err != nil || string(got) != string(want) {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
	}
}

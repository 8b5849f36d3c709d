package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"steward/mcp/ops"
)

type fakeDesk struct {
	copied string
	quits  int
	fails  bool
}

func (d *fakeDesk) Copy(text string) error {
	if d.fails {
		return errors.New("no clipboard")
	}
	d.copied = text
	return nil
}

func (d *fakeDesk) Quit() { d.quits++ }

func newTestApp(t *testing.T) (*App, *fakeFrame, *fakeDesk, *Link) {
	t.Helper()
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	l := NewLink(quiet, newPage().emit)
	t.Cleanup(l.Close)
	d := &fakeDesk{}
	return newApp(l, s, d, quiet), f, d, l
}

// code is the code of an answer, "" for a result.
func code(t *testing.T, answer string) string {
	t.Helper()
	var a struct {
		Result json.RawMessage
		Error  *struct{ Code string }
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if a.Error != nil {
		return a.Error.Code
	}
	if a.Result == nil {
		t.Fatalf("%s: neither result nor error", answer)
	}
	return ""
}

func TestVerbs(t *testing.T) {
	a, f, d, l := newTestApp(t)
	l.Use(embedded{newSet(t)})
	if got := a.Call("window.ready", ""); got != `{"result":{"shape":"orb","attached":false,"compositor":true}}` {
		t.Errorf("ready: %s", got)
	}
	f.take(t)
	for _, c := range []struct{ name, args, code string }{
		{"window.open", `{"view":"brief"}`, ""},
		{"window.open", `{"view":3}`, "invalid"},
		{"window.open", `{"views":"brief"}`, "invalid"},
		{"window.open", `{"view":"` + strings.Repeat("x", 65) + `"}`, "invalid"},
		{"window.fold", `{}`, ""},
		{"window.drag", `{}`, ""},
		{"window.fold", `{"at":1}`, "invalid"},
		{"window.fold", `{}{}`, "invalid"},
		{"window.menu", ``, ""},
		{"window.menu", `[`, "invalid"},
		{"window.copy", `{"text":"H-1234"}`, ""},
		{"window.copy", `{"text":"` + strings.Repeat("x", maxCopy+1) + `"}`, "invalid"},
		{"window.painted", `{"round":-3}`, ""},
		{"window.quit", `{}`, ""},
		{"window.close", `{}`, "not_found"},
		{"handoff_list", `{}`, ""},
		{"handoff_list", `{"limit":0}`, "invalid"},
		{"handoff_list", `{"limit":` + strings.Repeat(" ", maxArgs) + `1}`, "invalid"},
		{"", ``, "not_found"},
	} {
		if got := a.Call(c.name, c.args); code(t, got) != c.code {
			t.Errorf("%s %.40s: %.200s", c.name, c.args, got)
		}
	}
	if d.copied != "H-1234" || d.quits != 1 {
		t.Errorf("the desk was told %+v", d)
	}
	d.fails = true
	if got := a.Call("window.copy", `{"text":"x"}`); code(t, got) != "unavailable" {
		t.Errorf("a clipboard that fails: %s", got)
	}
}

// A fault in a call is an answer like any other.
func TestCallSurvivesAPanic(t *testing.T) {
	a, _, _, l := newTestApp(t)
	l.Use(panics{})
	if got := a.Call("handoff_list", `{}`); code(t, got) != "internal" || !strings.Contains(got, `"id":"err_`) || strings.Contains(got, "ouch") {
		t.Errorf("it answers %s", got)
	}
	a.desk = nil
	if got := a.Call("window.quit", `{}`); code(t, got) != "internal" {
		t.Errorf("it answers %s", got)
	}
}

type panics struct{ embedded }

func (panics) Call(_ context.Context, _ string, _ json.RawMessage) (json.RawMessage, *ops.Error) {
	panic("ouch")
}
func (panics) Follow(c context.Context, _ int64, _ func(ops.Notice)) error {
	<-c.Done()
	return c.Err()
}

// Too many calls at once are refused, not queued without end.
func TestCallsAtOnce(t *testing.T) {
	a, _, _, l := newTestApp(t)
	waits := &waiting{begun: make(chan struct{}, maxCalls), go_: make(chan struct{})}
	l.Use(waits)
	var all sync.WaitGroup
	for range maxCalls {
		all.Go(func() {
			if got := a.Call("handoff_list", `{}`); got != `{"result":null}` {
				t.Errorf("one of them: %s", got)
			}
		})
	}
	for range maxCalls {
		<-waits.begun
	}
	if got := a.Call("handoff_list", `{}`); code(t, got) != "unavailable" {
		t.Errorf("one more: %s", got)
	}
	close(waits.go_)
	all.Wait()
}

type waiting struct {
	panics
	begun, go_ chan struct{}
}

func (w *waiting) Call(context.Context, string, json.RawMessage) (json.RawMessage, *ops.Error) {
	w.begun <- struct{}{}
	<-w.go_
	return nil, nil
}

func TestGuard(t *testing.T) {
	h := guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

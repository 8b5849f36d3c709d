package web

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

func TestCall(t *testing.T) {
	f := newFixture(t, nil)
	call := func(name, args string) got {
		t.Helper()
		g := f.ask("POST", CallPath+name, args, "X-Owner", "1")
		h := g.Header
		if h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || !json.Valid([]byte(g.body)) {
			t.Errorf("%s: %v %q", name, h, g.body)
		}
		return g
	}
	if g := call("handoff_create", `{"target":"dj","instruction":"mix","idempotency_key":"k"}`); g.StatusCode != 200 || !strings.Contains(g.body, `"created":true`) {
		t.Fatalf("%s %s", g.Status, g.body)
	}
	var created struct{ Handoff struct{ ID string } }
	if err := json.Unmarshal([]byte(call("handoff_create", `{"target":"dj","instruction":"mix","idempotency_key":"k"}`).body), &created); err != nil {
		t.Fatal(err)
	}
	id := created.Handoff.ID
	for _, c := range []struct {
		name, args string
		status     int
		says       string
	}{
		{"brief_get", `{}`, 200, `"last_event_id":1`},
		{"brief_get", ``, 200, `"last_event_id":1`},
		{"brief_seen", `{"through_id":1}`, 200, `"through_id":1`},
		{"handoff_settle", `{"handoff_id":"` + id + `","status":"cancelled","fence":0}`, 200, `"status":"cancelled"`},
		{"handoff_settle", `{"handoff_id":"` + id + `","status":"done"}`, 410, `"current":{`},
		{"handoff_release", `{"handoff_id":"` + id + `","fence":9}`, 410, `"code":"closed"`},
		{"failure_acknowledge", `{"event_id":2}`, 410, `"code":"closed"`},
		{"brief_get", `{"x":1}`, 400, `"field":"x"`},
		{"brief_get", `[1]`, 400, `"code":"invalid"`},
		{"brief_get", `{"a":`, 400, `"code":"invalid"`},
		{"event_get", `{"event_id":99}`, 404, `"code":"not_found"`},
		{"no_such", `{}`, 404, `"code":"not_found"`},
		{"", `{}`, 404, `"code":"not_found"`},
		{"brief_get/x", `{}`, 404, `"code":"not_found"`},
		{"attachment_open", `{"handoff_id":"` + id + `","index":0}`, 403, `offered to window`},
		{"settings_get", `{}`, 503, `"code":"unavailable"`},
	} {
		if g := call(c.name, c.args); g.StatusCode != c.status || !strings.Contains(g.body, c.says) {
			t.Errorf("%s %s: %s %s; want %d %s", c.name, c.args, g.Status, g.body, c.status, c.says)
		}
	}
	// It was the person who settled it.
	if g := call("event_get", `{"event_id":2}`); !strings.Contains(g.body, `"source":"person"`) || !strings.Contains(g.body, `"decided_by":"human"`) {
		t.Error(g.body)
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		if g := f.ask(method, CallPath+"brief_get", "", "X-Owner", "1"); g.StatusCode != 405 || g.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s, Allow %q", method, g.Status, g.Header.Get("Allow"))
		}
	}
	if g := f.ask("POST", CallPath+"handoff_settle", `{}`); g.StatusCode != 403 {
		t.Errorf("not the owner: %s", g.Status)
	}
	if err := f.log.Close(); err != nil {
		t.Fatal(err)
	}
	if g := call("brief_get", `{}`); g.StatusCode != 503 {
		t.Errorf("without a ledger: %s", g.Status)
	}
}

// A fault inside goes out as an id alone.
func TestCallThatFails(t *testing.T) {
	fails := ops.Act(ops.Spec{Name: "test_fails", Title: "t", Text: "t", Surfaces: ops.Web}, func(context.Context, *ops.Env, ops.Caller, struct{}) (struct{}, error) {
		panic("secret")
	})
	f := newFixture(t, func(c *Config) { c.Set = ops.NewSet(&ops.Env{}, fails) })
	if g := f.ask("POST", CallPath+"test_fails", "", "X-Owner", "1"); g.StatusCode != 500 || !strings.Contains(g.body, `"id":"err_`) || strings.Contains(g.body, "secret") {
		t.Errorf("%s %s", g.Status, g.body)
	}
}

func TestCallBody(t *testing.T) {
	f := newFixture(t, nil)
	long := `{"actor":"a","outcome":"` + strings.Repeat("x", maxArgs) + `"}`
	for _, chunked := range []bool{false, true} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", f.url+CallPath+"report_done", strings.NewReader(long))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Owner", "1")
		if chunked {
			r.ContentLength = -1
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil || a.StatusCode != 413 || !a.Close || !strings.Contains(string(b), "at most 1048576 bytes") {
			t.Errorf("chunked %v: %s %s, %v", chunked, a.Status, b, err)
		}
	}
	// A body that breaks off takes no effect.
	c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST "+CallPath+"report_done HTTP/1.1\r\nHost: x\r\nX-Owner: 1\r\nContent-Length: 1000\r\n\r\n{\"actor\":\"a\"}"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if b, err := io.ReadAll(c); err != nil || len(b) > 0 && !strings.HasPrefix(string(b), "HTTP/1.1 400 ") {
		t.Errorf("%q, %v", b, err)
	}
	if err := f.log.View(t.Context(), func(v *ledger.View) error {
		h, err := v.Head()
		if h.LastID != 0 {
			t.Errorf("%d events", h.LastID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

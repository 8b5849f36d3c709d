package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	libclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"steward/ledger"
)

// connectClient is the library's own client, of either era.
func (d *door) connectClient(t testing.TB, path string, opts ...libclient.ClientOption) *libclient.Client {
	t.Helper()
	tr, err := transport.NewStreamableHTTP("http://"+d.addr+path,
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + agentSecret}))
	if err != nil {
		t.Fatal(err)
	}
	c := libclient.NewClient(tr, opts...)
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: mcp.Implementation{Name: "library", Version: "1"}}}); err != nil {
		t.Fatal(err)
	}
	return c
}

func callTool(t testing.TB, c *libclient.Client, tool string, args map[string]any) *mcp.CallToolResult {
	t.Helper()
	res, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: args}})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// eras are the library's client in both of them.
var eras = map[string][]libclient.ClientOption{
	//lint:ignore SA1019 the older era is what is meant
	"legacy": {libclient.WithLegacyProtocolOnly()},
	"modern": {libclient.WithProtocolVersion(versionModern)},
}

func TestHTTPWithTheLibrarysClient(t *testing.T) {
	for era, opts := range eras {
		t.Run(era, func(t *testing.T) {
			d := newDoor(t, nil)
			c := d.connectClient(t, "/mcp/my%20project", opts...)
			tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil || len(tools.Tools) == 0 {
				t.Fatal(tools, err)
			}
			if sessions := d.http.Sessions(); (era == "legacy") != (sessions == 1) {
				t.Errorf("%d sessions", sessions)
			}
			if res := callTool(t, c, "report_done", map[string]any{"actor": "me", "outcome": "done over HTTP"}); res.IsError {
				t.Fatal(res.Content)
			}
			res := callTool(t, c, "test_whoami", nil)
			who := res.Content[0].(mcp.TextContent).Text
			if !strings.Contains(who, "client=library 1 workspace=my project stream=my project") {
				t.Error(who)
			}
			bad := callTool(t, c, "report_done", map[string]any{"actor": 5})
			if text := bad.Content[0].(mcp.TextContent).Text; !bad.IsError || !strings.Contains(text, "actor") {
				t.Error(text)
			}
			e := d.events(t)[0]
			if e.Workspace != "my project" || e.Caller != "my project" || (era == "legacy") != (len(e.Session) == 26) || e.Source != ledger.Claimed {
				t.Errorf("the event: %+v", e)
			}
		})
	}
}

func (d *door) events(t testing.TB) (events []ledger.Event) {
	t.Helper()
	if err := d.log.View(t.Context(), func(v *ledger.View) (err error) {
		events, _, err = v.Events(0, 1000)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return events
}

// TestHTTPStreams: the path names the workspace.
func TestHTTPStreams(t *testing.T) {
	d := newDoor(t, nil)
	long := strings.Repeat("é", ledger.MaxWorkspace)
	for path, want := range map[string]string{
		"/mcp": "", "/mcp/api": "api", "/mcp/my%20project": "my project", "/mcp/%E4%B8%AD%E6%96%87": "中文", "/mcp/a+b": "a+b", "/mcp/%20a%20": "a",
		"/mcp/" + strings.ReplaceAll(long, "é", "%C3%A9"): long, "/mcp/a%5Cb%3F%23": `a\b?#`, "/mcp/..": "..",
	} {
		g := d.raw(t, d.modernCall(path, "1", "test_whoami", `{}`, ""))
		m := g.one(t)
		if m.Result == nil || !strings.HasSuffix(m.Result.Content[0].Text, `"}`) || !strings.Contains(g.body, fmt.Sprintf(`stream=%s\"`, strings.ReplaceAll(want, `\`, `\\\\`))) {
			t.Errorf("%s: %s", path, g.body)
		}
	}
	for path, want := range map[string]int{
		"/mcp/": 404, "/mcp/a/b": 404, "/mcp/a/": 404, "/mcpx": 404, "/MCP": 404, "/mcp/a%2Fb": 400, "/mcp/%20": 400, "/mcp/a%0Ab": 400, "/mcp/%00": 400,
		"/mcp/%FF": 400, "/mcp/a%C2%85": 400, "/mcp/%E2%80%A8": 400, "/mcp/" + strings.Repeat("a", ledger.MaxWorkspace+1): 400,
	} {
		g := d.raw(t, d.modernCall(path, "1", "test_whoami", `{}`, ""))
		if word := map[int]string{404: "not_found", 400: "invalid"}[want]; g.StatusCode != want || g.code() != word {
			t.Errorf("%s: got %d %s", path, g.StatusCode, g.body)
		}
	}
}

// TestHTTPEras holds raw requests of both eras against what the protocol asks for.
func TestHTTPEras(t *testing.T) {
	d := newDoor(t, nil)
	session := d.initialize(t, "/mcp")

	legacy := func(body string, extra ...string) got {
		return d.raw(t, d.request("POST", "/mcp", body, append(fields{asAgent, sendsJSON, takesBoth}, extra...)...))
	}
	in := "Mcp-Session-Id: " + session
	for name, tc := range map[string]struct {
		got    got
		status int
		code   string
	}{
		"no session":          {legacy(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), 400, "invalid"},
		"unknown session":     {legacy(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id: x"), 404, "not_found"},
		"in session":          {legacy(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, in), 200, "<nil>"},
		"ping":                {legacy(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, in), 200, "<nil>"},
		"notification":        {legacy(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, in), 202, "<nil>"},
		"answer to a ping":    {legacy(`{"jsonrpc":"2.0","id":7,"result":{}}`, in), 202, "<nil>"},
		"unknown method":      {legacy(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, in), 200, "-32601"},
		"unknown version":     {legacy(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, in, "MCP-Protocol-Version: 1999-01-01"), 400, "invalid"},
		"not JSON":            {legacy(`{"jsonrpc":`, in), 400, "-32700"},
		"empty":               {legacy("", in), 400, "-32700"},
		"blank":               {legacy(" \r\n ", in), 400, "-32700"},
		"batch":               {legacy(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, in), 400, "-32600"},
		"twice":               {legacy(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, in), 400, "-32600"},
		"no method":           {legacy(`{"jsonrpc":"2.0","id":1,"method":""}`, in), 400, "-32600"},
		"endless id":          {legacy(`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, in), 400, "-32600"},
		"other charset":       {d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, asAgent, sendsJSON+"; charset=utf-16", in)), 415, "invalid"},
		"its own charset":     {d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, asAgent, sendsJSON+"; charset=UTF-8", takesBoth, in)), 200, "<nil>"},
		"object id":           {legacy(`{"jsonrpc":"2.0","id":{},"method":"ping"}`, in), 400, "-32600"},
		"a line of Steward's": {legacy(`{"steward":1,"stop":{"pid":1}}`, in), 400, "-32600"},
		"pretty":              {legacy("\r\n{\r\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1,\r\n \"method\": \"ping\"\r\n}\r\n", in), 200, "<nil>"},
		"other type":          {d.raw(t, d.request("POST", "/mcp", "{}", asAgent, "Content-Type: text/plain", in)), 415, "invalid"},
		"modern, no header":   {d.raw(t, strings.Replace(d.modernCall("/mcp", "1", "test_echo", `{}`, ""), modernOnes+"\r\n", "", 1)), 400, "-32020"},
		"modern, other name":  {d.raw(t, strings.Replace(d.modernCall("/mcp", "1", "test_echo", `{}`, ""), "Mcp-Name: test_echo", "Mcp-Name: x", 1)), 400, "-32020"},
		"modern, no caps":     {d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, asAgent, sendsJSON, modernOnes, "Mcp-Method: tools/list")), 400, "-32602"},
		"modern GET":          {d.raw(t, d.request("GET", "/mcp", "", asAgent, modernOnes, "Accept: text/event-stream")), 405, "invalid"},
		"modern DELETE":       {d.raw(t, d.request("DELETE", "/mcp", "", asAgent, modernOnes)), 405, "invalid"},
		"GET, no session":     {d.raw(t, d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream")), 400, "invalid"},
		"GET, no events":      {d.raw(t, d.request("GET", "/mcp", "", asAgent, "Accept: text/html", in)), 405, "invalid"},
		"GET, other session":  {d.raw(t, d.request("GET", "/mcp", "", asAgent, "Accept: text/event-stream", "Mcp-Session-Id: x")), 404, "not_found"},
	} {
		if tc.got.StatusCode != tc.status || tc.got.code() != tc.code || tc.status == 405 && !strings.Contains(tc.got.Header.Get("Allow"), "POST") {
			t.Errorf("%s: got %d %s; want %d %s", name, tc.got.StatusCode, tc.got.body, tc.status, tc.code)
		}
	}

	if g := d.raw(t, d.request("DELETE", "/mcp", "", asAgent, in)); g.StatusCode != 200 || d.http.Sessions() != 0 {
		t.Errorf("DELETE: %s, %d sessions", g.Status, d.http.Sessions())
	}
	if g := legacy(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, in); g.StatusCode != 404 {
		t.Errorf("an ended session: %s", g.Status)
	}
}

// TestHTTPAnswers: results and errors are worded as on the socket, with the id
// as it came.
func TestHTTPAnswers(t *testing.T) {
	d := newDoor(t, nil)
	session := d.initialize(t, "/mcp")
	owners := d.initializeAs(t, "/mcp", asOwner)
	for name, call := range map[string]func(id, tool, args string) string{
		"legacy": func(id, tool, args string) string { return d.legacyCall(session, "/mcp", id, tool, args) },
		"modern": func(id, tool, args string) string { return d.modernCall("/mcp", id, tool, args, "") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, id := range []string{"9007199254740993", `"a\u00e9<"`, "1e3", "-0.5"} {
				if m := d.raw(t, call(id, "test_echo", `{"text":"hi"}`)).one(t); string(m.ID) != id || m.Result == nil || m.Result.Content[0].Text != `{"text":"hi"}` || string(m.Result.Structured) != `{"text":"hi"}` {
					t.Errorf("id %s: %s %+v", id, m.ID, m)
				}
			}
			for word, code := range map[string]int{"unavailable": codeUnavailable, "version": codeVersion, "corrupt": codeCorrupt, "panic": codeInternal, "secret": codeInternal} {
				g := d.raw(t, call("1", "test_fail", fmt.Sprintf(`{"text":%q}`, word)))
				m := g.one(t)
				if m.Error == nil || m.Error.Code != code || m.Error.Data.Code == "" || strings.Contains(g.body, "secret") || g.StatusCode != 200 {
					t.Errorf("%s: %s", word, g.body)
				}
			}
			g := d.raw(t, call("1", "report_done", `{"actor":"a","actor":"b"}`))
			if m := g.one(t); m.Result == nil || !m.Result.IsError || !strings.Contains(g.body, `"code":"invalid"`) {
				t.Errorf("twice: %s", g.body)
			}
			for args, words := range map[string]string{
				`{"actor":"a","metrics":{"n":1e999}}`: `n: a finite number; got 1e999`,
				`"text"`:                              `got a string`,
				`{"actor":"a","Actor":"b"}`:           `Actor: no such field`,
			} {
				g = d.raw(t, call("1", "report_done", args))
				if m := g.one(t); m.Result == nil || !m.Result.IsError || !strings.Contains(g.body, `"code":"invalid"`) || !strings.Contains(g.body, words) {
					t.Errorf("%s: %s", args, g.body)
				}
			}
			g = d.raw(t, call("1", "no_such", `{}`))
			if m := g.one(t); m.Error == nil || m.Error.Code != codeInvalidParams || m.Error.Data.Code != "not_found" {
				t.Errorf("no such tool: %s", g.body)
			}
			// What a person decides is not offered on /mcp, whatever the token.
			for _, token := range []string{agentSecret, ownerSecret} {
				request := call("1", "handoff_settle", `{"handoff_id":"hnd_X","status":"done"}`)
				if token == ownerSecret {
					request = strings.NewReplacer(agentSecret, token, session, owners).Replace(request)
				}
				g = d.raw(t, request)
				if m := g.one(t); m.Result == nil || !m.Result.IsError || g.StatusCode != 200 || !strings.Contains(g.body, `"code":"forbidden"`) {
					t.Errorf("a decision: %s", g.body)
				}
			}
		})
	}
	if len(d.events(t)) != 0 {
		t.Error("something was kept")
	}
}

// TestHTTPOwnerIsAnAgentToo: the owner token on /mcp makes no person.
func TestHTTPOwnerIsAnAgentToo(t *testing.T) {
	d := newDoor(t, nil)
	g := d.raw(t, strings.Replace(d.modernCall("/mcp/x", "1", "report_done", `{"actor":"me"}`, ""), agentSecret, ownerSecret, 1))
	if m := g.one(t); m.Result == nil || m.Result.IsError {
		t.Fatal(g.body)
	}
	if e := d.events(t)[0]; e.Source != ledger.Claimed {
		t.Errorf("%+v", e)
	}
}

// TestHTTPLastNotification: the last notification before a result arrives. The
// library's own way of sending them loses it in a third of these runs.
func TestHTTPLastNotification(t *testing.T) {
	d := newDoor(t, nil)
	session := d.initialize(t, "/mcp")
	for run := range 30 {
		call := d.modernCall("/mcp", "7", "test_burst", `{"text":"x"}`, `,"progressToken":"p\n9"`)
		if run%2 == 1 {
			call = d.request("POST", "/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"test_burst","arguments":{"text":"x"},"_meta":{"progressToken":"p\n9"}}}`,
				asAgent, sendsJSON, takesBoth, "Mcp-Session-Id: "+session)
		}
		m := d.raw(t, call).messages(t)
		if len(m) != 11 || m[10].Result == nil || string(m[10].ID) != "7" {
			t.Fatalf("run %d: %d messages, %+v", run, len(m), m)
		}
		for i, n := range m[:10] {
			var p struct {
				ProgressToken string
				Progress      float64
				Total         float64
				Message       string
			}
			if err := json.Unmarshal(n.Params, &p); err != nil || n.Method != "notifications/progress" || p.ProgressToken != "p\n9" || p.Progress != float64(i+1) || p.Total != 10 || p.Message != "x" {
				t.Fatalf("run %d: notification %d: %s %v", run, i, n.Params, err)
			}
		}
	}
}

// TestHTTPCancelled: a notification cancels a request of its own session; in the
// newer era, in which ids of different clients meet, it cancels nothing.
func TestHTTPCancelled(t *testing.T) {
	d := newDoor(t, nil)
	one, other := d.initialize(t, "/mcp"), d.initialize(t, "/mcp")
	cancel := func(extra ...string) {
		t.Helper()
		g := d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			append(fields{asAgent, sendsJSON, takesBoth}, extra...)...))
		if g.StatusCode != 202 {
			t.Errorf("%v: %s %s", extra, g.Status, g.body)
		}
	}
	begin := func(call string) *wire {
		c := d.connect(t)
		c.send(call)
		<-d.gate.entered
		return c
	}
	modern := begin(d.modernCall("/mcp", "1", "test_hold", `{"text":"modern"}`, ""))
	legacy := begin(d.legacyCall(one, "/mcp", "1", "test_hold", `{"text":"legacy"}`))
	cancel(modernOnes, "Mcp-Method: notifications/cancelled")
	g := d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, asAgent, sendsJSON, "Mcp-Session-Id: "+other))
	if g.StatusCode != 202 {
		t.Error(g.Status)
	}
	mine := begin(d.legacyCall(other, "/mcp", "1", "test_hold", `{"text":"mine"}`))
	d.raw(t, d.request("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, asAgent, sendsJSON, "Mcp-Session-Id: "+other))
	if g := mine.response("POST"); g.one(t).Error == nil {
		t.Errorf("not cancelled: %s", g.body)
	}
	d.gate.release()
	for want, c := range map[string]*wire{"modern": modern, "legacy": legacy} {
		if g := c.response("POST"); !strings.Contains(g.body, want) || g.one(t).Result == nil {
			t.Errorf("%s: %s", want, g.body)
		}
	}
}

// TestHTTPAccept: a client that takes no events gets one message.
func TestHTTPAccept(t *testing.T) {
	d := newDoor(t, nil)
	for accept, events := range map[string]bool{
		"":                                  true,
		"Accept: */*":                       true,
		"Accept: text/*;q=0.5":              true,
		takesBoth:                           true,
		"Accept: application/json":          false,
		"Accept: text/event-stream;q=0,a/b": false,
		"Accept: application/json\r\nAccept: text/event-stream": true,
	} {
		call := strings.Replace(d.modernCall("/mcp", "1", "test_burst", `{"text":"x"}`, `,"progressToken":1`), takesBoth+"\r\n", accept+"\r\n", 1)
		if accept == "" {
			call = strings.Replace(call, "\r\n\r\n", "\r\n", 1)
		}
		g := d.raw(t, call)
		if n := len(g.messages(t)); g.StatusCode != 200 || events != (n == 11) || !events && n != 1 {
			t.Errorf("%q: %s, %d messages", accept, g.Status, n)
		}
	}
}

// TestHTTPSoak: 64 clients of both eras at once, each on a stream of its own;
// nobody sees another's answers and every receipt is kept once.
func TestHTTPSoak(t *testing.T) {
	d := newDoor(t, nil)
	const clients, calls = 64, 6
	var wg sync.WaitGroup
	for i := range clients {
		opts := eras["legacy"]
		if i%2 == 1 {
			opts = eras["modern"]
		}
		wg.Go(func() {
			c := d.connectClient(t, fmt.Sprintf("/mcp/s%d", i), opts...)
			for n := range calls {
				say := fmt.Sprintf("%d of %d", n, i)
				if res := callTool(t, c, "test_echo", map[string]any{"text": say}); !strings.Contains(res.Content[0].(mcp.TextContent).Text, say) {
					t.Errorf("client %d: %v", i, res.Content)
				}
				if res := callTool(t, c, "report_done", map[string]any{"actor": say}); res.IsError {
					t.Errorf("client %d: %v", i, res.Content)
				}
			}
		})
	}
	wg.Wait()
	per := make(map[string]int)
	for _, e := range d.events(t) {
		if !strings.HasSuffix(e.Actor, "of "+strings.TrimPrefix(e.Workspace, "s")) {
			t.Errorf("%s in %s", e.Actor, e.Workspace)
		}
		per[e.Workspace]++
	}
	if len(per) != clients {
		t.Errorf("%d workspaces", len(per))
	}
	for w, n := range per {
		if n != calls {
			t.Errorf("%s: %d receipts", w, n)
		}
	}
	eventually(t, "the door to be quiet", func() bool { return d.http.Active() == 0 })
}

// TestHTTPMount: what is mounted is behind the same guard, and told who came.
func TestHTTPMount(t *testing.T) {
	d := newDoor(t, nil)
	d.http.Mount("/api/", TokenOwner, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/panic":
			panic("secret")
		case "/api/half":
			fmt.Fprint(w, "half")
			panic("secret")
		case "/api/abort":
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, TokenOf(r.Context()))
	}))
	if g := d.raw(t, d.request("GET", "/api/x", "", asOwner)); g.body != "owner" {
		t.Errorf("got %s %q", g.Status, g.body)
	}
	if g := d.raw(t, d.request("GET", "/api/panic", "", asOwner)); g.StatusCode != 500 || g.code() != "internal" || strings.Contains(g.body, "secret") {
		t.Errorf("a panic: %s %q", g.Status, g.body)
	}
	for _, path := range []string{"/api/half", "/api/abort"} {
		c := d.connect(t)
		c.send(d.request("GET", path, "", asOwner))
		c.ended()
	}
	defer func() {
		if recover() == nil {
			t.Error("mounted twice")
		}
	}()
	d.http.Mount("/api/", TokenNone, http.NotFoundHandler())
}

func TestNotifyOutsideOfARequest(t *testing.T) {
	if err := Notify(context.Background(), "notifications/message", nil); err == nil {
		t.Error("sent to nobody")
	}
}

//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// queue is a running service with something to decide.
type queue struct {
	*house
	address                   string
	ticket, answered, handoff string
	failure                   int64
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	q := &queue{house: newHouse(t), address: free(t)}
	p := q.start(q.command(thisVersion, "serve", "--listen", q.address))
	p.says("HTTP is on")
	call := func(tool, args string) (id string) {
		var out struct {
			ID      string              `json:"id"`
			EventID int64               `json:"event_id"`
			Handoff struct{ ID string } `json:"handoff"`
		}
		if err := json.Unmarshal([]byte(q.ok("call", tool, args, "--json")), &out); err != nil {
			t.Fatal(err)
		}
		q.failure = max(q.failure, out.EventID)
		return out.ID + out.Handoff.ID
	}
	call("report_done", `{"actor":"ada","type":"failed","object_id":"build"}`)
	q.ticket = call("ask_human", `{"question":"Go?","options":["Yes","No"],"stream":"lane"}`)
	q.answered = call("ask_human", `{"question":"Stay?","stream":"lane"}`)
	q.handoff = call("handoff_create", `{"target":"studio","instruction":"mix","idempotency_key":"k"}`)
	call("handoff_claim", `{"handoff_id":"`+q.handoff+`","worker_session_id":"w"}`)
	if status, body := q.post("/api/answer", q.secret("token"), `{"id":"`+q.answered+`","answer":"Yes"}`); status != http.StatusOK {
		t.Fatalf("the person's own answer: %d %s", status, body)
	}
	return q
}

// personOnly are the operations that no agent and no command may call.
func personOnly() (all []ops.Op) {
	for _, o := range ops.All() {
		if o.Person {
			all = append(all, o)
		}
	}
	return all
}

// arguments are such that they would do something: each property that is
// required, made of what there is.
func (q *queue) arguments(o ops.Op) string {
	q.t.Helper()
	var schema struct {
		Required   []string
		Properties map[string]struct {
			Type string
			Enum []string
		}
	}
	if err := json.Unmarshal(o.In.JSON(), &schema); err != nil {
		q.t.Fatal(err)
	}
	known := map[string]any{"id": q.ticket, "handoff_id": q.handoff, "event_id": q.failure, "through_id": q.failure, "answer": "Yes", "index": 0}
	if o.Name == "ticket_undo" {
		known["id"] = q.answered
	}
	args := make(map[string]any)
	if len(schema.Required) == 0 { // at least one of them
		schema.Required = slices.Sorted(maps.Keys(schema.Properties))
	}
	for _, name := range schema.Required {
		p := schema.Properties[name]
		switch v, ok := known[name]; {
		case ok:
			args[name] = v
		case len(p.Enum) > 0:
			args[name] = p.Enum[0]
		case p.Type == "string":
			args[name] = "x"
		case p.Type == "boolean":
			args[name] = true
		case p.Type == "object":
			args[name] = map[string]any{}
		case p.Type == "array":
			args[name] = []any{}
		default:
			args[name] = 1
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		q.t.Fatal(err)
	}
	return string(b)
}

func (q *queue) post(path, token, body string, header ...string) (int, string) {
	q.t.Helper()
	r, err := http.NewRequestWithContext(q.t.Context(), http.MethodPost, "http://"+q.address+path, strings.NewReader(body))
	if err != nil {
		q.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		q.t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(a.Body)
	if err != nil {
		q.t.Fatal(err)
	}
	if id := a.Header.Get("Mcp-Session-Id"); id != "" {
		return a.StatusCode, id
	}
	return a.StatusCode, string(b)
}

// over calls a tool at /mcp, in the newer era without a session and in the older
// one with it. It returns what was said.
func (q *queue) over(path, token, tool, args string, older bool) string {
	q.t.Helper()
	common := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	if older {
		_, session := q.post(path, token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}`, common...)
		_, said := q.post(path, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args), append(common, "Mcp-Session-Id", session)...)
		return said
	}
	_, said := q.post(path, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+modernMeta+`}}`, tool, args),
		append(common, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)...)
	return said
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"w","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// socket says hello in a role and calls one tool past every client of ours.
func (q *queue) socket(hello local.Hello, tool, args string) string {
	q.t.Helper()
	c, err := local.Dial(q.t.Context(), q.paths().Socket)
	if err != nil {
		q.t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the test is over with it
	_ = c.SetDeadline(time.Now().Add(patience))
	hello.ID, hello.Tools = local.NewID(), local.Digest()
	first, err := json.Marshal(map[string]any{"steward": 1, "hello": hello})
	if err != nil {
		q.t.Fatal(err)
	}
	if _, err := c.Write(append(first, '\n')); err != nil {
		q.t.Fatal(err)
	}
	r := bufio.NewReader(c)
	welcome, err := r.ReadString('\n')
	if err != nil || !strings.Contains(welcome, `"serving"`) {
		return welcome
	}
	if _, err := fmt.Fprintf(c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", tool, args); err != nil {
		q.t.Fatal(err)
	}
	said, err := r.ReadString('\n')
	if err != nil {
		q.t.Fatal(err)
	}
	return said
}

// Nothing that only a person may do can be done over MCP, by whatever way and
// with whatever token, nor by the agents' token anywhere, nor in the shell. What
// is tried is the list of operations itself: a new one is tried by itself.
func TestNoAgentDecides(t *testing.T) {
	q := newQueue(t)
	owner, agent := q.secret("token"), q.secret("agent-token")
	bridge := q.bridge()
	before := q.ok("export")

	// says tells whether a refusal says that it is not for this caller.
	says := func(said string) bool {
		return strings.Contains(said, "only a person") || strings.Contains(said, "not offered in the shell")
	}
	ways := map[string]func(tool, args string) string{
		"a bridge": func(tool, args string) string {
			said, err := bridge.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
			return string(said) + fmt.Sprint(err)
		},
		"a bridge, newer era": func(tool, args string) string {
			said, err := bridge.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,`+modernMeta+`}`, tool, args))
			return string(said) + fmt.Sprint(err)
		},
		"the socket as a bridge": func(tool, args string) string { return q.socket(local.Hello{Role: local.RoleBridge}, tool, args) },
		"the socket as a bridge that brings the owner's token": func(tool, args string) string {
			return q.socket(local.Hello{Role: local.RoleBridge, Proof: owner}, tool, args)
		},
		"the socket as the shell": func(tool, args string) string {
			return q.socket(local.Hello{Role: local.RoleShell, Proof: owner}, tool, args)
		},
		"the socket as a window with the agents' token": func(tool, args string) string {
			return q.socket(local.Hello{Role: local.RoleWindow, Proof: agent}, tool, args)
		},
		"the socket as a window without proof": func(tool, args string) string { return q.socket(local.Hello{Role: local.RoleWindow}, tool, args) },
		"the socket in a role of its own":      func(tool, args string) string { return q.socket(local.Hello{Role: "person", Proof: owner}, tool, args) },
		"the shell": func(tool, args string) string {
			a := q.run("call", tool, args)
			if a.code != 5 {
				t.Errorf("steward call %s: exit %d, want 5", tool, a.code)
			}
			return a.out + a.err
		},
		"/api/call, agents' token": func(tool, args string) string { return refused(t, q, "/api/call/"+tool, agent, args, 403) },
		"/api/call, no token":      func(tool, args string) string { return refused(t, q, "/api/call/"+tool, "", args, 401) },
	}
	for _, path := range []string{"/mcp", "/mcp/lane"} {
		for who, token := range map[string]string{"owner's": owner, "agents'": agent} {
			for era, older := range map[string]bool{"older": true, "newer": false} {
				ways[fmt.Sprintf("%s, %s token, %s era", path, who, era)] = func(tool, args string) string { return q.over(path, token, tool, args, older) }
			}
		}
	}
	window := map[string]bool{"the socket as a window with the agents' token": true, "the socket as a window without proof": true, "the socket in a role of its own": true}
	all := personOnly()
	if len(all) < 8 {
		t.Fatalf("%d operations are for a person alone; that is too few to be all", len(all))
	}
	for _, o := range all {
		args := q.arguments(o)
		for way, call := range ways {
			said := call(o.Name, args)
			switch {
			case window[way]:
				if !strings.Contains(said, `"refused"`) {
					t.Errorf("%s by %s: %s", o.Name, way, said)
				}
			case strings.HasPrefix(way, "/api/"):
			case !says(said):
				t.Errorf("%s by %s: %s", o.Name, way, said)
			}
		}
	}
	for path, args := range map[string]string{"/api/answer": `{"id":"` + q.ticket + `","answer":"Yes"}`, "/api/undo": `{"id":"` + q.answered + `"}`} {
		refused(t, q, path, agent, args, 403)
		refused(t, q, path, "", args, 401)
	}
	if after := q.ok("export"); after != before {
		t.Errorf("something was done:\n%s", strings.TrimPrefix(after, before))
	}

	// None is in any list of tools.
	lists := []string{q.listed("/mcp", owner), q.listed("/mcp", agent)}
	if raw, err := bridge.ask("tools/list", `{}`); err == nil {
		lists = append(lists, string(raw))
	}
	for _, o := range all {
		for _, list := range lists {
			if !strings.Contains(list, `"ask_human"`) || strings.Contains(list, `"`+o.Name+`"`) {
				t.Errorf("%s is a tool, or the list is none: %.200s", o.Name, list)
			}
		}
	}

	// And the same arguments do it, where a person asks.
	var blunt []string
	for _, o := range all {
		if o.Surfaces&ops.Web == 0 {
			continue
		}
		if status, body := q.post("/api/call/"+o.Name, owner, q.arguments(o)); status == 400 || status == 401 || status == 403 {
			blunt = append(blunt, fmt.Sprintf("%s %s: %d %s", o.Name, q.arguments(o), status, body))
		}
	}
	if len(blunt) > 0 {
		t.Errorf("the arguments would not have done anything:\n%s", strings.Join(blunt, "\n"))
	}
	if q.ok("export") == before {
		t.Error("a person can do nothing either")
	}
	bridge.close()
}

// refused posts and wants that status.
func refused(t *testing.T, q *queue, path, token, args string, want int) string {
	t.Helper()
	status, said := q.post(path, token, args)
	if status != want {
		t.Errorf("%s %s: %d %s; want %d", path, args, status, said, want)
	}
	return said
}

// listed is what /mcp says it offers.
func (q *queue) listed(path, token string) string {
	q.t.Helper()
	_, said := q.post(path, token, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	return said
}

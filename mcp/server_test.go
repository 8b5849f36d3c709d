package mcp

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// backend is a Backend of one function.
type backend func(ctx context.Context, c ops.Caller, name string, args json.RawMessage) (ops.Result, error)

func (b backend) Call(ctx context.Context, c ops.Caller, name string, args json.RawMessage) (ops.Result, error) {
	return b(ctx, c, name, args)
}

func (backend) Ops() []ops.Op { return []ops.Op{echo()} }

// servingBackend is a fixture whose operations are b.
func servingBackend(t testing.TB, b backend) *fixture {
	f := newFixture(t, nil)
	f.server = NewServer("1.2.3", b, f.socket.log)
	f.socket.Ready(f.server)
	return f
}

func TestToolsList(t *testing.T) {
	f := newFixture(t, nil)
	set := ops.NewSet(&ops.Env{}, ops.All()...)
	f.socket.Ready(NewServer("1.2.3", set, nil))
	c := f.hello(t, local.Hello{})
	for _, params := range []string{`{}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`)
		line := c.next()
		if most := 12 << 10; len(line) > most {
			t.Errorf("tools/list: at most %d bytes; got %d", most, len(line))
		}
		var got struct {
			Result struct{ Tools any }
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		// What the bridge answers from its embedded file is made of the same list.
		var want struct{ Tools any }
		if err := json.Unmarshal(ops.Definitions(set.Ops()), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Result.Tools, want.Tools) {
			t.Errorf("tools/list\n got %v\nwant %v", got.Result.Tools, want.Tools)
		}
	}
}

// TestLibraryAgrees holds the short way of a call against the library's.
func TestLibraryAgrees(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{ID: "b", Stream: "api"})
	for _, tc := range []struct{ name, tool, args string }{
		{"result", "test_echo", `{"text":"<é> \u2028 \"\\ \n"}`},
		{"no arguments", "recent_events", `{}`},
		{"tool error", "report_done", `{"actor":5}`},
		{"protocol error", "test_fail", `{"text":"unavailable"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			line := call(1, tc.tool, tc.args)
			c.send(line)
			short := c.next()

			x := &exchange{caller: ops.Caller{Surface: ops.Agent, Session: "b", Workspace: "api", Stream: "api"}}
			ctx := context.WithValue(t.Context(), exchangeKey{}, x)
			long := f.server.library.HandleMessage(ctx, json.RawMessage(line))
			if e, ok := long.(mcp.JSONRPCError); ok && x.failed != nil {
				if got := strings.TrimSuffix(string(f.server.refuse([]byte("1"), x.failed)), "\n"); got != short {
					t.Errorf("\n got %s\nwant %s", got, short)
				}
				if !strings.Contains(short, e.Error.Message) {
					t.Errorf("the library says %q", e.Error.Message)
				}
				return
			}
			b, err := json.Marshal(long)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if json.Unmarshal(b, &got) != nil || json.Unmarshal([]byte(short), &want) != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %s\nwant %s", b, short)
			}
		})
	}
	if _, err := f.server.handle(t.Context(), mcp.CallToolRequest{}); err == nil {
		t.Error("a call without a caller was answered")
	}
}

func TestInternalErrorsKeepTheirText(t *testing.T) {
	f := serving(t)
	c := f.hello(t, local.Hello{})
	for _, text := range []string{"panic", "something"} {
		c.send(call(1, "test_fail", `{"text":"`+text+`"}`))
		line := c.next()
		var r response
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Error == nil || r.Error.Code != codeInternal || r.Error.Data.Code != "internal" || r.Error.Data.ID == "" {
			t.Fatalf("%s: got %s", text, line)
		}
		if strings.Contains(line, "secret") {
			t.Errorf("%s: the answer tells the cause: %s", text, line)
		}
		if log := f.logged(); !strings.Contains(log, r.Error.Data.ID) || !strings.Contains(log, "secret") {
			t.Errorf("%s: the log does not have the cause under %s: %s", text, r.Error.Data.ID, log)
		}
	}
}

func TestBackendPanics(t *testing.T) {
	f := servingBackend(t, func(context.Context, ops.Caller, string, json.RawMessage) (ops.Result, error) { panic("secret") })
	c := f.hello(t, local.Hello{})
	c.send(call(1, "test_echo", `{}`))
	r := c.answer()
	if r.Error == nil || r.Error.Code != codeInternal || r.Error.Data.ID == "" || strings.Contains(r.Error.Message, "secret") {
		t.Fatalf("got %+v", r)
	}
	if log := f.logged(); !strings.Contains(log, r.Error.Data.ID) || !strings.Contains(log, "secret") {
		t.Errorf("the log does not have the cause: %s", log)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if r := c.answer(); string(r.ID) != "2" {
		t.Errorf("the connection does not go on: %+v", r)
	}
}

// TestArgumentsStayBytes sees that what reaches the operation is what was sent.
func TestArgumentsStayBytes(t *testing.T) {
	var got string
	var caller ops.Caller
	f := servingBackend(t, func(_ context.Context, c ops.Caller, _ string, args json.RawMessage) (ops.Result, error) {
		got, caller = string(args), c
		return ops.Result{JSON: []byte(`{}`), Text: "{}"}, nil
	})
	c := f.hello(t, local.Hello{ID: "b", Stream: "api", Client: "codex 0.50"})
	for _, tc := range []struct{ params, want string }{
		{`"arguments":{ "b":1.0, "a":[ 1e400,9007199254740993 ],"b":2 }`, `{ "b":1.0, "a":[ 1e400,9007199254740993 ],"b":2 }`},
		{`"arguments":null`, ``},
		{`"arguments":[]`, `[]`},
		{`"other":{}`, ``},
	} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo",` + tc.params + `}}`)
		if c.answer(); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.params, got, tc.want)
		}
	}
	if caller.Surface != ops.Agent || caller.Person || caller.Session != "b" || caller.Workspace != "api" ||
		caller.Stream != "api" || caller.Client != "codex 0.50" || caller.Stamp != nil || caller.Progress != nil {
		t.Errorf("caller %+v", caller)
	}
}

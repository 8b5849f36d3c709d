package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// unreachable is the configuration of a bridge that must not look for a
// service.
func unreachable(t *testing.T) BridgeConfig {
	return BridgeConfig{
		Hello: Hello{Version: "1.2.3"},
		Dial: func(context.Context, string) (net.Conn, error) {
			t.Error("the bridge dialled")
			return nil, errors.New("no")
		},
		Spawn: func() error { t.Error("the bridge started a service"); return nil },
	}
}

// converse gives a bridge its whole input and returns its whole output.
func converse(t *testing.T, cfg BridgeConfig, in string) []string {
	t.Helper()
	var out bytes.Buffer
	cfg.In, cfg.Out = strings.NewReader(in), &out
	if err := RunBridge(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

const eraParams = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestLocalAnswers(t *testing.T) {
	server := `{"name":"steward","title":"Steward","version":"1.2.3"}`
	meta := `"_meta":{"io.modelcontextprotocol/serverInfo":` + server + `},"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	instructions := string(quote(Instructions))
	tools := strings.TrimSuffix(strings.TrimPrefix(string(compactDefinitions()), "{"), "}")
	initialized := func(version string) string {
		return `{"protocolVersion":"` + version + `","capabilities":{"tools":{}},"serverInfo":` + server + `,"instructions":` + instructions + `}`
	}
	for _, c := range []struct{ name, method, params, want string }{
		{"initialize", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, initialized("2025-06-18")},
		{"the oldest", "initialize", `{"protocolVersion":"2024-11-05"}`, initialized("2024-11-05")},
		{"one between", "initialize", `{"protocolVersion":"2025-03-26"}`, initialized("2025-03-26")},
		{"the newest with a handshake", "initialize", `{"protocolVersion":"2025-11-25"}`, initialized("2025-11-25")},
		{"one without a handshake", "initialize", `{"protocolVersion":"2026-07-28"}`, initialized("2025-11-25")},
		{"an unknown one", "initialize", `{"protocolVersion":"1999-01-01"}`, initialized("2025-11-25")},
		{"none", "initialize", `{}`, initialized("2025-11-25")},
		{"ping", "ping", ``, `{}`},
		{"list", "tools/list", ``, `{` + tools + `}`},
		{"list with null", "tools/list", `{"cursor":null}`, `{` + tools + `}`},
		{"list, stateless", "tools/list", `{` + eraParams + `}`, `{` + meta + tools + `}`},
		{"discover", "server/discover", `{` + eraParams + `}`, `{` + meta + `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}},"instructions":` + instructions + `}`},
	} {
		params := ""
		if c.params != "" {
			params = `,"params":` + c.params
		}
		got := converse(t, unreachable(t), `{"jsonrpc":"2.0","id":1,"method":"`+c.method+`"`+params+`}`)
		if want := `{"jsonrpc":"2.0","id":1,"result":` + c.want + `}`; len(got) != 1 || got[0] != want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, want)
		}
	}
}

func TestLocalRefusals(t *testing.T) {
	for _, c := range []struct {
		method, params string
		code           int
		data           string
	}{
		{"server/discover", `{}`, codeNoMethod, ""},
		{"initialize", `{` + eraParams + `}`, codeNoMethod, ""},
		{"ping", `{` + eraParams + `}`, codeNoMethod, ""},
		{"tools/list", `{"cursor":"2"}`, codeParams, ""},
		{"server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, codeParams, ""},
		{"tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}`, codeParams, ""},
		{"server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`, codeUnsupported,
			`{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2030-01-01"}`},
	} {
		got := converse(t, unreachable(t), `{"jsonrpc":"2.0","id":"x","method":"`+c.method+`","params":`+c.params+`}`)
		var r struct {
			ID    string
			Error struct {
				Code int
				Data json.RawMessage
			}
		}
		if len(got) != 1 || json.Unmarshal([]byte(got[0]), &r) != nil || r.ID != "x" || r.Error.Code != c.code || string(r.Error.Data) != c.data {
			t.Errorf("%s %s: got %s", c.method, c.params, got)
		}
	}
}

// One conversation with everything that can be wrong with a line. The lines
// after a bad one are answered as ever.
func TestMalformedLines(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}`
	long := strings.Repeat("x", MaxMessage+1)
	atLimit := ping + strings.Repeat(" ", MaxMessage-len(ping))
	got := converse(t, unreachable(t), strings.Join([]string{
		ping + "\r", "", "\r", "   ",
		"{oops", ping,
		"[" + ping + "]", ping,
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, ping,
		long, ping,
		atLimit, atLimit + "\r", atLimit + " ",
		`{"jsonrpc":"2.0","id":4,"result":{}}`,
		`{"jsonrpc":"2.0","method":5,"params":1}`,
		`{"jsonrpc":"2.0","method":"notifications/none","params":1}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}`,
		`{"steward":1,"stop":{}}`,
		ping, // without a line feed
	}, "\n"))
	bad := func(code int) string {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":` + map[int]string{codeParse: "-32700", codeInvalid: "-32600"}[code] + `,`
	}
	want := []string{
		pong,
		bad(codeParse), pong,
		bad(codeInvalid), pong,
		bad(codeInvalid), pong,
		bad(codeInvalid), pong,
		pong, pong, bad(codeInvalid),
		bad(codeInvalid), // method 5
		bad(codeInvalid), // a line of Steward's
		pong,
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("answer %d: %s; want %s…", i, got[i], want[i])
		}
	}
}

type brokenWriter struct{ n int }

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func TestBridgeEndsWhenNobodyReads(t *testing.T) {
	cfg := unreachable(t)
	in, w := io.Pipe()
	defer w.Close()
	cfg.In, cfg.Out = in, &brokenWriter{n: 1}
	go io.WriteString(w, strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", 2))
	if err := RunBridge(t.Context(), cfg); err != nil {
		t.Error(err)
	}
}

func TestBridgeReportsAReadError(t *testing.T) {
	cfg := unreachable(t)
	broken := errors.New("broken")
	cfg.In, cfg.Out = io.MultiReader(strings.NewReader("\n"), errReader{broken}), io.Discard
	if err := RunBridge(t.Context(), cfg); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// The embedded definitions are what the wire and the slots build on.
func TestDefinitions(t *testing.T) {
	var list struct {
		Tools []struct {
			Name        string
			Description string
			InputSchema json.RawMessage
			Annotations map[string]bool
		}
	}
	if err := json.Unmarshal(Definitions(), &list); err != nil {
		t.Fatal(err)
	}
	if b := compactDefinitions(); bytes.ContainsAny(b, "\r\n") || !bytes.HasPrefix(b, []byte(`{"tools":[`)) || len(b) > 12<<10 {
		t.Errorf("definitions of %d bytes begin with %.40s", len(b), b)
	}
	if len(Instructions) > 2048 {
		t.Errorf("instructions have %d bytes; older clients cut them at 2048", len(Instructions))
	}
	if len(Digest()) != 16 {
		t.Errorf("digest %q", Digest())
	}
	appends := map[string]bool{
		"report_done": true, "focus_change": true, "handoff_create": true, "handoff_claim": true, "handoff_finish": true,
		"app_command": false, "recent_events": false, "situation_report": false, "handoff_get": false, "handoff_list": false,
		"wait_for_answer": false, "wait_task": false, "none": false,
	}
	for name, want := range appends {
		if Appends(name) != want {
			t.Errorf("%s appends: %v", name, !want)
		}
	}
	last := ""
	for _, tool := range list.Tools {
		if tool.Name <= last || len(tool.Annotations) != 4 {
			t.Errorf("%s after %q has %d annotations", tool.Name, last, len(tool.Annotations))
		}
		last = tool.Name
	}
}

package local

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		code int // 0: ignored
		id   string
	}{
		"blank":                      {" \t ", 0, ""},
		"no JSON":                    {`{"jsonrpc":`, codeParse, "null"},
		"two values":                 {`{} {}`, codeParse, "null"},
		"too deep":                   {strings.Repeat("[", 20000), codeParse, "null"},
		"a batch":                    {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, codeInvalid, "null"},
		"a string":                   {`"ping"`, codeInvalid, "null"},
		"nothing in it":              {`{}`, codeInvalid, "null"},
		"id alone":                   {`{"jsonrpc":"2.0","id":7}`, codeInvalid, "7"},
		"an object for an id":        {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, codeInvalid, "null"},
		"an array for an id":         {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, codeInvalid, "null"},
		"null for an id":             {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalid, "null"},
		"true for an id":             {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, codeInvalid, "null"},
		"a huge id":                  {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"ping"}`, codeInvalid, "null"},
		"an id that is no UTF-8":     {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", codeInvalid, "null"},
		"a number for a method":      {`{"jsonrpc":"2.0","id":1,"method":5}`, codeInvalid, "1"},
		"no version":                 {`{"id":"a","method":"ping"}`, codeInvalid, `"a"`},
		"another version":            {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, codeInvalid, "1"},
		"two ids":                    {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, codeInvalid, "null"},
		"an id in capitals":          {`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, codeInvalid, "null"},
		"an id in escapes":           {`{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}`, codeInvalid, "null"},
		"a request with a result":    {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, codeInvalid, "1"},
		"a line of Steward's own":    {`{"jsonrpc":"2.0","id":1,"method":"ping","steward":1}`, codeInvalid, "1"},
		"params that are a list":     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, codeParams, "1"},
		"a call without params":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, codeParams, "1"},
		"a call with null":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, codeParams, "1"},
		"a call without a name":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, codeParams, "1"},
		"a call of a number":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, codeParams, "1"},
		"a call of two tools":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`, codeParams, "1"},
		"a call with two arguments":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"Arguments":{}}}`, codeParams, "1"},
		"a stamp of the client's":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"steward/stamp":{}}}}`, codeParams, "1"},
		"the same in escapes":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"steward\/st\u0061mp":{}}}}`, codeParams, "1"},
		"a bad notification":         {`{"jsonrpc":"1.0","method":"notifications/x"}`, 0, ""},
		"a notification with a list": {`{"jsonrpc":"2.0","method":"notifications/x","params":[]}`, 0, ""},
		"a tool call without an id":  {`{"jsonrpc":"2.0","method":"tools/call"}`, 0, ""},
	} {
		m, bad := parse([]byte(c.line))
		switch {
		case m != nil:
			t.Errorf("%s: was taken", name)
		case c.code == 0:
			if bad != nil {
				t.Errorf("%s: was answered with %s", name, bad.line())
			}
		case bad == nil:
			t.Errorf("%s: was ignored", name)
		default:
			var r struct {
				ID    json.RawMessage
				Error struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(bad.line(), &r); err != nil || r.Error.Code != c.code || string(r.ID) != c.id || r.Error.Message == "" {
				t.Errorf("%s: answered with %s; want code %d, id %s", name, bad.line(), c.code, c.id)
			}
		}
	}
}

func TestParseTakes(t *testing.T) {
	for line, want := range map[string]message{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                     {kind: request, id: []byte("9007199254740993"), method: "ping"},
		` { "method" : "a\u0062" , "id" : "x" , "jsonrpc" : "2.0" , "params" : { } }`: {kind: request, id: []byte(`"x"`), method: "ab"},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                      {kind: notification, method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                        {kind: response},
		`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`:                              {kind: response},
		`{"jsonrpc":"2.0","id":-1.5e3,"method":"x","params":null}`:                    {kind: request, id: []byte("-1.5e3"), method: "x"},
	} {
		m, bad := parse([]byte(line))
		if bad != nil {
			t.Errorf("%s: %s", line, bad.text)
			continue
		}
		if m.kind != want.kind || !bytes.Equal(m.id, want.id) || m.method != want.method {
			t.Errorf("%s: kind %d, id %s, method %s", line, m.kind, m.id, m.method)
		}
	}
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"name":"no"},"name":"report_done","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c"}}}}`)
	m, bad := parse(line)
	if bad != nil {
		t.Fatal(bad.text)
	}
	if m.tool != "report_done" || string(m.args.of(line)) != `{"name":"no"}` || !m.progress || !m.modern() || !m.capabilities || string(m.client.of(line)) != `{"name":"c"}` {
		t.Errorf("%+v", m)
	}
}

func TestStamped(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"t"}`:                           `{"_meta":{S},"name":"t"}`,
		`{ "name":"t","arguments":{"b":1 }}`:     `{"_meta":{S}, "name":"t","arguments":{"b":1 }}`,
		`{"name":"t","_meta":{}}`:                `{"name":"t","_meta":{S}}`,
		`{"name":"t","_meta":{ }}`:               `{"name":"t","_meta":{S }}`,
		`{"_meta":{"p":1},"name":"t"}`:           `{"_meta":{S,"p":1},"name":"t"}`,
		`{"name":"t","_meta": null}`:             `{"name":"t","_meta": {S}}`,
		`{"name":"t","_meta":7}`:                 ``,
		`{"arguments":{},"_meta":{},"name":"t"}`: `{"arguments":{},"_meta":{S},"name":"t"}`,
	} {
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + in + `}`)
		m, bad := parse(line)
		if bad != nil {
			t.Fatal(bad.text)
		}
		before := string(m.args.of(line))
		got, args, ok := m.stamped(line, 3, 17)
		if !ok {
			if want != "" {
				t.Errorf("%s: not stamped", in)
			}
			continue
		}
		full := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Replace(want, "S", `"steward/stamp":{"slot":3,"seq":17}`, 1) + `}`
		if string(got) != full {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, full)
		}
		if after := string(args.of(got)); after != before {
			t.Errorf("%s: arguments were %s, are %s", in, before, after)
		}
	}
}

func TestWaitsAreReissuedForTheirTime(t *testing.T) {
	for _, c := range []struct {
		params      string
		total, left time.Duration
		want        string
	}{
		{`{"name":"wait_task"}`, 50 * time.Second, 49500 * time.Millisecond, `{"arguments":{"timeout_ms":49500},"name":"wait_task"}`},
		{`{"name":"wait_task","arguments":{}}`, 50 * time.Second, 3 * time.Second, `{"name":"wait_task","arguments":{"timeout_ms":3000}}`},
		{`{"name":"wait_task","arguments":{"task_id":"a"}}`, 50 * time.Second, -time.Second, `{"name":"wait_task","arguments":{"timeout_ms":0,"task_id":"a"}}`},
		{`{"name":"wait_task","arguments":{"timeout_ms": 20000 ,"task_id":"a"}}`, 20 * time.Second, 19 * time.Second, `{"name":"wait_task","arguments":{"timeout_ms": 19000 ,"task_id":"a"}}`},
		{`{"name":"wait_task","arguments":{"timeout_ms":600000}}`, 50 * time.Second, time.Second, `{"name":"wait_task","arguments":{"timeout_ms":1000}}`},
		{`{"name":"wait_task","_meta":{"progressToken":1},"arguments":{"timeout_ms":600000}}`, 600 * time.Second, 599 * time.Second, `{"name":"wait_task","_meta":{"progressToken":1},"arguments":{"timeout_ms":599000}}`},
		{`{"name":"wait_task","_meta":{"progressToken":1},"arguments":{"timeout_ms":1e30}}`, 600 * time.Second, time.Second, `{"name":"wait_task","_meta":{"progressToken":1},"arguments":{"timeout_ms":1000}}`},
		{`{"name":"wait_for_answer","arguments":{"id":"t","timeout_seconds":30}}`, 30 * time.Second, 29999 * time.Millisecond, `{"name":"wait_for_answer","arguments":{"id":"t","timeout_seconds":29}}`},
		{`{"name":"wait_for_answer","arguments":{"timeout_seconds":"soon"}}`, -1, 0, ""},
		{`{"name":"wait_for_answer","arguments":{"timeout_seconds":-1}}`, -1, 0, ""},
	} {
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + c.params + `}`)
		m, bad := parse(line)
		if bad != nil {
			t.Fatal(bad.text)
		}
		w, ok := waitOf(m.tool)
		if !ok {
			t.Fatalf("%s is no wait", m.tool)
		}
		total, ok := m.patience(line, w)
		if ok != (c.total >= 0) || ok && total != c.total {
			t.Errorf("%s: may take %v, %v", c.params, total, ok)
		}
		if !ok {
			continue
		}
		full := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + c.want + `}`
		if got := m.reissued(line, w, c.left); string(got) != full {
			t.Errorf("%s with %v left:\ngot  %s\nwant %s", c.params, c.left, got, full)
		}
	}
}

func TestAnswered(t *testing.T) {
	for line, want := range map[string]struct {
		id   string
		note bool
	}{
		`{"jsonrpc":"2.0","id":1,"result":{"id":2}}`:                 {"1", false},
		`{"result":{"id":2,"a":"}\\\""},"jsonrpc":"2.0","id":"x"}`:   {`"x"`, false},
		`{"error":{},"id":null}`:                                     {"null", false},
		`{"jsonrpc":"2.0","method":"notifications/progress"}`:        {"", true},
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`: {"", false},
		`{"jsonrpc":"2.0","id":1}`:                                   {"", false},
		`[]`:                                                         {"", false},
		``:                                                           {"", false},
		`{"id`:                                                       {"", false},
		`{"id":1,"result"`:                                           {"", false},
	} {
		id, note := answered([]byte(line))
		if string(id) != want.id || note != want.note {
			t.Errorf("%s: id %s, note %v", line, id, note)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_done","arguments":{"a":"\"}"}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"progressToken":1},"name":"wait_task","arguments":{"timeout_ms":5}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"id":1,"result":{}}`, `[`, "{\"\\ud800\":\xff}", `{"params":{"_meta":null,"name":"a"},"id":1,"method":"tools/call","jsonrpc":"2.0"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		answered(line) // the service's lines are not checked beforehand
		m, bad := parse(line)
		if bad != nil {
			if b := bad.line(); !json.Valid(b) || bytes.IndexByte(b, '\n') != len(b)-1 {
				t.Fatalf("answered with %q", b)
			}
			return
		}
		if m == nil || m.kind != request || m.tool == "" {
			return
		}
		if out, args, ok := m.stamped(line, 31, 1<<63); ok {
			checkSame(t, m, line, out, args)
			again, bad := parse(out)
			if bad == nil {
				t.Fatalf("a stamp did not arrive in %q: %+v", out, again)
			}
		}
		w := waiting{"timeout_ms", time.Millisecond}
		if total, ok := m.patience(line, w); ok && (total < 0 || total > waitMost) {
			t.Fatalf("may take %v", total)
		}
		if out := m.reissued(line, w, time.Second); !json.Valid(out) {
			t.Fatalf("reissued as %q", out)
		}
	})
}

// checkSame says that a stamped line is the line, but for the stamp.
func checkSame(t *testing.T, m *message, line, out []byte, args span) {
	t.Helper()
	if !json.Valid(out) {
		t.Fatalf("stamped as %q", out)
	}
	if !m.args.absent() && !bytes.Equal(args.of(out), m.args.of(line)) {
		t.Fatalf("arguments were %q, are %q", m.args.of(line), args.of(out))
	}
	var a, b struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
			Meta      map[string]json.RawMessage `json:"_meta"`
		}
	}
	if json.Unmarshal(line, &a) != nil || json.Unmarshal(out, &b) != nil {
		return // members of other types beside those looked at
	}
	if string(b.Params.Meta[StampKey]) != `{"slot":31,"seq":9223372036854775808}` {
		t.Fatalf("the stamp in %q is %s", out, b.Params.Meta[StampKey])
	}
	if a.Params.Name != b.Params.Name || len(b.Params.Meta) != len(a.Params.Meta)+1 {
		t.Fatalf("%q became %q", line, out)
	}
}

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzParse holds the envelope parser against encoding/json: no line makes it
// panic, and what it calls a request says what encoding/json says.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":"}"}]},"_meta":{"progressToken":"t","steward/stamp":{"slot":1,"seq":2}}}}`,
		` { "jsonrpc" : "2.0" , "id" : "a\"b" , "method" : "p\u0069ng" , "params" : [ ] } `,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-1.5e9}}`,
		`{"id":1,"result":{}}`, `{"steward":1,"client":{}}`, `[]`, `{}`, `null`, `"`, `{"id":tru`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return
		}
		before := string(line)
		m, bad := parse(line)
		if string(line) != before {
			t.Fatal("the line was changed")
		}
		if bad != nil {
			if bad.id != nil && (!json.Valid(bad.id) || !utf8.Valid(bad.id)) {
				t.Fatalf("id %q", bad.id)
			}
			if out := errorLine(bad.id, bad.code, bad.text, nil); !json.Valid(out) || !utf8.Valid(out) || bytes.Count(out, []byte("\n")) != 1 {
				t.Fatalf("answer %q", out)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		if m.kind != isRequest {
			return
		}
		var method string
		if err := json.Unmarshal(want["method"], &method); err != nil || m.method != method && utf8.Valid(line) {
			t.Fatalf("method %q, want %q (%v)", m.method, method, err)
		}
		if string(m.id) != string(want["id"]) || string(m.params) != string(want["params"]) {
			t.Fatalf("id %q params %q, want %q %q", m.id, m.params, want["id"], want["params"])
		}
		if m.method != methodToolsCall {
			return
		}
		var params map[string]json.RawMessage
		var name string
		if err := json.Unmarshal(m.params, &params); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(params["name"], &name); err != nil || m.call.name != name {
			t.Fatalf("name %q, want %q (%v)", m.call.name, name, err)
		}
		if args := string(params["arguments"]); string(m.call.args) != args && args != "null" {
			t.Fatalf("arguments %q, want %q", m.call.args, args)
		}
	})
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{
		"", "plain", `"quoted" \ back`, "\x00\x01\b\f\n\r\t\x1f\x7f", "é 名 🎛", "\u2028\u2029\u2027", "a\xffb\xc3", "\xed\xa0\x80", "\ufffd", "<a href='&'>",
	} {
		b := appendString([]byte("x"), s)
		var got string
		if err := json.Unmarshal(b[1:], &got); err != nil || got != strings.ToValidUTF8(got, "") {
			t.Errorf("%q: %s, %v", s, b, err)
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil || got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
		if bytes.ContainsAny(b, "\n\r\u2028\u2029") || !utf8.Valid(b) {
			t.Errorf("%q: %q is no line", s, b)
		}
	}
}

func TestAppendNumber(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 3: "3", -2: "-2", 0.25: "0.25", 1e20: "1e+20", math.Copysign(0, -1): "0"} {
		if got := string(appendNumber(nil, f)); got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}

func TestLineReader(t *testing.T) {
	const most = 5000
	long := strings.Repeat("l", most)
	type read struct {
		line string
		err  error
	}
	for _, tc := range []struct {
		name, in string
		want     []read
	}{
		{"ends", "a\nb\r\n\n \t\r\n  c  \nd", []read{{"a", nil}, {"b", nil}, {"c", nil}, {"d", nil}, {"", io.EOF}, {"", io.EOF}}},
		{"nothing", "", []read{{"", io.EOF}}},
		{"blank", "\n\n", []read{{"", io.EOF}}},
		{"the limit", long + "\r\n" + long + "\n" + long, []read{{long, nil}, {long, nil}, {long, nil}, {"", io.EOF}}},
		{"over it", long + "l\nnext\n", []read{{"", errLongLine}, {"next", nil}, {"", io.EOF}}},
		{"far over it", long + long + long + "\nnext\n", []read{{"", errLongLine}, {"next", nil}, {"", io.EOF}}},
		{"over it at the end", long + long + long, []read{{"", errLongLine}, {"", io.EOF}}},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader} {
			t.Run(tc.name+" "+how, func(t *testing.T) {
				l := newLineReader(wrap(strings.NewReader(tc.in)), most)
				for i, want := range tc.want {
					line, err := l.next()
					if string(line) != want.line || !errors.Is(err, want.err) {
						t.Fatalf("%d: got %.20q, %v; want %.20q, %v", i, line, err, want.line, want.err)
					}
				}
			})
		}
	}
	// Half a line before a broken connection is no line.
	l := newLineReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(io.ErrClosedPipe)), most)
	if line, err := l.next(); string(line) != "a" || err != nil {
		t.Fatalf("got %q, %v", line, err)
	}
	if line, err := l.next(); line != nil || !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("got %q, %v", line, err)
	}
}

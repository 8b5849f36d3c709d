package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"steward/ledger"
)

func payload(t testing.TB, n NewHandoff) [32]byte {
	t.Helper()
	if n.Target == "" {
		n.Target = "dj"
	}
	if n.Instruction == "" {
		n.Instruction = "mix it"
	}
	n.Key = "k"
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	return n.digest()
}

func TestDigestContext(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"white space", `{"a":1,"b":[1,2]}`, " { \"a\" : 1,\n\t\"b\" : [ 1 , 2 ] } ", true},
		{"order of keys", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"order in arrays", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"escapes", `{"a":"é/\n"}`, `{"\u0061":"\u00e9\/\u000a"}`, true},
		{"surrogate pair", `{"a":"😀"}`, `{"a":"\ud83d\uDE00"}`, true},
		{"normal forms of text", "{\"a\":\"\u00e9\"}", "{\"a\":\"e\u0301\"}", false},
		{"1 and 1.0", `{"a":1}`, `{"a":1.0}`, true},
		{"1 and 10e-1", `{"a":1}`, `{"a":10e-1}`, true},
		{"100 and 1E+2", `{"a":100}`, `{"a":1E+2}`, true},
		{"0 and -0.0e7", `{"a":0}`, `{"a":-0.0e7}`, true},
		{"1 and -1", `{"a":1}`, `{"a":-1}`, false},
		{"1 and 1 as text", `{"a":1}`, `{"a":"1"}`, false},
		{"above 2^53", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"more digits than a float", `{"a":0.1}`, `{"a":0.1000000000000000000001}`, false},
		{"beyond a float", `{"a":1e400}`, `{"a":10e399}`, true},
		{"beyond a machine word", `{"a":1e99999999999999999999}`, `{"a":10e99999999999999999998}`, true},
		{"beyond a machine word, different", `{"a":1e99999999999999999999}`, `{"a":1e99999999999999999998}`, false},
		{"null and absent key", `{"a":null}`, `{}`, false},
		{"none and empty", ``, `{}`, true},
		{"false and null", `{"a":false}`, `{"a":null}`, false},
		{"true and false", `{"a":true}`, `{"a":false}`, false},
		{"key or value", `{"a":"b"}`, `{"b":"a"}`, false},
		{"quote in a key", `{"a\":1,\"b":2}`, `{"a":1,"b":2}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := payload(t, NewHandoff{Context: json.RawMessage(c.a)}), payload(t, NewHandoff{Context: json.RawMessage(c.b)})
			if (a == b) != c.same {
				t.Errorf("%s and %s: same %v, want %v", c.a, c.b, a == b, c.same)
			}
		})
	}
}

func TestDigestFields(t *testing.T) {
	base := NewHandoff{Target: "dj", Instruction: "mix it", Attachments: []Attachment{{Path: "/a"}, {Path: "/b", Name: "b"}}}
	with := func(edit func(n *NewHandoff)) NewHandoff {
		n := base
		n.Attachments = append([]Attachment(nil), base.Attachments...)
		edit(&n)
		return n
	}
	for name, c := range map[string]struct {
		n    NewHandoff
		same bool
	}{
		"itself":             {base, true},
		"source session":     {with(func(n *NewHandoff) { n.SourceSession = "s2" }), true},
		"folded line break":  {with(func(n *NewHandoff) { n.Target = "dj" }), true},
		"target":             {with(func(n *NewHandoff) { n.Target = "studio" }), false},
		"instruction":        {with(func(n *NewHandoff) { n.Instruction = "mix it " }), false},
		"attachment order":   {with(func(n *NewHandoff) { n.Attachments[0], n.Attachments[1] = n.Attachments[1], n.Attachments[0] }), false},
		"attachment name":    {with(func(n *NewHandoff) { n.Attachments[1].Name = "c" }), false},
		"one attachment":     {with(func(n *NewHandoff) { n.Attachments = n.Attachments[:1] }), false},
		"name moved to path": {with(func(n *NewHandoff) { n.Attachments[1] = Attachment{Path: "/bb"} }), false},
		"context":            {with(func(n *NewHandoff) { n.Context = json.RawMessage(`{"a":1}`) }), false},
		"context of nothing": {with(func(n *NewHandoff) { n.Context = json.RawMessage(` {} `) }), true},
	} {
		if same := payload(t, base) == payload(t, c.n); same != c.same {
			t.Errorf("%s: same %v, want %v", name, same, c.same)
		}
	}
	if payload(t, NewHandoff{Attachments: []Attachment{}}) != payload(t, NewHandoff{}) {
		t.Error("an empty list of attachments is another payload than none")
	}
}

// TestDigestIsFrozen holds the form of the digest: stored ones are compared for
// ever.
func TestDigestIsFrozen(t *testing.T) {
	sum := payload(t, NewHandoff{Target: "dj", Instruction: "mix\nit", Attachments: []Attachment{{"/a", "é"}}, Context: json.RawMessage(`{"b":1.50,"a":["\u0001",true,null]}`)})
	const want = "e216e83650474e57adf1537a5f8236c6cc2d4949b69b5e16ad5278f9cb27faf5"
	if got := fmt.Sprintf("%x", sum); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestContextForms(t *testing.T) {
	compact, canonical, err := readContext([]byte(" {\"b\" : 1.50, \"a\" : [ \"\\u4e2d\\/\\u0001\\t\\\"<\", -0, 1E3, true, null, {} , [] ] } "))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(compact), `{"b":1.50,"a":["中/\u0001\t\"<",-0,1E3,true,null,{},[]]}`; got != want {
		t.Errorf("compact\n got %s\nwant %s", got, want)
	}
	if got, want := string(canonical), `{"a":["中/\u0001\t\"<",0,1e3,true,null,{},[]],"b":15e-1}`; got != want {
		t.Errorf("canonical\n got %s\nwant %s", got, want)
	}
}

func TestContextRefused(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	// A key, a quoted string and braces: {"a":"…"} is 8 bytes and the text.
	long := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
	for name, c := range map[string]struct {
		in    string
		field string // "" = accepted
		rule  string
	}{
		"empty object":          {`{}`, "", ""},
		"16 levels":             {nest(16), "", ""},
		"17 levels":             {nest(17), "context", "16 levels"},
		"17 levels, array":      {`{"a":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + `}`, "context", "16 levels"},
		"8192 bytes":            {long(8192), "", ""},
		"8193 bytes":            {long(8193), "context", "8192 bytes"},
		"8192 bytes and space":  {" " + long(8192) + strings.Repeat(" ", 9000), "", ""},
		"escapes do not count":  {`{"a":"` + strings.Repeat(`\u0078`, 8192-8) + `"}`, "", ""},
		"very long":             {long(100_000), "context", "8192 bytes"},
		"bytes, not characters": {`{"a":"` + strings.Repeat("中", 3000) + `"}`, "context", "8192 bytes"},
		"array":                 {`[1]`, "context", "a JSON object"},
		"text":                  {`"a"`, "context", "a JSON object"},
		"number":                {`1`, "context", "a JSON object"},
		"boolean":               {`true`, "context", "a JSON object"},
		"null":                  {`null`, "context", "a JSON object"},
		"no JSON":               {`{"a":}`, "context", "a JSON object"},
		"two values":            {`{} {}`, "context", "a JSON object"},
		"space":                 {` `, "context", "a JSON object"},
		"repeated key":          {`{"a":{"b":1,"c":2,"b":1}}`, "context.a.b", "once"},
		"repeated key, escaped": {`{"a":1,"\u0061":1}`, "context.a", "once"},
		"same key elsewhere":    {`{"a":{"a":1},"b":{"a":1}}`, "", ""},
		"NUL in a text":         {`{"a":["\u0000"]}`, "context.a[0]", "NUL"},
		"NUL in a key":          {`{"a\u0000":1}`, "context", "NUL"},
		"high half":             {`{"a":"\ud83d"}`, "context", "Unicode"},
		"high half, text":       {`{"a":"\ud83dx\ude00"}`, "context", "Unicode"},
		"low half":              {`{"a":"\ude00"}`, "context", "Unicode"},
		"halves swapped":        {`{"a":"\ude00\ud83d"}`, "context", "Unicode"},
		"a pair":                {`{"a":"\ud83d\ude00"}`, "", ""},
		"a backslash and text":  {`{"a":"\\ud83d"}`, "", ""},
		"invalid UTF-8":         {"{\"a\":\"\xff\"}", "context", "UTF-8"},
		"replacement character": {"{\"a\":\"\ufffd\"}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readContext([]byte(c.in))
			if c.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *ledger.FieldError
			if !errors.As(err, &f) {
				t.Fatalf("error %v, want a FieldError", err)
			}
			if f.Field != c.field || !strings.Contains(f.Rule, c.rule) || f.Got == "" {
				t.Errorf("got %q (%q)", f, f.Field)
			}
		})
	}
}

func FuzzContext(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,1.0,-0,1e5,{"b":null}],"c":"\ud83d\ude00\n"}`, `{"a":1,"a":2}`, `{"\u0000":1}`, `{"x":"\ud800"}`, `{"a":1e999999999999}`, "{\"é\":\"\x7f\u2028\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact, canonical, err := readContext(raw)
		if err != nil {
			if !errors.Is(err, ledger.ErrInvalid) {
				t.Fatalf("%q: %v is no FieldError", raw, err)
			}
			return
		}
		if len(compact) > MaxContext {
			t.Fatalf("%d bytes", len(compact))
		}
		if in, out := decode(t, raw), decode(t, compact); !reflect.DeepEqual(in, out) {
			t.Fatalf("%q became %q", raw, compact)
		}
		again, same, err := readContext(compact)
		if err != nil || !bytes.Equal(again, compact) || !bytes.Equal(same, canonical) {
			t.Fatalf("%q is read back as %q, %q, %v", compact, again, same, err)
		}
		// The canonical form may be longer than the limit, so it is parsed, not read.
		if d := decode(t, canonical); len(d) != len(decode(t, raw)) {
			t.Fatalf("%q has other keys than %q", canonical, raw)
		}
	})
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return v
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1", "10", "100.00", "1.5e3", "0.0015", "-12E-4", "1e+07", "0e9", "120e1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n json.Number
		if len(s) > 40 || json.Unmarshal([]byte(s), &n) != nil || n.String() != s {
			return
		}
		if at := strings.IndexAny(s, "eE"); at >= 0 && len(s)-at > 5 {
			return // a power of ten too large to write out
		}
		want, ok := new(big.Rat).SetString(s)
		got, gotOK := new(big.Rat).SetString(number(s))
		if !ok || !gotOK || want.Cmp(got) != 0 {
			t.Fatalf("%s became %s", s, number(s))
		}
		if number(number(s)) != number(s) {
			t.Fatalf("%s, %s, %s", s, number(s), number(number(s)))
		}
	})
}

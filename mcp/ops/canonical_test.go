package ops

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null ] } `:     `{"a":[true,null],"b":1}`,
		`{"b":{"d":1,"c":2},"a":3}`:                 `{"a":3,"b":{"c":2,"d":1}}`,
		`{"\u0062":1,"a":"\u00e9\/\n\u001f\u007f"}`: `{"a":"é/\n\u001f` + "\x7f" + `","b":1}`,
		`"\ud83d\ude00<>&\u2028"`:                   "\"😀<>&\u2028\"",
		`{"é":1,"z":2,"a":3,"aa":4,"":5}`:           `{"":5,"a":3,"aa":4,"z":2,"é":1}`,
		`[]`:                                        `[]`,
		`{}`:                                        `{}`,
		`[0,-0,-0.0,0e5]`:                           `[0,0,0,0]`,
		`[1.0,1e2,1E+2,100,0.5e1]`:                  `[1,100,100,100,5]`,
		`[1e21,1e20,1.5e-7,0.000001]`:               `[1e+21,100000000000000000000,1.5e-07,0.000001]`,
		`[9007199254740993,123456789012345678901]`:  `[9007199254740993,123456789012345678901]`,
		`[0.1000000000000000055511151231257827]`:    `[0.1]`,
	} {
		got, err := Canonical(nil, []byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"a":2}`:                       `a: once; got it again`,
		`{"b":{"a":1,"\u0061":2}}`:            `b.a: once; got it again`,
		`[1e999]`:                             `: finite numbers; got 1e999`,
		`[2` + strings.Repeat("0", 400) + `]`: `: finite numbers; got 2` + strings.Repeat("0", 38) + "…",
		`{} {}`:                               `arguments: JSON with nothing after the value at byte 3; got '{'`,
		``:                                    `arguments: JSON with a digit at byte 0; got the end`,
		`[1,]`:                                `arguments: JSON with a digit at byte 3; got ']'`,
		`"\u0000"`:                            `: no NUL character; got one`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65): `: at most 64 levels; got more`,
	} {
		if got, err := Canonical(nil, []byte(in)); err == nil || err.Error() != want {
			t.Errorf("%.40s: got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestDigest(t *testing.T) {
	sum := func(tool, args string) [32]byte {
		t.Helper()
		d, err := Digest(tool, []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if sum("a", `{"x":1,"y":"é"}`) != sum("a", `{ "y":"\u00e9", "x":1.0 }`) {
		t.Error("the same arguments have two digests")
	}
	if sum("a", ``) != sum("a", `{}`) || sum("a", ` null `) != sum("a", `{ }`) {
		t.Error("absent arguments are not {}")
	}
	seen := map[[32]byte]string{}
	for _, c := range [][2]string{{"a", `{}`}, {"b", `{}`}, {"a", `{"x":1}`}, {"a", `{"x":"1"}`}, {"a", `{"x":2}`}, {"a", `{"y":1}`}, {"a", `{"x":[1,2]}`}, {"a", `{"x":[2,1]}`}} {
		d := sum(c[0], c[1])
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %s have one digest", c, other)
		}
		seen[d] = c[0] + c[1]
	}
}

// FuzzCanonical: nothing panics; the form is stable, says the same to
// encoding/json, and does not depend on white space or escapes.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":1,"a":[true,null,{"c":"\u00e9\n"}]}`, `[1.0,1e2,-0,0.1,9007199254740993]`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, ` 7 `, `[`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		once, err := Canonical(nil, src)
		if err != nil {
			return
		}
		if !json.Valid(src) {
			t.Fatalf("accepted %q", src)
		}
		twice, err := Canonical([]byte("x"), once)
		if err != nil || string(twice) != "x"+string(once) {
			t.Fatalf("%q\nonce  %q\ntwice %q, %v", src, once, twice, err)
		}
		var a, b any
		if err := json.Unmarshal(src, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(once, &b); err != nil {
			t.Fatalf("%q became %q: %v", src, once, err)
		}
		if !reflect.DeepEqual(positive(a), positive(b)) {
			t.Fatalf("%q means %v, its form %q means %v", src, a, once, b)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, src, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if again, err := Canonical(nil, spaced.Bytes()); err != nil || !bytes.Equal(again, once) {
			t.Fatalf("%q with white space: %q, %v", src, again, err)
		}
	})
}

// positive makes -0 and 0 one number, as they are to the canonical form.
func positive(v any) any {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			return math.Abs(v)
		}
	case []any:
		for i := range v {
			v[i] = positive(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = positive(v[k])
		}
	}
	return v
}

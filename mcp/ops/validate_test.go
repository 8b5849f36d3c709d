package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"steward/ledger"
)

func TestDecode(t *testing.T) {
	ptr := func(n int64) *int64 { return &n }
	yes, no := true, false
	base := func(set func(*everything)) everything {
		e := everything{Name: "a", Kind: "plain", Count: 20}
		if set != nil {
			set(&e)
		}
		return e
	}
	for name, c := range map[string]struct {
		args string
		want everything
	}{
		"least":              {`{"name":"a"}`, base(nil)},
		"white space":        {" \r\n\t{ \"name\" : \"a\" } \n", base(nil)},
		"escaped key":        {`{"n\u0061me":"a"}`, base(nil)},
		"escapes":            {`{"name":"\u00e9\ud83d\ude00\"\\\/"}`, base(func(e *everything) { e.Name = `é😀"\/` })},
		"breaks fold":        {`{"name":"a\r\n\t\u2028b"}`, base(func(e *everything) { e.Name = "a b" })},
		"raw breaks fold":    {"{\"name\":\"a\u0085\u2029b\"}", base(func(e *everything) { e.Name = "a b" })},
		"folding makes room": {`{"name":"a\n\n\n\n\n\n\n\n\nb"}`, base(func(e *everything) { e.Name = "a b" })},
		"many lines stay":    {`{"name":"a","note":"x\n\ty"}`, base(func(e *everything) { e.Note = "x\n\ty" })},
		"longest":            {`{"name":"` + strings.Repeat("😀", 8) + `"}`, base(func(e *everything) { e.Name = strings.Repeat("😀", 8) })},
		"longest escaped":    {`{"name":"` + strings.Repeat(`\ud83d\ude00`, 8) + `"}`, base(func(e *everything) { e.Name = strings.Repeat("😀", 8) })},
		"enum":               {`{"name":"a","mood":"bad"}`, base(func(e *everything) { e.Mood = "bad" })},
		"advice is advice":   {`{"name":"a","hint":"three"}`, base(func(e *everything) { e.Hint = "three" })},
		"blank is absent":    {`{"name":"a","kind":"","mood":" ","note":"\n"}`, base(nil)},
		"integer":            {`{"name":"a","count":200,"since":0,"any":-7}`, base(func(e *everything) { e.Count, e.Since, e.Any = 200, ptr(0), -7 })},
		"whole numbers":      {`{"name":"a","count":2e1,"since":5.0}`, base(func(e *everything) { e.Since = ptr(5) })},
		"greatest integer":   {`{"name":"a","since":9223372036854775807}`, base(func(e *everything) { e.Since = ptr(9223372036854775807) })},
		"booleans":           {`{"name":"a","loud":false,"quiet":true}`, base(func(e *everything) { e.Loud, e.Quiet = &no, true })},
		"true pointer":       {`{"name":"a","loud":true}`, base(func(e *everything) { e.Loud = &yes })},
		"list":               {`{"name":"a","files":[{"path":"p"},{"name":"n","path":"q"}]}`, base(func(e *everything) { e.Files = []attachmentArgs{{Path: "p"}, {Path: "q", Name: "n"}} })},
		"empty list":         {`{"name":"a","files":[ ]}`, base(nil)},
		"nested":             {`{"name":"a","one":{"path":"p"}}`, base(func(e *everything) { e.One.Path = "p" })},
		"metrics in order": {`{"name":"a","scores":{"z":1,"a":2.50,"m":-1e-3}}`, base(func(e *everything) {
			e.Scores = Ordered{{Key: "z", Value: "1"}, {Key: "a", Value: "2.50"}, {Key: "m", Value: "-1e-3"}}
		})},
		"long metric": {`{"name":"a","scores":{"z":0.1000000000000000000000000000000000000}}`, base(func(e *everything) {
			e.Scores = Ordered{{Key: "z", Value: "0.1"}}
		})},
		"no metrics":   {`{"name":"a","scores":{}}`, base(nil)},
		"free object":  {`{"name":"a","extra":{ "b" : [1, null , "\u00e9\/"], "a":{"x":true}}}`, base(func(e *everything) { e.Extra = Object(`{"b":[1,null,"é/"],"a":{"x":true}}`) })},
		"levels":       {`{"name":"a","extra":{"b":[[]]}}`, base(func(e *everything) { e.Extra = Object(`{"b":[[]]}`) })},
		"exact number": {`{"name":"a","extra":{"b":9007199254740993}}`, base(func(e *everything) { e.Extra = Object(`{"b":9007199254740993}`) })},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode[everything](everythingSchema, []byte(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s\ngot  %+v\nwant %+v", c.args, got, c.want)
			}
		})
	}
}

func TestDecodeNothing(t *testing.T) {
	s := inputSchema("probe", reflect.TypeFor[recentEventsArgs]())
	for _, args := range []string{"", "  ", "null", " null ", "{}", "{ }"} {
		got, err := decode[recentEventsArgs](s, []byte(args))
		if err != nil || got.Limit != 20 || got.Since != nil {
			t.Errorf("%q: %+v, %v", args, got, err)
		}
	}
	if _, err := decode[recentEventsArgs](s, nil); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	deep := strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000)
	for args, want := range map[string]string{
		`{}`:                                     `name: required, 1 to 8 characters; got nothing`,
		`{"name":""}`:                            `name: required, 1 to 8 characters; got a blank text`,
		`{"name":" \t"}`:                         `name: required, 1 to 8 characters; got a blank text`,
		`{"name":"` + long(9) + `"}`:             `name: at most 8 characters; got 9`,
		`{"name":"` + long(700) + `"}`:           `name: at most 8 characters; got 700`,
		`{"name":"a\n` + long(9) + `"}`:          `name: at most 8 characters; got 11`,
		`{"name":7}`:                             `name: a string; got a number`,
		`{"name":null}`:                          `name: a string; got null (leave it out instead)`,
		`{"name":["a"]}`:                         `name: a string; got an array`,
		`{"name":{"a":1}}`:                       `name: a string; got an object`,
		`{"name":true}`:                          `name: a string; got a boolean`,
		`{"name":"a","name":"b"}`:                `name: once; got it again`,
		`{"name":"a","n\u0061me":"b"}`:           `name: once; got it again`,
		`{"name":"a","nam":"b"}`:                 `nam: no such field; known are name, note, mood, hint, kind, count, since, any, loud, quiet, files, one, scores, extra`,
		`{"name":"a","Name":"b"}`:                `Name: no such field; known are name, note, mood, hint, kind, count, since, any, loud, quiet, files, one, scores, extra`,
		`{"name":"a","wait_for_previous":1}`:     `wait_for_previous: no such field; known are name, note, mood, hint, kind, count, since, any, loud, quiet, files, one, scores, extra`,
		`{"name":"a","wait_for_previous":true`:   `arguments: JSON with ',' or '}' at byte 36; got the end`,
		`{"name":"a","wait_for_previous":true,}`: `arguments: JSON with a key at byte 37; got '}'`,
		`{"name":"a","files":[{"path":"p","wait_for_previous":true}]}`: `files[0].wait_for_previous: no such field; known are path, name`,
		`{"name":"a\u0000"}`:                    `name: no NUL character; got one`,
		"{\"name\":\"a\x00\"}":                  `name: no NUL character; got one`,
		"{\"name\":\"a\xff\"}":                  `name: valid UTF-8; got bytes or escapes that are not`,
		"{\"name\":\"a\xed\xa0\x80\"}":          `name: valid UTF-8; got bytes or escapes that are not`,
		`{"name":"\ud83d"}`:                     `name: valid UTF-8; got bytes or escapes that are not`,
		`{"name":"\ud83d\u0041"}`:               `name: valid UTF-8; got bytes or escapes that are not`,
		`{"name":"\ude00\ud83d"}`:               `name: valid UTF-8; got bytes or escapes that are not`,
		"{\"na\xffme\":\"a\"}":                  `arguments: valid UTF-8; got bytes or escapes that are not`,
		`{"n\u0000":1}`:                         `arguments: no NUL character; got one`,
		"{\"name\":\"a\nb\"}":                   `arguments: JSON with escaped control characters at byte 10; got '\n'`,
		`{"name":"\x"}`:                         `arguments: JSON with a known escape at byte 10; got 'x'`,
		`{"name":"\u12g4"}`:                     `arguments: JSON with four hexadecimal digits after \u at byte 9; got '\\'`,
		`{"name":"a`:                            `arguments: JSON with a closing quote at byte 10; got the end`,
		`{"name":"a\`:                           `arguments: JSON with a closing quote at byte 11; got the end`,
		`{"name":`:                              `arguments: JSON with a value at byte 8; got the end`,
		`{"name":x}`:                            `arguments: JSON with a value at byte 8; got 'x'`,
		`{"name" "a"}`:                          `arguments: JSON with a colon at byte 8; got '"'`,
		`{"name":"a",}`:                         `arguments: JSON with a key at byte 12; got '}'`,
		`{name:"a"}`:                            `arguments: JSON with a key at byte 1; got 'n'`,
		`{"name":"a" "b"}`:                      `arguments: JSON with ',' or '}' at byte 12; got '"'`,
		`{"name":"a"} x`:                        `arguments: JSON with nothing after the object at byte 13; got 'x'`,
		`{"name":"a"`:                           `arguments: JSON with ',' or '}' at byte 11; got the end`,
		`{`:                                     `arguments: JSON with a key at byte 1; got the end`,
		`[]`:                                    `arguments: an object; got an array`,
		`"{}"`:                                  `arguments: an object; got a string`,
		`nul`:                                   `arguments: JSON with an object at byte 0; got 'n'`,
		`null {}`:                               `arguments: JSON with nothing at byte 5; got '{'`,
		`7`:                                     `arguments: an object; got a number`,
		`{"name":"a","mood":"ugly"}`:            `mood: one of good, bad; got "ugly"`,
		`{"name":"a","mood":"Good"}`:            `mood: one of good, bad; got "Good"`,
		`{"name":"a","hint":"` + long(9) + `"}`: `hint: at most 8 characters; got 9`,
		`{"name":"a","count":0}`:                `count: an integer from 1 to 200; got 0`,
		`{"name":"a","count":201}`:              `count: an integer from 1 to 200; got 201`,
		`{"name":"a","count":1.5}`:              `count: an integer from 1 to 200; got 1.5`,
		`{"name":"a","count":1e400}`:            `count: an integer from 1 to 200; got 1e400`,
		`{"name":"a","count":"20"}`:             `count: an integer from 1 to 200; got a string`,
		`{"name":"a","count":null}`:             `count: an integer from 1 to 200; got null (leave it out instead)`,
		`{"name":"a","any":01}`:                 `arguments: JSON with ',' or '}' at byte 19; got '1'`,
		`{"name":"a","count":-}`:                `arguments: JSON with a digit at byte 21; got '}'`,
		`{"name":"a","count":1.}`:               `arguments: JSON with a digit at byte 22; got '}'`,
		`{"name":"a","count":1e}`:               `arguments: JSON with a digit at byte 22; got '}'`,
		`{"name":"a","since":-1}`:               `since: an integer of at least 0; got -1`,
		`{"name":"a","since":9223372036854775808}`:                                      `since: an integer of at least 0; got 9223372036854775808`,
		`{"name":"a","loud":"yes"}`:                                                     `loud: true or false; got a string`,
		`{"name":"a","loud":1}`:                                                         `loud: true or false; got a number`,
		`{"name":"a","loud":tru}`:                                                       `arguments: JSON with a value at byte 19; got 't'`,
		`{"name":"a","files":{}}`:                                                       `files: an array; got an object`,
		`{"name":"a","files":["p"]}`:                                                    `files[0]: an object; got a string`,
		`{"name":"a","files":[{"path":"p"},{}]}`:                                        `files[1].path: required, 1 to 4096 characters; got nothing`,
		`{"name":"a","files":[{"path":"p","size":1}]}`:                                  `files[0].size: no such field; known are path, name`,
		`{"name":"a","files":[{"path":"p","path":"q"}]}`:                                `files[0].path: once; got it again`,
		`{"name":"a","files":[{"path":"p"},{"path":"p"},{"path":"p"},7]}`:               `files: at most 2 items; got 4`,
		`{"name":"a","files":[{"path":"p"}`:                                             `arguments: JSON with ',' or ']' at byte 33; got the end`,
		`{"name":"a","one":{"path":"p","name":null}}`:                                   `one.name: a string; got null (leave it out instead)`,
		`{"name":"a","scores":[]}`:                                                      `scores: an object of numbers; got an array`,
		`{"name":"a","scores":{"a":"1"}}`:                                               `scores.a: a finite number; got a string`,
		`{"name":"a","scores":{"a":null}}`:                                              `scores.a: a finite number; got null`,
		`{"name":"a","scores":{"a":1e999}}`:                                             `scores.a: a finite number; got 1e999`,
		`{"name":"a","scores":{"a":1,"a":2}}`:                                           `scores.a: once; got it again`,
		`{"name":"a","scores":{"":1}}`:                                                  `scores: keys of 1 to 64 characters; got a blank text`,
		`{"name":"a","scores":{"` + long(65) + `":1}}`:                                  `scores: keys of 1 to 64 characters; got 65`,
		`{"name":"a","scores":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":[6]}}`:                 `scores: at most 4 keys; got 6`,
		`{"name":"a","scores":{a:1}}`:                                                   `arguments: JSON with a key at byte 22; got 'a'`,
		`{"name":"a","extra":[]}`:                                                       `extra: an object; got an array`,
		`{"name":"a","extra":{"a":1,"b":2,"a":3}}`:                                      `extra.a: once; got it again`,
		`{"name":"a","extra":{"a":{"b":1,"\u0062":2}}}`:                                 `extra.a.b: once; got it again`,
		`{"name":"a","extra":{"a":[[[]]]}}`:                                             `extra.a: at most 3 levels; got more`,
		`{"name":"a","extra":{"a":"\u0000"}}`:                                           `extra.a: no NUL character; got one`,
		`{"name":"a","extra":{"a":1e999}}`:                                              `extra.a: finite numbers; got 1e999`,
		`{"name":"a","extra":{"a":"` + strings.Repeat("x", 60) + `"}}`:                  `extra: at most 64 bytes as compact JSON; got 68`,
		`{"name":"a","extra":` + deep + `}`:                                             `extra.a.a.a: at most 3 levels; got more`,
		`{"name":"a","files":[1,2,` + strings.Repeat("[", 100000):                       `files[0]: an object; got a number`,
		`{"name":"a","files":[{"path":"p"},{"path":"p"},` + strings.Repeat("[", 100000): `arguments: JSON with at most 64 levels at byte 110; got '['`,
	} {
		name := args
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			_, err := decode[everything](everythingSchema, []byte(args))
			fe, ok := errors.AsType[*ledger.FieldError](err)
			if !ok {
				t.Fatalf("got %v, want a *ledger.FieldError", err)
			}
			if fe.Error() != want {
				t.Errorf("\ngot  %s\nwant %s", fe, want)
			}
			if fe.Field == "" || !errors.Is(err, ledger.ErrInvalid) || CodeOf(err) != Invalid {
				t.Errorf("field %q, code %s", fe.Field, CodeOf(err))
			}
		})
	}
}

// The shared refusals of NUL and UTF-8 must not take the field of one call into
// the next.
func TestRefusalsDoNotLeak(t *testing.T) {
	for range 2 {
		for _, f := range []string{"name", "note"} {
			_, err := decode[everything](everythingSchema, fmt.Appendf(nil, `{"%s":"\u0000"}`, f))
			if want := f + ": no NUL character; got one"; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
	if errNUL.Field != "" || errUTF8.Field != "" {
		t.Error("a shared refusal was changed")
	}
}

// Metrics beyond sixteen are looked up in another way; a repeated key is found
// in both.
func TestManyMetrics(t *testing.T) {
	s := inputSchema("report_done", reflect.TypeFor[reportDoneArgs]())
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	args := `{"actor":"a","metrics":{` + b.String()[1:] + `}}`
	in, err := decode[reportDoneArgs](s, []byte(args))
	if err != nil || len(in.Metrics) != 256 || in.Metrics[255].Key != "k255" {
		t.Fatalf("%d metrics, %v", len(in.Metrics), err)
	}
	for _, again := range []string{"k3", "k255"} {
		twice := strings.Replace(args, `"k200"`, `"`+again+`"`, 1)
		if _, err := decode[reportDoneArgs](s, []byte(twice)); err == nil || !strings.Contains(err.Error(), ": once; got it again") {
			t.Errorf("%s twice: %v", again, err)
		}
	}
	kept, dropped := in.Metrics.Split(3)
	if len(kept) != 3 || len(dropped) != 253 || dropped[0] != "k3" {
		t.Errorf("kept %v, dropped %d from %s", kept, len(dropped), dropped[0])
	}
}

// FuzzDecode: nothing panics; what is accepted is JSON that encoding/json reads
// the same way; writing it out and reading it again gives the same arguments.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"name":"a"}`, `{"name":"a\n\u00e9\ud83d\ude00","kind":"x","mood":"good","count":2e1,"since":5,"loud":true}`,
		`{"name":"a","files":[{"path":"p","name":"n"}],"one":{"path":"q"},"scores":{"a":1.50,"b":-0},"extra":{"x":[1,{"y":null}]}}`,
		`{"name":"a","name":"b"}`, `{"name":null}`, `{"name":"\u0000"}`, "{\"name\":\"\xff\"}", `{"extra":{"a":1e999}}`, `null`, `[`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		in, err := decode[everything](everythingSchema, args)
		if err != nil {
			if fe, ok := errors.AsType[*ledger.FieldError](err); !ok || fe.Field == "" {
				t.Fatalf("%q: %T %v", args, err, err)
			}
			return
		}
		var oracle map[string]any
		if err := json.Unmarshal(args, &oracle); err != nil {
			t.Fatalf("accepted %q: %v", args, err)
		}
		for name, got := range map[string]string{"name": in.Name, "note": in.Note, "mood": in.Mood, "hint": in.Hint} {
			want, _ := oracle[name].(string)
			if name != "note" && name != "mood" {
				want = foldLine(want)
			}
			if name == "hint" {
				want, _ = oracle[name].(string) // not a one-line argument
			}
			if blank(want) {
				want = ""
			}
			if got != want {
				t.Fatalf("%q: %s is %q, encoding/json has %q", args, name, got, want)
			}
		}
		if utf8.RuneCountInString(in.Name) > 8 || utf8.RuneCountInString(in.Note) > 16 || in.Count < 1 || in.Count > 200 || len(in.Extra) > 64 || len(in.Scores) > 4 {
			t.Fatalf("%q: over a limit: %+v", args, in)
		}
		again, err := decode[everything](everythingSchema, encodeArgs(t, everythingSchema, reflect.ValueOf(in)))
		if err != nil || !reflect.DeepEqual(in, again) {
			t.Fatalf("%q\nfirst  %+v\nsecond %+v, %v", args, in, again, err)
		}
		if _, err := Digest("everything", args); err != nil {
			t.Fatalf("accepted %q has no digest: %v", args, err)
		}
	})
}

// encodeArgs writes arguments as a client would.
func encodeArgs(t *testing.T, s *Schema, v reflect.Value) []byte {
	t.Helper()
	out := map[string]json.RawMessage{}
	for _, p := range s.Props {
		f := v.Field(p.index)
		if f.IsZero() {
			continue
		}
		var b []byte
		var err error
		switch x := f.Interface().(type) {
		case Ordered:
			b, err = json.Marshal(ledger.Metrics(x))
		case Object:
			b = x
		case attachmentArgs:
			b = encodeArgs(t, p.Schema, f)
		case []attachmentArgs:
			items := make([]json.RawMessage, len(x))
			for i := range x {
				items[i] = encodeArgs(t, p.Items, f.Index(i))
			}
			b, err = json.Marshal(items)
		default:
			b, err = json.Marshal(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[p.Name] = b
	}
	b := []byte{'{'}
	for i, k := range slices.Sorted(maps.Keys(out)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		b = append(b, out[k]...)
	}
	return append(b, '}')
}

// Gemini CLI sends a field of its own with every call.
func TestAClientsOwnFieldIsPassedOver(t *testing.T) {
	b := newBench(t)
	for _, args := range []string{
		`{"wait_for_previous":true,"actor":"a"}`, `{"actor":"a","wait_for_previous":false}`, `{"actor":"a", "wait_for_previous" : true }`,
		`{"wait_for_previous":true,"wait_for_previous":false,"actor":"a"}`,
	} {
		if _, err := b.Call(context.Background(), agent, "report_done", json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

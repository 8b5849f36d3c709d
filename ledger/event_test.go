package ledger

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEventJSON(t *testing.T) {
	at := At(time.Date(2026, 11, 30, 9, 5, 7, 80e6, time.UTC))
	e := Event{ID: 4, At: at, Actor: "a<b>", Type: "done", Metrics: Metrics{{"z", "1"}, {"a", "2.0"}}, Source: System}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":4,"at":"2026-11-30T09:05:07.080Z","actor":"a\u003cb\u003e","type":"done","metrics":{"z":1,"a":2.0},"injectable":false,"source":"system"}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	var back Event
	if err := json.Unmarshal(b, &back); err != nil || back.At != at || back.Source != System || back.Metrics[0].Key != "z" || back.Metrics[1].Value != "2.0" {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"source":"gossip"}`), &back); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestLimitsNameFieldLimitAndWhatCame(t *testing.T) {
	good := Event{Actor: "a", Type: "done"}
	for _, c := range []struct {
		change func(*Event)
		want   string
	}{
		{func(e *Event) { e.Actor = "" }, "actor: required"},
		{func(e *Event) { e.Actor = " \n " }, "actor: at least one visible character"},
		{func(e *Event) { e.Type = "" }, "type: required"},
		{func(e *Event) { e.Actor = strings.Repeat("é", 129) }, "actor: at most 128 characters; got 129"},
		{func(e *Event) { e.Type = strings.Repeat("t", 65) }, "type: at most 64 characters; got 65"},
		{func(e *Event) { e.ObjectType = strings.Repeat("t", 65) }, "object_type: at most 64 characters; got 65"},
		{func(e *Event) { e.Object = strings.Repeat("t", 129) }, "object_id: at most 128"},
		{func(e *Event) { e.Workspace = strings.Repeat("t", 129) }, "workspace: at most 128"},
		{func(e *Event) { e.Session = strings.Repeat("t", 129) }, "session_id: at most 128"},
		{func(e *Event) { e.Caller = strings.Repeat("t", 129) }, "caller: at most 128"},
		{func(e *Event) { e.Outcome = strings.Repeat("字", 513) }, "outcome: at most 512 characters; got 513"},
		{func(e *Event) { e.File = strings.Repeat("f", 4097) }, "file: at most 4096 characters; got 4097"},
		{func(e *Event) { e.Outcome = "a\x00b" }, "outcome: no NUL"},
		{func(e *Event) { e.Outcome = "a\xffb" }, "outcome: valid UTF-8"},
		{func(e *Event) { e.Metrics = Metrics{{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}} }, "metrics: at most 3 keys; got 4"},
		{func(e *Event) { e.Metrics = Metrics{{"", "1"}} }, "metrics: keys of 1 to 64 characters"},
		{func(e *Event) { e.Metrics = Metrics{{strings.Repeat("k", 65), "1"}} }, "metrics key: at most 64 characters; got 65"},
		{func(e *Event) { e.Metrics = Metrics{{"k", "1e999"}} }, "metrics.k: a finite number; got 1e999"},
		{func(e *Event) { e.Data = json.RawMessage(`{`) }, "data: JSON"},
		{func(e *Event) { e.Data = json.RawMessage(`"` + strings.Repeat("x", MaxData) + `"`) }, "data: at most 16384 bytes"},
		{func(e *Event) { e.Source = 9 }, "source: 0 to 4"},
	} {
		e := good
		c.change(&e)
		err := e.Validate()
		if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	e := good
	e.Outcome, e.File = strings.Repeat("😀", 512), strings.Repeat("é", 4096)
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLongNumbersAreShortened(t *testing.T) {
	m := Metrics{{"k", json.Number("0." + strings.Repeat("3", 400))}}
	if err := m.Check("metrics", 3); err != nil || m[0].Value != "0.3333333333333333" {
		t.Errorf("%v %v", m, err)
	}
}

func TestMetricsReadAsTheyWereWritten(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: `{}`, `{"a":1}`: `{"a":1}`, `{"z":1.50,"a":-2e+3,"é":0}`: `{"z":1.50,"a":-2e+3,"é":0}`, ` { "a" : 1 , "b":2 } `: `{"a":1,"b":2}`, `{"a\"b":1}`: `{"a\"b":1}`, `null`: `null`,
		`{"a":1,}`: "", `{"a":}`: "", `{"a":1-2}`: "", `{"a":01}`: "", `{"a":"1"}`: "", `{"a":1`: "", `[1]`: "", `{"a":true}`: "", `{"a"1}`: "", `{,}`: "", `{"a":1 "b":2}`: "",
	} {
		var m Metrics
		err := m.UnmarshalJSON([]byte(in))
		if want == "" {
			if err == nil {
				t.Errorf("%s was read as %v", in, m)
			}
			continue
		}
		if got, _ := m.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

func TestOneLineTextsHaveOneLine(t *testing.T) {
	for in, want := range map[string]string{"a\r\n\tb": "a b", "a\u0085b": "a b", "a\u2028\u2029b": "a b", "a\u00a0—b": "a\u00a0—b", "\v": " "} {
		if err := Text("f", &in, 10, true); err != nil || in != want {
			t.Errorf("%q, want %q (%v)", in, want, err)
		}
	}
	two := "a\nb"
	if err := Text("f", &two, 10, false); err != nil || two != "a\nb" {
		t.Errorf("%q (%v)", two, err)
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "abcd", "abcde": "abc…", "日本語字五": "日本語…", "日本語": "日本語"} {
		if got := Clip(in, 4); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("a", "done", "x\ny", "f", `{"a":1,"b":-2.5e3}`, `{"q":[1]}`)
	f.Fuzz(func(t *testing.T, actor, typ, outcome, file, metrics, data string) {
		e := Event{ID: 1, At: 1, Actor: actor, Type: typ, Outcome: outcome, File: file, Data: json.RawMessage(data)}
		if e.Metrics.UnmarshalJSON([]byte(metrics)) != nil {
			e.Metrics = nil
		}
		if err := e.Validate(); err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v is not ErrInvalid", err)
			}
			return
		}
		for _, s := range []string{e.Actor, e.Type, e.Outcome, e.File} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\t\x00") {
				t.Fatalf("%q passed", s)
			}
		}
		again := e
		if err := again.Validate(); err != nil {
			t.Fatalf("a valid event is not valid again: %v", err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if back.Outcome != e.Outcome || len(back.Metrics) != len(e.Metrics) {
			t.Fatalf("%+v came back as %+v", e, back)
		}
	})
}

// TestMetricKeysAreWrittenAsJSONWouldBe: the short way for plain keys and the
// encoder agree.
func TestMetricKeysAreWrittenAsJSONWouldBe(t *testing.T) {
	for r := rune(0); r < 0x2100; r++ {
		key := "a" + string(r) + "b"
		want, err := compact(map[string]int{key: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (Metrics{{key, "1"}}).MarshalJSON(); err != nil || string(got) != string(want) {
			t.Errorf("%q: %s, %v; want %s", key, got, err, want)
		}
	}
}

package handoff

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"steward/ledger"
)

func TestHandoffJSON(t *testing.T) {
	full := Handoff{
		ID: "hnd_01", Target: "dj", Status: Failed, Instruction: "a <b> & c\nd", Attachments: []Attachment{{"/a", "A"}, {Path: "/b"}}, Context: json.RawMessage(`{"z":1.0,"a":"<"}`),
		Key: "k", SourceSession: "s", Worker: "w", Fence: 3, Outcome: "o", Metrics: ledger.Metrics{{Key: "z", Value: "1"}, {Key: "a", Value: "2.50"}}, Error: "e",
		CreatedAt: 1_000, ClaimedAt: 2_000, RunningAt: 3_000, FinishedAt: 4_000,
	}
	for name, c := range map[string]struct {
		h    Handoff
		want string
	}{
		"full": {full, `{"id":"hnd_01","target":"dj","status":"failed","instruction":"a <b> & c\nd","attachments":[{"path":"/a","name":"A"},{"path":"/b"}],"context":{"z":1.0,"a":"<"},` +
			`"idempotency_key":"k","source_session_id":"s","worker_session_id":"w","fence":3,"outcome":"o","metrics":{"z":1,"a":2.50},"error":"e",` +
			`"created_at":"1970-01-01T00:00:01.000Z","claimed_at":"1970-01-01T00:00:02.000Z","running_at":"1970-01-01T00:00:03.000Z","finished_at":"1970-01-01T00:00:04.000Z"}`},
		"fresh": {Handoff{ID: "hnd_01", Target: "dj", Instruction: "a", Key: "k", CreatedAt: 1_000},
			`{"id":"hnd_01","target":"dj","status":"pending","instruction":"a","attachments":[],"context":null,` +
				`"idempotency_key":"k","source_session_id":null,"worker_session_id":null,"fence":0,"outcome":null,"metrics":null,"error":null,` +
				`"created_at":"1970-01-01T00:00:01.000Z","claimed_at":null,"running_at":null,"finished_at":null}`},
	} {
		b, err := marshal(c.h)
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, b, c.want)
		}
		var back Handoff
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(back, c.h) {
			t.Errorf("%s\n got %+v\nwant %+v", name, back, c.h)
		}
	}
}

// TestHandoffTags holds the tags that programs read off Handoff to the form that
// is written.
func TestHandoffTags(t *testing.T) {
	var written []string
	for f := range reflect.TypeFor[wire]().Fields() {
		written = append(written, f.Tag.Get("json"))
	}
	var told []string
	for f := range reflect.TypeFor[Handoff]().Fields() {
		if tag := f.Tag.Get("json"); tag != "-" && f.IsExported() {
			told = append(told, tag)
		}
	}
	if !reflect.DeepEqual(written, told) {
		t.Errorf("written %v\ntold    %v", written, told)
	}
}

func TestStatus(t *testing.T) {
	for i, name := range Statuses() {
		s, err := ParseStatus(name)
		if err != nil || s != Status(i) || s.String() != name || s.Final() != (i >= 3) {
			t.Errorf("%s: %v, %v, final %v", name, s, err, s.Final())
		}
	}
	var s Status
	err := json.Unmarshal([]byte(`"finished"`), &s)
	if !errors.Is(err, ledger.ErrInvalid) || !strings.Contains(err.Error(), "pending, claimed, running, done, failed, cancelled") {
		t.Errorf("an unknown status: %v", err)
	}
	if _, err := Status(6).MarshalText(); err == nil || Status(6).Final() {
		t.Error("status 6 passes")
	}
}

func TestSentinels(t *testing.T) {
	for _, c := range []struct {
		err, is error
	}{
		{ErrNotFound, ledger.ErrNotFound}, {ErrUnclaimed, ErrConflict}, {ErrNotOwner, ErrConflict}, {ErrFence, ErrConflict},
		{ErrFinal, ErrClosed}, {ErrClaimLost, ErrClosed},
	} {
		if !errors.Is(c.err, c.is) {
			t.Errorf("%v is not %v", c.err, c.is)
		}
		if hints[c.err] == "" && !errors.Is(c.err, ErrNotFound) {
			t.Errorf("%v has no hint", c.err)
		}
	}
	if errors.Is(ErrConflict, ErrClosed) || errors.Is(ErrClosed, ErrConflict) {
		t.Error("conflict and closed are one")
	}
}

func TestValidate(t *testing.T) {
	x := func(n int) string { return strings.Repeat("中", n) } // limits count code points, not bytes
	whole := func(edit func(n *NewHandoff)) error {
		n := NewHandoff{Target: "dj", Instruction: "mix it", Key: "k"}
		edit(&n)
		return n.Validate()
	}
	finish := func(edit func(c *FinishCommand)) error {
		c := FinishCommand{Worker: "A", Status: Done}
		edit(&c)
		return c.Validate()
	}
	metrics := func(keys ...string) ledger.Metrics {
		var m ledger.Metrics
		for _, k := range keys {
			m = append(m, ledger.Metric{Key: k, Value: "1"})
		}
		return m
	}
	minus := int64(-1)
	for _, c := range []struct {
		name  string
		err   error
		field string // "" = accepted
		say   string
	}{
		{"target missing", whole(func(n *NewHandoff) { n.Target = "" }), "target", "nothing"},
		{"target of space", whole(func(n *NewHandoff) { n.Target = " \n" }), "target", "only space"},
		{"target 64", whole(func(n *NewHandoff) { n.Target = x(64) }), "", ""},
		{"target 65", whole(func(n *NewHandoff) { n.Target = x(65) }), "target", "at most 64 characters; got 65"},
		{"instruction missing", whole(func(n *NewHandoff) { n.Instruction = "" }), "instruction", "1 to 4000 characters"},
		{"instruction blank", whole(func(n *NewHandoff) { n.Instruction = " \n\t\u00a0" }), "instruction", "only space"},
		{"instruction 4000", whole(func(n *NewHandoff) { n.Instruction = x(4000) }), "", ""},
		{"instruction 4001", whole(func(n *NewHandoff) { n.Instruction = x(4001) }), "instruction", "at most 4000 characters; got 4001"},
		{"instruction with NUL", whole(func(n *NewHandoff) { n.Instruction = "a\x00" }), "instruction", "NUL"},
		{"instruction not UTF-8", whole(func(n *NewHandoff) { n.Instruction = "a\xff" }), "instruction", "UTF-8"},
		{"key missing", whole(func(n *NewHandoff) { n.Key = "" }), "idempotency_key", "1 to 128 characters"},
		{"key 128", whole(func(n *NewHandoff) { n.Key = x(128) }), "", ""},
		{"key 129", whole(func(n *NewHandoff) { n.Key = x(129) }), "idempotency_key", "at most 128 characters; got 129"},
		{"20 attachments", whole(func(n *NewHandoff) { n.Attachments = many(20) }), "", ""},
		{"21 attachments", whole(func(n *NewHandoff) { n.Attachments = many(21) }), "attachments", "at most 20; got 21"},
		{"path missing", whole(func(n *NewHandoff) { n.Attachments = append(many(1), Attachment{Name: "x"}) }), "attachments[1].path", "nothing"},
		{"path 4096", whole(func(n *NewHandoff) { n.Attachments = []Attachment{{Path: x(4096)}} }), "", ""},
		{"path 4097", whole(func(n *NewHandoff) { n.Attachments = []Attachment{{Path: x(4097)}} }), "attachments[0].path", "at most 4096 characters; got 4097"},
		{"name 255", whole(func(n *NewHandoff) { n.Attachments = []Attachment{{"/a", x(255)}} }), "", ""},
		{"name 256", whole(func(n *NewHandoff) { n.Attachments = []Attachment{{"/a", x(256)}} }), "attachments[0].name", "at most 255 characters; got 256"},
		{"source 128", whole(func(n *NewHandoff) { n.SourceSession = x(128) }), "", ""},
		{"source 129", whole(func(n *NewHandoff) { n.SourceSession = x(129) }), "source_session_id", "at most 128 characters; got 129"},
		{"source of space", whole(func(n *NewHandoff) { n.SourceSession = " " }), "source_session_id", "only space"},
		{"context", whole(func(n *NewHandoff) { n.Context = json.RawMessage(`[]`) }), "context", "an array"},

		{"worker missing", (&claim{}).Validate(), "worker_session_id", "nothing"},
		{"worker 129", (&claim{x(129)}).Validate(), "worker_session_id", "at most 128 characters; got 129"},

		{"finish without a worker", finish(func(c *FinishCommand) { c.Worker = "" }), "worker_session_id", "nothing"},
		{"finish as running", finish(func(c *FinishCommand) { c.Status = Running }), "status", "one of done, failed, cancelled; got running"},
		{"finish as 6", finish(func(c *FinishCommand) { c.Status = 6 }), "status", "one of done, failed, cancelled"},
		{"outcome 512", finish(func(c *FinishCommand) { c.Outcome = x(512) }), "", ""},
		{"outcome 513", finish(func(c *FinishCommand) { c.Outcome = x(513) }), "outcome", "at most 512 characters; got 513"},
		{"8 metrics", finish(func(c *FinishCommand) { c.Metrics = metrics("a", "b", "c", "d", "e", "f", "g", "h") }), "", ""},
		{"9 metrics", finish(func(c *FinishCommand) { c.Metrics = metrics("a", "b", "c", "d", "e", "f", "g", "h", "i") }), "metrics", "at most 8 keys; got 9"},
		{"a metric twice", finish(func(c *FinishCommand) { c.Metrics = metrics("a", "b", "a") }), "metrics", "each key once"},
		{"infinite metric", finish(func(c *FinishCommand) { c.Metrics = ledger.Metrics{{Key: "a", Value: "1e999"}} }), "metrics.a", "finite"},
		{"error 2000", finish(func(c *FinishCommand) { c.Error = x(2000) }), "", ""},
		{"error 2001", finish(func(c *FinishCommand) { c.Error = x(2001) }), "error", "at most 2000 characters; got 2001"},
		{"fence below 0", finish(func(c *FinishCommand) { c.Fence = &minus }), "fence", "0 or more; got -1"},

		{"reason 512", (&ReleaseCommand{Reason: x(512)}).Validate(), "", ""},
		{"reason 513", (&ReleaseCommand{Reason: x(513)}).Validate(), "reason", "at most 512 characters; got 513"},
		{"release below 0", (&ReleaseCommand{Fence: &minus}).Validate(), "fence", "0 or more"},
		{"settle as pending", (&SettleCommand{}).Validate(), "status", "got pending"},
		{"settle reason 513", (&SettleCommand{Status: Done, Reason: x(513)}).Validate(), "reason", "at most 512"},
		{"settle outcome 513", (&SettleCommand{Status: Done, Outcome: x(513)}).Validate(), "outcome", "at most 512"},
		{"settle below 0", (&SettleCommand{Status: Done, Fence: &minus}).Validate(), "fence", "0 or more"},

		{"list limit 0", (&Filter{}).Validate(), "", ""},
		{"list limit 50", (&Filter{Limit: 50}).Validate(), "", ""},
		{"list limit 51", (&Filter{Limit: 51}).Validate(), "limit", "1 to 50; got 51"},
		{"list limit -1", (&Filter{Limit: -1}).Validate(), "limit", "1 to 50; got -1"},
		{"list target 65", (&Filter{Target: x(65)}).Validate(), "target", "at most 64"},
		{"list status 6", (&Filter{Status: ref(Status(6))}).Validate(), "status", "one of pending"},
	} {
		if c.field == "" {
			if c.err != nil {
				t.Errorf("%s: %v", c.name, c.err)
			}
			continue
		}
		var f *ledger.FieldError
		if !errors.As(c.err, &f) || f.Field != c.field || !strings.Contains(f.Error(), c.say) {
			t.Errorf("%s: %v; want %s and %q", c.name, c.err, c.field, c.say)
		}
	}
}

func ref[T any](v T) *T { return &v }

func many(n int) []Attachment {
	a := make([]Attachment, n)
	for i := range a {
		a[i].Path = "/a"
	}
	return a
}

// TestValidateFolds checks that one-line fields lose their line breaks, others
// keep them, and nothing of the caller's own is touched.
func TestValidateFolds(t *testing.T) {
	own := []Attachment{{"/a\r\nb", "n\tm"}}
	n := NewHandoff{Target: "d\nj", Instruction: "a\r\n\tb", Key: "k\u2028l", Attachments: own, SourceSession: "s\n\n1", Context: json.RawMessage(` { "a" : "b\nc" } `)}
	n.Context = json.RawMessage(strings.ReplaceAll(string(n.Context), "\n", `\n`))
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	want := NewHandoff{Target: "d j", Instruction: "a\r\n\tb", Key: "k l", Attachments: []Attachment{{"/a b", "n m"}}, SourceSession: "s 1", Context: json.RawMessage(`{"a":"b\nc"}`)}
	n.canonical = nil
	if !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v\nwant %+v", n, want)
	}
	if own[0] != (Attachment{"/a\r\nb", "n\tm"}) {
		t.Errorf("the caller's attachments became %q", own)
	}
	c := FinishCommand{Worker: "w\n1", Status: Done, Outcome: "a\nb", Error: "a\nb"}
	if err := c.Validate(); err != nil || c.Worker != "w 1" || c.Outcome != "a b" || c.Error != "a\nb" {
		t.Errorf("got %+v, %v", c, err)
	}
	s := SettleCommand{Status: Done, Outcome: "a\nb", Reason: "c\nd"}
	if err := s.Validate(); err != nil || s.Outcome != "a b" || s.Reason != "c d" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestPreview(t *testing.T) {
	for in, want := range map[string]string{
		"one":                            "one",
		"  one\n\n\ttwo  ":               "one two",
		strings.Repeat("中", 120):         strings.Repeat("中", 120),
		strings.Repeat("中", 121):         strings.Repeat("中", 119) + "…",
		strings.Repeat("\n", 3999) + "x": "x",
	} {
		if got := preview(in); got != want {
			t.Errorf("%.20q: %q, want %q", in, got, want)
		}
	}
}

func TestParseRef(t *testing.T) {
	const ulid = "01KB5Z0V8R9T6M3Q2W1XYZABCD"
	for in, want := range map[string]struct {
		id     string
		suffix string
		ok     bool
	}{
		"hnd_" + ulid:                  {"hnd_" + ulid, "", true},
		"HND_" + strings.ToLower(ulid): {"hnd_" + ulid, "", true},
		"H-ABCD":                       {"", "ABCD", true},
		"h-zabcd":                      {"", "ZABCD", true},
		"H-" + ulid:                    {"", ulid, true},
		"H-BCD":                        {},
		"H-0" + ulid:                   {},
		"H-ABCU":                       {}, // U is no letter of a ULID
		"H-ABC%":                       {},
		"ABCD":                         {},
		"hnd_ABCD":                     {},
		"tkt_" + ulid:                  {},
		"":                             {},
	} {
		id, suffix, ok := naming.Parse(in)
		if id != want.id || suffix != want.suffix || ok != want.ok {
			t.Errorf("%q: %q, %q, %v", in, id, suffix, ok)
		}
	}
}

package local

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	lines := []Line{
		{Hello: &Hello{Role: RoleBridge, ID: NewID(), Version: "0.3.0", Schema: 4, PID: 71, Ledger: "ab", Workspace: "/home/a/api", Stream: "api", Client: "codex 0.50", Era: "2025-06-18", Tools: "cd"}},
		{Welcome: &Welcome{State: StateOpening, Done: 0.4}},
		{Welcome: &Welcome{State: StateServing, Version: "0.3.1", Schema: 4, Tools: "cd", Slots: 32}},
		{Refused: &Refused{Code: RefusedVersion, Message: "newer", Hint: "restart"}},
		{Yield: &Yield{Role: "window", Version: "0.4.0", Schema: 5}},
		{Yielding: true},
		{Kept: "busy"},
		{Client: &ClientInfo{Name: "claude-code", Version: "2", Era: stateless}},
		{Stop: &Stop{PID: 3, Reason: "typed"}},
		{Stopping: true},
		{Info: &Info{}},
		{Info: &Info{PID: 4, State: "serving", Connections: 3}},
	}
	var b bytes.Buffer
	for _, l := range lines {
		if err := WriteLine(&b, l); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString(`{"jsonrpc":"2.0"}` + "\n")
	for raw := range strings.Lines(b.String()) {
		if got, want := IsLine([]byte(raw)), !strings.Contains(raw, "jsonrpc"); got != want {
			t.Errorf("IsLine is %v for %s", got, raw)
		}
	}
	r := bufio.NewReaderSize(&b, 16) // smaller than any line
	for _, want := range lines {
		want.Steward = 1
		got, err := ReadLine(r)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := ReadLine(r); !errors.Is(err, ErrNotSteward) {
		t.Errorf("an MCP line gave %v", err)
	}
	if _, err := ReadLine(r); !errors.Is(err, io.EOF) {
		t.Errorf("the end gave %v", err)
	}
}

func TestReadLineTakesNoMoreThanItsLine(t *testing.T) {
	r := bufio.NewReader(strings.NewReader(`{"steward":1,"kept":"busy"}` + "\nnext\n"))
	if _, err := ReadLine(r); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "next\n" {
		t.Errorf("left over: %q", rest)
	}
}

func TestReadLineRefuses(t *testing.T) {
	full := `{"steward":1,"kept":"` + strings.Repeat("x", MaxLine-1-len(`{"steward":1,"kept":""}`)) + `"}`
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"at the limit":   {full + "\n", nil},
		"over the limit": {" " + full + "\n", ErrLineTooLong},
		"endless":        {strings.Repeat("x", 3*MaxLine), ErrLineTooLong},
		"cut short":      {`{"steward":1`, io.ErrUnexpectedEOF},
		"no JSON":        {"hello\n", ErrNotSteward},
		"no steward":     {"{}\n", ErrNotSteward},
		"another one":    {`{"steward":2}` + "\n", ErrNotSteward},
		"nothing":        {"", io.EOF},
	} {
		for _, size := range []int{16, MaxLine, 3 * MaxLine} {
			if _, err := ReadLine(bufio.NewReaderSize(strings.NewReader(c.in), size)); !errors.Is(err, c.want) {
				t.Errorf("%s, buffer of %d: got %v, want %v", name, size, err, c.want)
			}
		}
	}
	if err := WriteLine(io.Discard, Line{Kept: strings.Repeat("x", MaxLine)}); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("writing a long line gave %v", err)
	}
}

// Whatever the surroundings are called, the hello fits: < takes six bytes in
// JSON.
func TestHelloAlwaysFits(t *testing.T) {
	long := strings.Repeat("<", 5000)
	h := Hello{Role: RoleBridge, ID: NewID(), Version: long, Schema: 1 << 30, PID: 1 << 30, Ledger: strings.Repeat("f", 64),
		Workspace: long, Stream: long, Client: long, Era: long, Tools: strings.Repeat("f", 64)}.fitted()
	if err := WriteLine(io.Discard, Line{Hello: &h}); err != nil {
		t.Error(err)
	}
	if got := (Hello{Workspace: strings.Repeat("é", 200) + "/api"}).fitted().Workspace; !strings.HasSuffix(got, "é/api") || len(got) > maxHelloWorkspace {
		t.Errorf("of a long path %q is left", got)
	}
	if got := (Hello{Client: strings.Repeat("é", 200)}).fitted().Client; got != strings.Repeat("é", 128) {
		t.Errorf("of a long name %q is left", got)
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte(`{"steward":1,"hello":{"role":"bridge","id":"x","version":"1"}}` + "\n"))
	f.Add([]byte(`{"steward":1,"welcome":{"state":"opening","done":0.4}}` + "\n{"))
	f.Add([]byte("{\"steward\":1,\"kept\":\"\xff\"}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadLine(bufio.NewReaderSize(bytes.NewReader(b), 16))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteLine(&out, l); err != nil {
			if errors.Is(err, ErrLineTooLong) {
				return // escapes can make it longer than it came
			}
			t.Fatal(err)
		}
		again, err := ReadLine(bufio.NewReader(&out))
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Fatalf("%+v came back as %+v, %v", l, again, err)
		}
	})
}

func TestNewID(t *testing.T) {
	at := time.UnixMilli(1469918176385)
	if id := newID(at); !strings.HasPrefix(id, "01ARYZ6S41") {
		t.Errorf("%s: not the time part of the ULID specification's example", id)
	}
	seen := map[string]bool{}
	last := ""
	for i := range 1000 {
		id := newID(at.Add(time.Duration(i) * time.Millisecond))
		if !isID(id) || seen[id] || id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		seen[id], last = true, id
	}
	if id := newID(time.UnixMilli(1<<48 - 1)); !strings.HasPrefix(id, "7ZZZZZZZZZ") {
		t.Errorf("the last moment is %s", id)
	}
	for _, s := range []string{"", "01ARYZ6S41", "81ARYZ6S41TSV4RRFFQ69G5FAV", "01aryz6s41tsv4rrffq69g5fav", "01ARYZ6S41TSV4RRFFQ69G5FAU", "01ARYZ6S41TSV4RRFFQ69G5FA/"} {
		if isID(s) {
			t.Errorf("%q passes for a ULID", s)
		}
	}
}

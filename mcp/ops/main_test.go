package ops

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file in testdata, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs (go test ./mcp/ops -update rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// bench is a set of operations on a real ledger with a clock of its own.
type bench struct {
	*Set
	log   *ledger.Log
	clock *ledgertest.Clock
}

func newBench(t testing.TB) *bench {
	t.Helper()
	clock := ledgertest.NewClock()
	log := ledgertest.Open(t, clock)
	env := &Env{Log: log, Targets: func() []string { return []string{"studio", "dj", "library"} }, Settings: &wishes{Preferences{Theme: "system", Language: "system", SingleKeys: true}}}
	env.About = func() About {
		return About{Version: "1.2.3", Ledger: "/s/ledger.db", State: "/s", Config: "/s/config.json", Log: "/s/logs/steward.log", Role: "serve", License: "AGPL-3.0", Update: Update{State: "off"}}
	}
	return &bench{NewSet(env, All()...), log, clock}
}

// wishes are settings that last as long as a test.
type wishes struct{ p Preferences }

func (w *wishes) Preferences() Preferences { return w.p }

func (w *wishes) Prefer(c PreferenceChange) (Preferences, error) {
	if c.Theme != nil {
		w.p.Theme = *c.Theme
	}
	if c.Language != nil {
		w.p.Language = *c.Language
	}
	if c.SingleKeys != nil {
		w.p.SingleKeys = *c.SingleKeys
	}
	if c.UpdateCheck != nil {
		w.p.UpdateCheck = *c.UpdateCheck
	}
	return w.p, nil
}

var (
	agent  = Caller{Surface: Agent, Workspace: "api", Session: "s-1", Client: "codex 0.50"}
	person = Caller{Surface: Window, Person: true}
)

// ok calls and wants an answer, which it decodes into a map.
func (b *bench) ok(t testing.TB, c Caller, tool, args string) map[string]any {
	t.Helper()
	r, err := b.Call(context.Background(), c, tool, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, args, err)
	}
	var m map[string]any
	if err := json.Unmarshal(r.JSON, &m); err != nil {
		t.Fatalf("%s(%s): %v in %s", tool, args, err, r.JSON)
	}
	if r.Text != string(r.JSON) {
		t.Fatalf("%s(%s): text %s is not the JSON %s", tool, args, r.Text, r.JSON)
	}
	return m
}

// refused calls and wants an error of that code.
func (b *bench) refused(t testing.TB, c Caller, tool, args string, code Code) *Error {
	t.Helper()
	r, err := b.Call(context.Background(), c, tool, json.RawMessage(args))
	if err == nil {
		t.Fatalf("%s(%s): answered %s, want %s", tool, args, r.JSON, code)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != code {
		t.Fatalf("%s(%s): %v, want %s", tool, args, err, code)
	}
	if !json.Valid(e.JSON()) {
		t.Fatalf("%s(%s): error is no JSON: %s", tool, args, e.JSON())
	}
	return e
}

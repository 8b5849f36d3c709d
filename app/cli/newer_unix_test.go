//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"steward/ledger"
)

// An older Steward refuses a ledger that a newer one has made, wherever it is
// asked: in the same plain words, with what to do, and without a change to the file.
func TestNewerLedgerIsRefusedEverywhere(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "by the newer one", "--actor", "me")
	h.end()
	p := h.paths()
	if err := newer(p.Ledger); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(p.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	const says, hint = " was made by a newer Steward (its schema is 99, this one knows ", "steward update"
	plain := func(what, text string) {
		t.Helper()
		if strings.Count(text, p.Ledger+says) == 0 || strings.Contains(text, "newer Steward: the ledger") || !strings.Contains(text, hint) {
			t.Errorf("%s says\n%s", what, text)
		}
	}

	for _, args := range [][]string{{"call", "recent_events"}, {"status"}, {"search", "word"}, {"backup"}, {"verify"}, {"export"}} {
		a := h.run(args...)
		if a.code != 6 || a.out != "" {
			t.Errorf("%v: exit %d, %q", args, a.code, a.out)
		}
		plain(strings.Join(args, " "), a.err)
	}
	a := h.run("doctor")
	if a.code != 6 {
		t.Errorf("doctor: exit %d", a.code)
	}
	plain("doctor", a.out)
	var e struct {
		Error struct{ Code, Message, Hint string }
	}
	if a = h.run("status", "--json"); a.code != 6 || json.Unmarshal([]byte(a.err), &e) != nil || e.Error.Code != "version" {
		t.Errorf("status --json: %+v", a)
	}
	plain("status --json", e.Error.Message+" "+e.Error.Hint)

	// The bridge starts all the same, and says it in the answer to a call.
	b := h.bridge()
	if _, err = b.ask("tools/list", `{}`); err != nil {
		t.Errorf("tools/list: %v", err)
	}
	if _, err = b.ask("tools/call", `{"name":"situation_report","arguments":{}}`); err == nil {
		t.Error("a report of a ledger that cannot be read")
	} else {
		plain("the bridge", fmt.Sprint(err))
	}
	b.close()
	h.end()

	s := h.start(h.command(thisVersion, "serve"))
	s.says(hint) // the line after
	plain("serve", s.said.String())
	h.end()
	if code := s.exits(); code != 0 { // stopped as asked
		t.Errorf("serve ended with %d", code)
	}
	if after, err := os.ReadFile(p.Ledger); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
}

// An older service that only refuses is no answer to a newer Steward, whoever
// started it.
func TestOlderThatRefusesIsReplaced(t *testing.T) {
	for _, role := range []string{"auto", "serve"} {
		t.Run(role, func(t *testing.T) {
			h := newHouse(t)
			h.ok("emit", "by the newer one", "--actor", "me")
			h.end()
			if err := newer(h.paths().Ledger); err != nil {
				t.Fatal(err)
			}
			if role == "serve" {
				h.start(h.command(thisVersion, "serve"))
			}
			eventually(t, "the older refusing", func() bool { return h.run("status").code == 6 && h.info().State == "refusing" })
			if err := onFile(h.paths().Ledger, fmt.Sprintf(`PRAGMA user_version = %d`, ledger.SchemaVersion)); err != nil {
				t.Fatal(err)
			}
			b := h.bridgeOf(h.command(newerVersion, "mcp"))
			if r := b.mustReport("me", "by the newer one's bridge"); r.EventID != 2 {
				t.Errorf("%+v; want event 2", r)
			}
			if out, err := h.command(newerVersion, "status").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if i := h.info(); i.Version != newerVersion {
				t.Errorf("%+v", i)
			}
		})
	}
}

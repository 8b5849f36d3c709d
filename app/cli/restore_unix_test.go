//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/app/daemon"
	"steward/ledger"
)

// A copy is put back while a client goes on calling: what was acknowledged is in
// the ledger or in what is kept of the old one, and the ledger is sound.
func TestRestoreWhileAClientCalls(t *testing.T) {
	h := newHouse(t)
	b := h.bridge()
	b.mustReport("me", "first")
	copied := filepath.Join(h.dir, "copy.db")
	h.ok("backup", copied)
	stop, calling := make(chan struct{}), make(chan map[string]bool)
	go func() {
		acknowledged := map[string]bool{"first": true}
		defer func() { calling <- acknowledged }()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			outcome := fmt.Sprint("call ", i)
			r, err := b.report("me", outcome)
			if err != nil {
				t.Errorf("%s: %v", outcome, err)
				return
			}
			if !r.Spooled {
				acknowledged[outcome] = true
			}
		}
	}()
	seen := map[string]bool{}
	for range 3 {
		var r daemon.Restored
		if err := json.Unmarshal([]byte(h.ok("restore", copied, "--json")), &r); err != nil || r.Events != 1 || len(r.Kept) == 0 {
			t.Errorf("restored %+v, %v", r, err)
		}
		old := r.Kept[len(r.Kept)-1]
		h.ok("verify", old)
		outcomes(t, old, seen)
	}
	close(stop)
	acknowledged := <-calling
	h.end()
	if out := h.ok("verify"); !strings.Contains(out, "no fault found") {
		t.Errorf("verify: %s", out)
	}
	outcomes(t, h.paths().Ledger, seen)
	for outcome := range acknowledged {
		if !seen[outcome] {
			t.Errorf("%q was acknowledged and is nowhere", outcome)
		}
	}
	if len(acknowledged) < 2 {
		t.Errorf("%d calls; want some", len(acknowledged))
	}
	b.close()
}

// outcomes adds those of a ledger file.
func outcomes(t *testing.T, file string, to map[string]bool) {
	t.Helper()
	if err := ledger.ReadFile(context.Background(), file, ledger.Selection{}, func(e ledger.Event) error {
		to[e.Outcome] = true
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// After a kill the newest receipts are in the write-ahead log alone; they are
// kept with the rest, and do not get into the copy.
func TestRestoreAfterAKill(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "first", "--actor", "me")
	copied := filepath.Join(h.dir, "copy.db")
	h.ok("backup", copied)
	h.ok("emit", "second", "--actor", "me")
	kill(t, h.holder())
	eventually(t, "the lock's release", func() bool { return h.holder() == 0 })
	var r daemon.Restored
	if err := json.Unmarshal([]byte(h.ok("restore", copied, "--json")), &r); err != nil || len(r.Kept) < 2 || r.Ended != "" {
		t.Fatalf("restored %+v, %v", r, err)
	}
	old, now := map[string]bool{}, map[string]bool{}
	outcomes(t, r.Kept[len(r.Kept)-1], old)
	outcomes(t, h.paths().Ledger, now)
	if !old["second"] || now["second"] || !now["first"] {
		t.Errorf("kept %v, restored %v", old, now)
	}
	h.ok("verify")
	h.ends(0, "event 2 ", "emit", "third", "--actor", "me")
}

func TestRestoreChangesNothingForWhatIsNoCopy(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "first", "--actor", "me")
	copied := filepath.Join(h.dir, "copy.db")
	h.ok("backup", copied)
	pid := h.holder()
	words, other := filepath.Join(h.dir, "words.db"), filepath.Join(h.dir, "other.db")
	if err := os.WriteFile(words, []byte(strings.Repeat("words ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := foreign(other); err != nil {
		t.Fatal(err)
	}
	h.ends(3, "there is no ", "restore", filepath.Join(h.dir, "none.db"))
	h.ends(7, "is damaged", "restore", words)
	h.ends(2, "is not a Steward ledger", "restore", other)
	h.ends(2, "the ledger's place", "restore", h.paths().Ledger)
	h.ends(2, "a named pipe", "restore", pipe(t, filepath.Join(h.dir, "pipe")))
	if err := damage(copied); err != nil {
		t.Fatal(err)
	}
	h.ends(7, "nothing was changed", "restore", copied)
	if now := h.holder(); now != pid {
		t.Errorf("the service %d is %d now; want it untouched", pid, now)
	}
	files, err := filepath.Glob(filepath.Join(h.dir, "home", "*restore*"))
	if err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

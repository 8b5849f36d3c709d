package ops

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

func TestBackupNow(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	ledgertest.Append(t, b.log, ledger.Event{Actor: "a", Type: "done"})
	ask := func(args string) (Backup, error) {
		r, err := b.Call(context.Background(), shell, "backup_now", json.RawMessage(args))
		var out Backup
		if err == nil {
			err = json.Unmarshal(r.JSON, &out)
		}
		return out, err
	}
	if _, err := ask(`{}`); CodeOf(err) != Unavailable {
		t.Errorf("without a folder: %v", err)
	}
	b.env.Backups = filepath.Join(dir, "backups")
	first, err := ask(`{}`)
	if err != nil || filepath.Dir(first.File) != b.env.Backups || first.Bytes == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if second, err := ask(`{}`); err != nil || second.File == first.File {
		t.Errorf("a second one in the same second: %+v, %v", second, err)
	}
	for args, code := range map[string]Code{
		`{"file":"here.db"}`: Invalid,
		string(mustJSON(t, map[string]string{"file": first.File})):                            Invalid,
		string(mustJSON(t, map[string]string{"file": filepath.Join(dir, "none", "copy.db")})): Invalid,
	} {
		if _, err := ask(args); CodeOf(err) != code || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%s: %v", args, err)
		}
	}
	if r, err := ledger.VerifyFile(context.Background(), first.File, nil); err != nil || !r.OK() || r.Events != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := b.Call(context.Background(), agent, "backup_now", nil); CodeOf(err) != Forbidden {
		t.Errorf("by an agent: %v", err)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLedgerImportTakesHandoffsToo(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: older ledgers were made by it")
	}
	file := filepath.Join(t.TempDir(), "older.db")
	if out, err := exec.Command(python, "../../ledger/testdata/older.py", "both", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := newBench(t)
	args := mustJSON(t, map[string]string{"file": file})
	for i, want := range []ledger.Imported{{Events: 30, Others: 3, Clipped: 30, LastID: 34}, {Already: 33, LastID: 35}} {
		r, err := b.Call(context.Background(), shell, "ledger_import", args)
		if err != nil {
			t.Fatal(err)
		}
		var got ledger.Imported
		if err := json.Unmarshal(r.JSON, &got); err != nil {
			t.Fatal(err)
		}
		want.Source = file
		if got != want {
			t.Errorf("run %d: %+v, want %+v", i, got, want)
		}
		ledgertest.View(t, b.log, func(v *ledger.View) error { // as the service tells of one that it began itself
			e, err := v.Event(want.LastID)
			var said ledger.Imported
			if e.Actor != "steward" || e.Type != "ledger_imported" || e.Object != "ledger_import" || e.Source != ledger.System || e.File != file || e.Injectable ||
				e.Outcome != "33 events and handoffs of an older ledger are taken over" || json.Unmarshal(e.Data, &said) != nil || said.Events != want.Events || said.Already != want.Already {
				t.Errorf("run %d: event %+v, data %s", i, e, e.Data)
			}
			return err
		})
	}
	ledgertest.Verify(t, b.log)
	ledgertest.View(t, b.log, func(v *ledger.View) error {
		list, _, err := handoff.List(v, handoff.Filter{})
		if err != nil || len(list) != 3 {
			t.Fatalf("%d handoffs, %v", len(list), err)
		}
		for i, want := range []struct {
			target string
			status handoff.Status
			worker string
		}{{"dj", handoff.Failed, "w2"}, {"mastering", handoff.Done, "w1"}, {"studio", handoff.Pending, ""}} {
			if list[i].Target != want.target || list[i].Status != want.status || list[i].Worker != want.worker || list[i].CreatedAt.String() != "2025-03-01T10:00:00.000Z" {
				t.Errorf("%+v, want %+v", list[i], want)
			}
		}
		h, err := handoff.Get(v, string(list[2].ID))
		if len(h.Attachments) != 1 || h.Key != "k1" {
			t.Errorf("%+v", h)
		}
		return err
	})
	// The key is the older one's: the client that made it and asks again gets it.
	r, err := b.Call(context.Background(), agent, "handoff_create", json.RawMessage(`{"target":"studio","instruction":"export the stems","idempotency_key":"k1","attachments":[{"path":"/a.wav"}]}`))
	if err != nil || !strings.Contains(string(r.JSON), `"duplicate":true`) {
		t.Errorf("%s, %v", r.JSON, err)
	}
	total, _, _ := failures(t, b.log)
	if total != 0 {
		t.Errorf("%d failures from imported handoffs", total)
	}
}

func failures(t *testing.T, l *ledger.Log) (total int64, items []ledger.Failure, err error) {
	ledgertest.View(t, l, func(v *ledger.View) error {
		total, items, err = v.Failures("", 10)
		return err
	})
	return
}

func TestLedgerImportSaysWhatIsWrongWithTheFile(t *testing.T) {
	b := newBench(t)
	text := filepath.Join(t.TempDir(), "text.db")
	os.WriteFile(text, []byte(strings.Repeat("words ", 100)), 0o600)
	for file, code := range map[string]Code{text: Invalid, text + "x": NotFound, "rel.db": Invalid, b.log.Path(): Invalid} {
		_, err := b.Call(context.Background(), shell, "ledger_import", mustJSON(t, map[string]string{"file": file}))
		if CodeOf(err) != code || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	if _, err := b.Call(context.Background(), agent, "ledger_import", mustJSON(t, map[string]string{"file": text})); CodeOf(err) != Forbidden {
		t.Errorf("by an agent: %v", err)
	}
}

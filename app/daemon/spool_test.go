package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/local"
)

// leave writes a call into the spool, as a bridge does.
func leave(t *testing.T, p Paths, r local.Record, n int) string {
	t.Helper()
	if r.SaidAt.IsZero() {
		r.SaidAt = time.UnixMilli(1e12)
	}
	file, err := local.Write(p.Spool, r.Stamp.Bridge, n, r)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func receipt(bridge string, slot int, seq uint64, args string) local.Record {
	return local.Record{Stamp: local.Stamp{Bridge: bridge, Slot: slot, Seq: seq}, Tool: "report_done", Arguments: json.RawMessage(args),
		Caller: local.Caller{Workspace: "/home/a/api", Stream: "api", Client: "codex 0.50"}}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	files, err := local.List(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("left in the spool: %v, %v", files, err)
	}
}

func TestSpoolIsEnteredBeforeServing(t *testing.T) {
	p := place(t)
	early, late := local.NewID(), local.NewID()
	if early > late {
		early, late = late, early
	}
	leave(t, p, receipt(late, 0, 1, `{"actor":"third"}`), 1)
	leave(t, p, receipt(early, 0, 1, `{"actor":"first"}`), 1)
	leave(t, p, receipt(early, 1, 1, `{"actor":"second","metrics":{"b":1,"a":2}}`), 2)
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	empty(t, p.Spool)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, e := range events(t, p) {
		actors = append(actors, e.Actor)
		if e.SaidAt != 1e12 || e.Workspace != "api" || e.Caller != "api" {
			t.Errorf("%+v; want when it was said, and where", e)
		}
	}
	if got := strings.Join(actors, " "); got != "first second third" {
		t.Errorf("entered %s; want the order of the names", got)
	}
}

func TestSpoolIsEnteredBeforeAWelcome(t *testing.T) {
	p := place(t)
	start(t, Options{Paths: p}).reaches(Serving)
	leave(t, p, receipt(local.NewID(), 0, 1, `{"actor":"spooled"}`), 1)
	c := connect(t, p)
	empty(t, p.Spool)
	if r := c.call("recent_events", map[string]any{}); len(r["events"].([]any)) != 1 {
		t.Errorf("after the welcome: %v", r)
	}
}

// The service was killed after the commit and before it removed the file; and
// the call had reached it before the bridge spooled it.
func TestSpooledCallTakesEffectOnce(t *testing.T) {
	p := place(t)
	bridge := local.NewID()
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	for range 3 {
		leave(t, p, receipt(bridge, 7, 3, `{"actor":"once"}`), 1)
		_ = connect(t, p).conn.Close() // only its welcome is wanted
		empty(t, p.Spool)
	}
	leave(t, p, receipt(bridge, 7, 2, `{"actor":"superseded"}`), 2)
	connect(t, p)
	empty(t, p.Spool)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	if all := events(t, p); len(all) != 1 || all[0].Actor != "once" {
		t.Errorf("%+v; want one event", all)
	}
}

func TestWhatCannotBeEnteredIsSetAside(t *testing.T) {
	p := place(t)
	bridge := local.NewID()
	torn := leave(t, p, receipt(bridge, 0, 1, `{"actor":"torn"}`), 1)
	b, err := os.ReadFile(filepath.Join(p.Spool, torn))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.Spool, torn), b[:len(b)/2])
	long := leave(t, p, receipt(bridge, 1, 1, `{"actor":"long","outcome":"`+strings.Repeat("x", 513)+`"}`), 2)
	unknown := receipt(bridge, 2, 1, `{}`)
	unknown.Tool = "no_such_tool"
	none := leave(t, p, unknown, 3)
	decides := receipt(bridge, 3, 1, `{"handoff_id":"hnd_x"}`)
	decides.Tool = "handoff_settle"
	forbidden := leave(t, p, decides, 4)
	leave(t, p, receipt(bridge, 4, 1, `{"actor":"good"}`), 5)
	reused := leave(t, p, receipt(bridge, 4, 1, `{"actor":"another call in the same slot"}`), 6)

	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	empty(t, p.Spool)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{torn, long, none, forbidden, reused} {
		if _, err := os.Stat(filepath.Join(p.Spool, "bad", f)); err != nil {
			t.Errorf("not set aside: %v", err)
		}
	}
	good, failed := 0, map[string]string{}
	for _, e := range events(t, p) {
		switch {
		case e.Actor == "good":
			good++
		case e.Actor == "steward" && e.Type == "failed" && e.Source == ledger.System && e.Injectable:
			failed[filepath.Base(e.File)] = e.Outcome
		default:
			t.Errorf("an event too many: %+v", e)
		}
	}
	if good != 1 || len(failed) != 5 {
		t.Errorf("%d good, %d failed; want 1 and 5", good, len(failed))
	}
	for f, says := range map[string]string{torn: "no whole record", long: "refused as invalid", none: "refused as not_found", forbidden: "refused as forbidden", reused: "refused as conflict"} {
		if !strings.Contains(failed[f], says) {
			t.Errorf("%s: %q; want it to say %q", f, failed[f], says)
		}
	}
}

// A crash between the failed event and the move must not make a second event.
func TestSettingAsideIsToldOnce(t *testing.T) {
	p := place(t)
	bridge := local.NewID()
	s := start(t, Options{Paths: p})
	s.reaches(Serving)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	file := leave(t, p, receipt(bridge, 0, 1, `{}`), 1)
	lock, err := ledger.Lock(p.Ledger, "a test")
	if err != nil {
		t.Fatal(err)
	}
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Update(context.Background(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		_, err := tx.MarkSpooled(file)
		return nil, err
	}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	s = start(t, Options{Paths: p})
	s.reaches(Serving)
	empty(t, p.Spool)
	s.stop()
	if err := s.ends(); err != nil {
		t.Fatal(err)
	}
	if all := events(t, p); len(all) != 0 {
		t.Errorf("%+v; want no second event", all)
	}
}

// What cannot be entered and cannot be moved away either is no reason for the
// other calls to wait.
func TestStuckFilesHoldNothingUp(t *testing.T) {
	p := place(t)
	first, last := local.NewID(), local.NewID()
	if first > last {
		first, last = last, first
	}
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.Spool, 0o700); err != nil {
		t.Fatal(err)
	}
	broken := leave(t, p, receipt(first, 0, 1, `{"actor":"x"}`), 1)
	if err := os.WriteFile(filepath.Join(p.Spool, broken), []byte("no record"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Spool, "bad"), nil, 0o600); err != nil { // where the folder should be
		t.Fatal(err)
	}
	leave(t, p, receipt(last, 0, 1, `{"actor":"behind"}`), 1)
	for range 2 { // the second start tells it no second time
		s := start(t, Options{Paths: p})
		s.reaches(Serving)
		connect(t, p)
		s.stop()
		if err := s.ends(); err != nil {
			t.Fatal(err)
		}
	}
	var actors []string
	for _, e := range events(t, p) {
		actors = append(actors, e.Actor+":"+e.Type)
	}
	if got := strings.Join(actors, " "); got != "steward:failed behind:done" {
		t.Errorf("the ledger has %s", got)
	}
	if _, err := os.Stat(filepath.Join(p.Spool, broken)); err != nil {
		t.Errorf("the file is lost: %v", err)
	}
}

func TestTidy(t *testing.T) {
	p := place(t)
	old := write(t, filepath.Join(p.Spool, local.NewID()+"-000001.tmp"), []byte("half"))
	fresh := write(t, filepath.Join(p.Spool, local.NewID()+"-000001.tmp"), []byte("half"))
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Paths: p}).reaches(Serving)
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old half-written file is still there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh one is gone: %v", err)
	}
}

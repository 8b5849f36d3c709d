package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"steward/app/daemon"
	"steward/mcp/ops"
)

func pathsFor(t *testing.T) daemon.Paths {
	t.Helper()
	dir, err := os.MkdirTemp("", "st") // short, as a socket lives below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p, err := daemon.Find(daemon.Env{"STEWARD_HOME": dir, "STEWARD_SOCKET": dir + "/run/s.sock"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serving runs a window's service until the test ends.
func serving(t *testing.T, p daemon.Paths, l *Link, stopped func()) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s := &service{link: l, logger: quiet, stopped: stopped, options: daemon.Options{Paths: p, Env: daemon.Env{}, Role: daemon.Window, Version: "1.0.0", Logger: quiet}}
	go func() {
		defer close(ended)
		s.serve(ctx, nil)
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// The window is a client of the service that was there before it, and takes its
// place when that leaves; the page notices nothing but the news.
func TestServiceAttachesAndTakesOver(t *testing.T) {
	p, pg := pathsFor(t), newPage()
	ctx, leave := context.WithCancel(t.Context())
	up, down := make(chan struct{}), make(chan error, 1)
	go func() {
		down <- daemon.Run(ctx, daemon.Options{Paths: p, Env: daemon.Env{}, Role: daemon.Serve, Version: "1.0.0", Logger: quiet, Notify: func(s daemon.State, _ any) {
			if s == daemon.Serving {
				close(up)
			}
		}})
	}()
	<-up
	l := NewLink(quiet, pg.emit)
	defer l.Close()
	l.Listen()
	stop := serving(t, p, l, func() { t.Error("it was asked to stop") })
	focus := func(object string) {
		t.Helper()
		if got, err := l.Call(t.Context(), "focus_change", json.RawMessage(fmt.Sprintf(`{"object_id":%q}`, object))); err != nil {
			t.Fatal(got, err)
		}
	}
	pg.until(t, func(_ []ops.Notice, links []linkState) bool { return links[len(links)-1].State == linkLive })
	if !l.Attached() {
		t.Error("it is not attached")
	}
	focus("one")
	leave()
	if err := <-down; err != nil {
		t.Fatal(err)
	}
	focus("two") // waits for the ledger to change hands
	pg.until(t, func(news []ops.Notice, _ []linkState) bool { return len(ids(t, news)) == 2 })
	if l.Attached() {
		t.Error("it is attached, to nobody")
	}
	stop()
	if got := ids(t, pg.news); got[0] != 1 || got[1] != 2 {
		t.Errorf("the page was told of %v", got)
	}
}

// A ledger of a Steward to come: the window says so in plain words and leaves the
// file alone.
func TestServiceRefusesANewerLedger(t *testing.T) {
	p, pg := pathsFor(t), newPage()
	file := make([]byte, 100)
	copy(file, "SQLite format 3\x00")
	file[63] = 99 // user_version
	copy(file[68:], "STWR")
	if err := os.WriteFile(p.Ledger, file, 0o600); err != nil {
		t.Fatal(err)
	}
	l := NewLink(quiet, pg.emit)
	defer l.Close()
	l.Listen()
	serving(t, p, l, nil)
	pg.until(t, func(_ []ops.Notice, links []linkState) bool {
		last := links[len(links)-1]
		return last.State == linkLost && last.Code == ops.Version && strings.Contains(last.Reason, p.Ledger+" was made by a newer Steward (its schema is 99, ") && strings.Contains(last.Hint, "steward update")
	})
	if after, err := os.ReadFile(p.Ledger); err != nil || !bytes.Equal(after, file) {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestServiceTriesAgain(t *testing.T) {
	p, pg := pathsFor(t), newPage()
	if err := os.WriteFile(p.Ledger, []byte("not a ledger"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := NewLink(quiet, pg.emit)
	defer l.Close()
	l.Listen()
	serving(t, p, l, nil)
	pg.until(t, func(_ []ops.Notice, links []linkState) bool {
		last := links[len(links)-1]
		return last.State == linkLost && last.Code == ops.Corrupt && last.Reason != "" && last.Hint != ""
	})
	if err := os.Remove(p.Ledger); err != nil {
		t.Fatal(err)
	}
	pg.until(t, func(_ []ops.Notice, links []linkState) bool { return links[len(links)-1].State == linkLive })
	if _, err := l.Call(t.Context(), "handoff_list", nil); err != nil {
		t.Error(err)
	}
	if len(pg.links) != 3 {
		t.Errorf("the page was told %v", pg.links)
	}
}

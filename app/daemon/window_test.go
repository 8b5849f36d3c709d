package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// A window in the service's own process gets the operations before the first
// client is served, and they are the ones that the clients' calls reach.
func TestReadyHandsTheOperationsOver(t *testing.T) {
	p := place(t)
	got := make(chan *ops.Set, 1)
	start(t, Options{Paths: p, Role: Window, Ready: func(set *ops.Set, _ *ledger.Log) { got <- set }}).reaches(Serving)
	set := <-got
	connect(t, p).call("report_done", map[string]any{"actor": "ada", "type": "failed"})
	if _, err := set.Call(t.Context(), ops.Caller{Surface: ops.Window, Person: true}, "failure_acknowledge", json.RawMessage(`{"event_id":1}`)); err != nil {
		t.Error(err)
	}
}

func TestAWindowAttaches(t *testing.T) {
	p := place(t)
	first := start(t, Options{Paths: p, Role: Serve})
	first.reaches(Serving)

	attach := func(proof string) (*local.Attached, error) {
		return local.Attach(t.Context(), p.Socket, local.Hello{Version: "1.0.0", Schema: ledger.SchemaVersion, Ledger: p.Key, Proof: proof})
	}
	var refused *local.Refused
	if _, err := attach(""); !errors.As(err, &refused) || refused.Code != local.RefusedForbidden {
		t.Errorf("before there is a token: %v", err)
	}
	if _, err := os.Stat(p.Token); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hello has made the token's file: %v", err)
	}
	proof, err := p.Proof(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attach(proof + "x"); !errors.As(err, &refused) {
		t.Errorf("with another token: %v", err)
	}
	a, err := attach(proof)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Call(t.Context(), "handoff_create", json.RawMessage(`{"target":"studio","instruction":"x","idempotency_key":"k"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Call(t.Context(), "handoff_settle", json.RawMessage(`{"handoff_id":"H-"}`)); err == nil {
		t.Error("a handoff that is not there was settled")
	}
	// Its end is the window's sign to try for the lock.
	first.stop()
	select {
	case <-a.Done():
	case <-time.After(patience):
		t.Error("the connection outlives the service")
	}
}

// Closing a window must not tear a running task from its service; when the task
// has ended, nothing is left that needs this process.
func TestServesOnAfterTheWindow(t *testing.T) {
	p := place(t)
	w := &work{}
	w.active.Store(true)
	gone := make(chan struct{})
	r := start(t, Options{Paths: p, Role: Window, Work: w, Gone: gone})
	r.reaches(Serving)
	c := connect(t, p)
	close(gone)
	deadline := time.Now().Add(patience)
	for {
		i, err := local.AskInfo(t.Context(), p.Socket)
		if err != nil {
			t.Fatal(err)
		}
		if i.Role == string(Auto) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still a %s", i.Role)
		}
	}
	c.call("report_done", map[string]any{"actor": "me"})
	granted, why, err := local.AskYield(context.Background(), p.Socket, local.Yield{Role: "window", Version: "1.0.0", Schema: ledger.SchemaVersion})
	if err != nil || granted || why != keptBusy {
		t.Errorf("granted %v, %q, %v; want busy", granted, why, err)
	}
	w.active.Store(false)
	if err := r.ends(); err != nil { // though a client is connected: it finds another
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(r.log.String(), "no task is active") {
		t.Error("the log does not say why it left")
	}
}

func TestLeavesWithTheWindow(t *testing.T) {
	p := place(t)
	gone := make(chan struct{})
	r := start(t, Options{Paths: p, Role: Window, Gone: gone})
	r.reaches(Serving)
	close(gone)
	if err := r.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

package daemon

import (
	"strings"
	"testing"
	"time"
)

// A wait ends at the moment of the expiry, and the ledger says when it was due
// and when it was noticed.
func TestATicketExpires(t *testing.T) {
	p := place(t)
	r := start(t, Options{Paths: p})
	r.reaches(Serving)
	c := connect(t, p)
	asked := c.call("ask_human", map[string]any{"question": "Go?", "default_answer": "no", "timeout_seconds": 1})
	began := time.Now()
	got := c.call("wait_for_answer", map[string]any{"id": asked["id"]})
	if got["status"] != "expired" || got["answer"] != "DEFAULT ANSWER (applied on expiry; no human responded): no" || got["answered_by"] != "default" {
		t.Errorf("got %v", got)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the wait ended after %v", took)
	}
	deadline := time.Now().Add(patience)
	for {
		list := c.call("recent_events", map[string]any{"since_id": 0})["events"].([]any)
		var told string
		for _, e := range list {
			if m := e.(map[string]any); m["type"] == "ticket_expired" {
				d := m["data"].(map[string]any)
				if d["expires_at"] != asked["expires_at"] || d["decided_by"] != "default" || d["noticed_at"] == nil || m["source"] != "system" {
					t.Errorf("the audit says %v", m)
				}
				told = "yes"
			}
		}
		if told != "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody wrote the expiry down")
		}
	}
}

// An auto service does not leave while somebody waits for the person.
func TestAutoStaysForAQuestion(t *testing.T) {
	p := place(t)
	r := start(t, Options{Paths: p, Role: Auto, Idle: 50 * time.Millisecond})
	r.reaches(Serving)
	c := connect(t, p)
	id := c.call("ask_human", map[string]any{"question": "Go?", "timeout_seconds": 3})["id"]
	c.conn.Close()
	began := time.Now()
	if err := r.ends(); err != nil {
		t.Fatal(err)
	}
	if stayed := time.Since(began); stayed < 2*time.Second {
		t.Errorf("left after %v while %v waited", stayed, id)
	}
	if !strings.Contains(r.log.String(), "nobody was here") {
		t.Error("it left for another reason")
	}
}

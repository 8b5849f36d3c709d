package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// The word that an answer was taken back is said once, but to a request that is
// sent again because the service died with its answer: that one hears it again.
func TestARevocationIsToldAgainToTheRequestThatLostIt(t *testing.T) {
	f := serving(t)
	bridge := local.Hello{ID: local.NewID(), Stream: "api"}
	person := func(name, args string) {
		t.Helper()
		if _, err := f.server.backend.Call(context.Background(), ops.Caller{Surface: ops.Window, Person: true}, name, json.RawMessage(args)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	c := f.hello(t, bridge)
	var asked struct{ ID string }
	if err := json.Unmarshal([]byte(c.text(1, "ask_human", `{"question":"May I?"}`)), &asked); err != nil {
		t.Fatal(err)
	}
	wait := fmt.Sprintf(`{"id":%q,"timeout_seconds":0}`, asked.ID)
	person("ticket_answer", fmt.Sprintf(`{"id":%q,"answer":"yes"}`, asked.ID))
	if got := c.text(2, "wait_for_answer", wait); !strings.Contains(got, "HUMAN ANSWER: yes") {
		t.Fatal(got)
	}
	person("ticket_undo", fmt.Sprintf(`{"id":%q}`, asked.ID))
	if got := c.text(3, "wait_for_answer", wait); !strings.Contains(got, `"revoked":true`) {
		t.Fatal(got)
	}

	again, other := f.hello(t, bridge), f.hello(t, local.Hello{ID: local.NewID(), Stream: "api"})
	for range 2 { // the service may die again
		if got := again.text(3, "wait_for_answer", wait); !strings.Contains(got, `"revoked":true`) {
			t.Errorf("sent again: %s", got)
		}
	}
	if got := again.text(4, "wait_for_answer", wait); strings.Contains(got, "revoked") {
		t.Errorf("the next one: %s", got)
	}
	if got := other.text(3, "wait_for_answer", wait); strings.Contains(got, "revoked") {
		t.Errorf("of another session: %s", got)
	}
	person("ticket_answer", fmt.Sprintf(`{"id":%q,"answer":"no"}`, asked.ID))
	if got := again.text(3, "wait_for_answer", wait); strings.Contains(got, "revoked") || !strings.Contains(got, "HUMAN ANSWER: no") {
		t.Errorf("answered anew: %s", got)
	}
}

package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"steward/mcp/ops"
)

// ticket asks as an agent does, and returns the ticket's id.
func (f *fixture) ticket(who, args string) string {
	f.t.Helper()
	r, err := f.set.Call(f.t.Context(), ops.Caller{Surface: ops.Agent, Workspace: who, Stream: who}, "ask_human", []byte(args))
	if err != nil {
		f.t.Fatal(err)
	}
	var out struct{ ID string }
	if err := json.Unmarshal(r.JSON, &out); err != nil {
		f.t.Fatal(err)
	}
	return out.ID
}

func TestTickets(t *testing.T) {
	f := newFixture(t, nil)
	first, second := f.ticket("a", `{"question":"Go?","context":"line\nbreak"}`), f.ticket("b", `{"question":"Go?","context":"line\nbreak"}`)
	other := f.ticket("a", `{"question":"Stay?"}`)
	ask := func(method, path, body string) got { return f.ask(method, path, body, "X-Owner", "1") }
	for _, c := range []struct {
		what, method, path, body string
		status                   int
		says                     string
	}{
		{"the queue", "GET", TicketsPath, "", 200, `"context":"line\nbreak"`},
		{"blank", "POST", AnswerPath, `{"id":"` + first + `","answer":" \n"}`, 400, `"field":"answer"`},
		{"too long", "POST", AnswerPath, `{"id":"` + first + `","answer":"` + strings.Repeat("x", 2001) + `"}`, 400, `"field":"answer"`},
		{"not an id", "POST", AnswerPath, `{"id":"../../etc","answer":"x"}`, 404, `"code":"not_found"`},
		{"no such id", "POST", AnswerPath, `{"id":"tkt_01ARZ3NDEKTSV4RRFFQ69G5FAV","answer":"x"}`, 404, `"code":"not_found"`},
		{"another question's", "POST", AnswerPath, `{"id":"` + first + `","answer":"x","ids":["` + other + `"]}`, 400, `"field":"ids"`},
		{"not JSON", "POST", AnswerPath, `yes`, 400, `"code":"invalid"`},
		{"undo of nothing", "POST", UndoPath, `{"id":"` + first + `"}`, 409, `"code":"closed"`},
		{"that one alone, whoever it says answered", "POST", AnswerPath, `{"id":"` + first + `","answer":"yes","answered_by":"agent"}`, 200, `"answered_by":"human"`},
		{"again", "POST", AnswerPath, `{"id":"` + first + `","answer":"no"}`, 409, `"current":{"id":"` + first + `"`},
		{"the other asker still waits", "GET", TicketsPath, "", 200, `"id":"` + second + `","stream":"b","asked_by":"b","question":"Go?","options":[],"context":"line\nbreak","urgency":"normal","reversible":true,"status":"pending"`},
		{"undo", "POST", UndoPath, `{"id":"` + first + `"}`, 200, `"status":"pending"`},
		{"undo twice", "POST", UndoPath, `{"id":"` + first + `"}`, 409, `"code":"closed"`},
		{"all of the card", "POST", AnswerPath, `{"id":"` + second + `","answer":"yes","ids":["` + first + `"]}`, 200, `"answered":[{"id":"` + second},
		{"undo of nobody's", "POST", UndoPath, `{"id":"x"}`, 404, `"code":"not_found"`},
	} {
		if g := ask(c.method, c.path, c.body); g.StatusCode != c.status || !strings.Contains(g.body, c.says) {
			t.Errorf("%s: %s %s; want %d %s", c.what, g.Status, g.body, c.status, c.says)
		}
	}
	for path, body := range map[string]string{TicketsPath: "", AnswerPath: `{"id":"` + other + `","answer":"yes"}`, UndoPath: `{"id":"` + first + `"}`} {
		method := "POST"
		if body == "" {
			method = "GET"
		}
		if g := f.ask(method, path, body); g.StatusCode != 403 {
			t.Errorf("%s by another than the owner: %s %s", path, g.Status, g.body)
		}
		if g := ask("DELETE", path, body); g.StatusCode != 405 || g.Header.Get("Allow") == "" {
			t.Errorf("DELETE %s: %s", path, g.Status)
		}
	}
}

// However many answer at once, one wins and the others are told.
func TestOneAnswerWins(t *testing.T) {
	f := newFixture(t, nil)
	id := f.ticket("a", `{"question":"Go?"}`)
	const people = 16
	statuses := make([]int, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			statuses[i] = f.ask("POST", AnswerPath, fmt.Sprintf(`{"id":%q,"answer":"%d"}`, id, i), "X-Owner", "1").StatusCode
		})
	}
	all.Wait()
	won, winner := 0, 0
	for i, s := range statuses {
		switch s {
		case 200:
			won, winner = won+1, i
		case 409:
		default:
			t.Errorf("%d: %d", i, s)
		}
	}
	if won != 1 {
		t.Fatalf("%d of %d answers won", won, people)
	}
	if g := f.ask("GET", TicketsPath, "", "X-Owner", "1"); !strings.Contains(g.body, fmt.Sprintf(`"answer":"%d"`, winner)) {
		t.Errorf("%s; want the winner's, %d", g.body, winner)
	}
}

// Streams tell which tickets have changed, after the events themselves.
func TestEventsTellOfTickets(t *testing.T) {
	f := newFixture(t, nil)
	l := f.listen("")
	l.must() // hello
	id := f.ticket("a", `{"question":"Go?"}`)
	if h := l.must(); h.name != "ledger" {
		t.Fatalf("%+v", h)
	}
	l.want(heard{id: "1", name: "ticket", data: `{"last_id":1,"ids":["` + id + `"]}`})
}

package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// objectTicket is the object type of the events that tell of tickets.
const objectTicket = "ticket"

// ticketStatuses are the names of the numbers in tickets.status.
var ticketStatuses = [...]string{"pending", "answered", "expired", "cancelled"}

// asked is what a ticket's events say of its row.
type asked struct {
	status, answer string
	expires        Millis
	events         []int64
}

// ticket folds one event into what is told of its ticket.
func (f *replay) ticket(w *row) {
	typ, id := w.text[fType].s, w.text[fObject].s
	if w.text[fObjectType].s != objectTicket || !w.text[fData].ok || !strings.HasPrefix(typ, objectTicket+"_") {
		return
	}
	var m struct {
		To      string `json:"to"`
		Answer  string `json:"answer"`
		Expires Millis `json:"expires_at"`
	}
	if json.Unmarshal([]byte(w.text[fData].s), &m) != nil {
		return
	}
	t := f.tickets[id]
	if t == nil {
		t = &asked{}
		f.tickets[id] = t
	}
	switch typ {
	case "ticket_asked":
		t.status, t.expires = m.To, m.Expires
	case "ticket_undone":
		t.status, t.answer, t.expires = m.To, "", m.Expires
	case "ticket_answered", "ticket_expired":
		t.status, t.answer = m.To, m.Answer
	case "ticket_cancelled":
		t.status = m.To
	}
	t.events = append(t.events, w.id)
}

// compareTickets returns the first ticket, by its asking, whose row or links are
// not what its events say.
func (k *conn) compareTickets(f *replay) (problem string, err error) {
	met := 0
	err = k.each(`SELECT seq, id, status, coalesce(answer, ''), expires_at FROM tickets ORDER BY seq`, func(scan func(...any) error) error {
		if problem != "" {
			return nil
		}
		var seq int64
		var status int
		var id, answer string
		var expires Millis
		if err := scan(&seq, &id, &status, &answer, &expires); err != nil {
			return err
		}
		want := f.tickets[id]
		if want == nil {
			problem = fmt.Sprintf("no event tells of ticket %s", id)
			return nil
		}
		met++
		links, err := k.ids(`SELECT event_id FROM ticket_events WHERE ticket = ? ORDER BY event_id`, seq)
		switch {
		case err != nil:
			return err
		case !slices.Equal(links, want.events):
			problem = fmt.Sprintf("ticket %s is linked to other events than those that tell of it", id)
		case ticketStatuses[status] != want.status:
			problem = fmt.Sprintf("the status of ticket %s is not what its events say", id)
		case answer != want.answer:
			problem = fmt.Sprintf("the answer of ticket %s is not what its events say", id)
		case expires != want.expires:
			problem = fmt.Sprintf("the expiry of ticket %s is not what its events say", id)
		}
		return nil
	})
	if err != nil || problem != "" {
		return problem, err
	}
	if met < len(f.tickets) {
		problem = "an event tells of a ticket that is missing"
	}
	return problem, nil
}

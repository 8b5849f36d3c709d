package ops

import (
	"context"
	"encoding/json"
	"slices"

	"steward/handoff/ticket"
	"steward/ledger"
)

// The types of a Notice.
const (
	NoticeLedger  = "ledger"  // new events; Data is a LedgerNotice
	NoticeChanged = "changed" // something a page shows is different, and no event says so; Data is {}
	NoticeTicket  = "ticket"  // tickets have changed, after the notice of their events; Data is a TicketNotice
	NoticeReset   = "reset"   // too much happened since the asked id to be told one by one: read anew; Data is {"last_id":n}
)

const (
	noticeEvents = 50  // events in one notice
	noticeReplay = 500 // events that are told one by one to a follower who was away
)

// Notice is what followers are told of: windows and pages.
type Notice struct {
	Type string          `json:"type"`
	ID   int64           `json:"-"` // the last event that it takes into account: where to follow on after a break
	Data json.RawMessage `json:"data"`
}

// LedgerNotice is the data of a notice of new events.
type LedgerNotice struct {
	LastID int64          `json:"last_id"`
	Events []ledger.Event `json:"events"` // ascending, long texts cut; at most 50
}

// TicketNotice is the data of a notice that tickets have changed.
type TicketNotice struct {
	LastID int64    `json:"last_id"`
	IDs    []string `json:"ids"` // each once
}

// ticketNotice returns the notice for the tickets that events tell of, if there
// are any.
func ticketNotice(events []ledger.Event) (Notice, bool) {
	n := TicketNotice{}
	for _, e := range events {
		if n.LastID = e.ID; e.ObjectType == ticket.ObjectType && !slices.Contains(n.IDs, e.Object) {
			n.IDs = append(n.IDs, e.Object)
		}
	}
	if len(n.IDs) == 0 {
		return Notice{}, false
	}
	data, err := marshal(n)
	return Notice{Type: NoticeTicket, ID: n.LastID, Data: data}, err == nil
}

// Follow tells emit of what happens after event id after, in order and without a
// gap, until ctx ends or emit fails; it returns why. A negative after, or one
// beyond the last event, begins now. emit may take its time: no transaction is
// open meanwhile, and what happens in between comes in as few notices as it fits.
func (s *Set) Follow(ctx context.Context, after int64, emit func(Notice) error) error {
	stirred := s.stir.now()
	began := false
	for {
		changed, again := s.env.Log.Changed(), s.stir.changed()
		batch, last, err := s.after(ctx, after, !began)
		if err != nil {
			return err
		}
		switch {
		case !began && (after < 0 || after > last):
			after = last
		case !began && last-after > noticeReplay:
			after = last
			data, err := marshal(struct {
				LastID int64 `json:"last_id"`
			}{last})
			if err == nil {
				err = emit(Notice{Type: NoticeReset, ID: last, Data: data})
			}
			if err != nil {
				return err
			}
		case len(batch) > 0:
			after = batch[len(batch)-1].ID
			data, err := marshal(LedgerNotice{LastID: after, Events: batch})
			if err == nil {
				err = emit(Notice{Type: NoticeLedger, ID: after, Data: data})
			}
			if n, ok := ticketNotice(batch); ok && err == nil {
				err = emit(n)
			}
			if err != nil {
				return err
			}
		}
		began = true
		if after < last {
			continue
		}
		if n := s.stir.now(); n != stirred {
			stirred = n
			if err := emit(Notice{Type: NoticeChanged, ID: after, Data: json.RawMessage("{}")}); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-again:
		}
	}
}

// after reads the next events after an id, and the last id there is. The first
// look of a follower reads none if it is to be told of none, or of a reset.
func (s *Set) after(ctx context.Context, after int64, first bool) (batch []ledger.Event, last int64, err error) {
	err = s.env.Log.View(ctx, func(v *ledger.View) error {
		head, err := v.Head()
		if err != nil {
			return err
		}
		last = head.LastID
		if after >= last || first && (after < 0 || last-after > noticeReplay) {
			return nil
		}
		batch, _, err = v.Events(after, noticeEvents)
		return err
	})
	if err != nil {
		return nil, 0, AsError(err)
	}
	for i, e := range batch {
		batch[i] = brief(e)
	}
	return batch, last, nil
}

// Stir tells all followers that something a page shows is different though no
// event says so.
func (s *Set) Stir() { s.stir.bump() }

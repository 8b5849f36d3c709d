package ops

import (
	"fmt"

	"steward/handoff"
	"steward/ledger"
)

// plainReport is Report with the JSON of its fields.
type plainReport Report

// appendJSON writes the report, leaving out items from the end of the list that
// takes the most bytes until the whole fits.
func (r Report) appendJSON(dst []byte) ([]byte, error) {
	// No list is ever null: a reader loops over it without asking.
	r.KeyEvents = orEmpty(r.KeyEvents)
	r.Failures.Items = orEmpty(r.Failures.Items)
	r.Movers.Items = orEmpty(r.Movers.Items)
	r.Handoffs.Open = orEmpty(r.Handoffs.Open)
	b, err := marshal(plainReport(r))
	if err != nil || len(b) <= maxReport {
		return append(dst, b...), err
	}
	if err := r.cut(); err != nil {
		return nil, err
	}
	if b, err = marshal(plainReport(r)); err != nil {
		return nil, err
	}
	if len(b) > maxReport {
		return nil, fmt.Errorf("situation report: %d bytes with every list empty", len(b))
	}
	return append(dst, b...), nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// cut drops items until the report is small enough. Each item is measured once.
func (r *Report) cut() error {
	r.Cut = true
	keys, e1 := sizes(r.KeyEvents)
	failures, e2 := sizes(r.Failures.Items)
	movers, e3 := sizes(r.Movers.Items)
	open, e4 := sizes(r.Handoffs.Open)
	for _, err := range [...]error{e1, e2, e3, e4} {
		if err != nil {
			return err
		}
	}
	bare := *r
	bare.KeyEvents, bare.Failures.Items, bare.Movers.Items, bare.Handoffs.Open = []ledger.Event{}, []FailureItem{}, []MoverItem{}, []handoff.Summary{}
	rest, err := marshal(plainReport(bare))
	if err != nil {
		return err
	}
	lists := [...]*measured{keys, failures, movers, open}
	for {
		longest, total := lists[0], len(rest)
		for _, l := range lists {
			total += l.bytes
			if l.bytes > longest.bytes {
				longest = l
			}
		}
		if total <= maxReport || longest.bytes == 0 {
			break
		}
		longest.drop()
	}
	r.KeyEventsMore = r.KeyEventsMore || len(keys.items) < len(r.KeyEvents)
	r.KeyEvents = r.KeyEvents[:len(keys.items)]
	r.Failures.Items = r.Failures.Items[:len(failures.items)]
	r.Movers.Items = r.Movers.Items[:len(movers.items)]
	r.Handoffs.Open = r.Handoffs.Open[:len(open.items)]
	return nil
}

// measured is the sizes of a list's items, each with the comma before the next.
type measured struct {
	items []int
	bytes int
}

func sizes[T any](list []T) (*measured, error) {
	m := &measured{}
	for i := range list {
		b, err := marshal(list[i])
		if err != nil {
			return nil, err
		}
		m.items = append(m.items, len(b)+1)
		m.bytes += len(b) + 1
	}
	return m, nil
}

func (m *measured) drop() {
	last := len(m.items) - 1
	m.bytes -= m.items[last]
	m.items = m.items[:last]
}

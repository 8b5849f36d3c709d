package handoff_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

type page struct {
	items []handoff.Summary
	more  bool
}

func list(t testing.TB, l *ledger.Log, f handoff.Filter) page {
	t.Helper()
	p, err := look(t, l, func(v *ledger.View) (page, error) {
		items, more, err := handoff.List(v, f)
		return page{items, more}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestList(t *testing.T) {
	l := ledgertest.Open(t, nil)
	if p := list(t, l, handoff.Filter{}); p.items == nil || len(p.items) != 0 || p.more {
		t.Errorf("an empty ledger: %+v", p)
	}
	// 0 … 11 in order of creation: every third for each target, every fourth
	// pending, claimed, running, done.
	var made []handoff.ID
	var status []handoff.Status
	for i := range 12 {
		n := handoff.NewHandoff{Target: targets[i%3], Instruction: fmt.Sprintf("job\n%d", i), Key: fmt.Sprint(i)}
		for range i {
			n.Attachments = append(n.Attachments, handoff.Attachment{Path: "/secret"})
		}
		r, err := create(t, l, n, agent)
		if err != nil {
			t.Fatal(err)
		}
		id := string(r.Handoff.ID)
		for range i % 4 {
			claim(t, l, id, "w")
		}
		if i%4 == 3 {
			if _, err := finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w", Status: handoff.Done, Outcome: strings.Repeat("o", 200)}); err != nil {
				t.Fatal(err)
			}
		}
		made, status = append(made, r.Handoff.ID), append(status, handoff.Status(i%4))
	}
	done, running := handoff.Done, handoff.Running
	for _, c := range []struct {
		name string
		f    handoff.Filter
		want []int
		more bool
	}{
		{"default", handoff.Filter{}, []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2}, true},
		{"all", handoff.Filter{Limit: 50}, []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, false},
		{"exactly all", handoff.Filter{Limit: 12}, []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, false},
		{"one", handoff.Filter{Limit: 1}, []int{11}, true},
		{"status", handoff.Filter{Status: &done}, []int{11, 7, 3}, false},
		{"target", handoff.Filter{Target: "dj", Limit: 3}, []int{10, 7, 4}, true},
		{"both", handoff.Filter{Target: "dj", Status: &running}, []int{10}, false},
		{"a target that is none", handoff.Filter{Target: "attic"}, []int{}, false},
	} {
		p := list(t, l, c.f)
		got := []int{}
		for _, s := range p.items {
			for i, id := range made {
				if id == s.ID {
					got = append(got, i)
				}
			}
		}
		if !reflect.DeepEqual(got, c.want) || p.more != c.more {
			t.Errorf("%s: %v, more %v; want %v, %v", c.name, got, p.more, c.want, c.more)
		}
	}
	for i, s := range list(t, l, handoff.Filter{Limit: 50}).items {
		n := 11 - i
		if s.Status != status[n] || s.Target != targets[n%3] || s.AttachmentCount != n || s.Preview != fmt.Sprintf("job %d", n) || s.CreatedAt == 0 {
			t.Errorf("summary of %d: %+v", n, s)
		}
		if (s.ClaimedAt != 0) != (n%4 >= 1) || (s.RunningAt != 0) != (n%4 >= 2) || (s.FinishedAt != 0) != (n%4 == 3) || (s.Worker != "") != (n%4 >= 1) {
			t.Errorf("times of %d: %+v", n, s)
		}
		if n%4 == 3 && s.Outcome != strings.Repeat("o", 159)+"…" {
			t.Errorf("outcome of %d: %q", n, s.Outcome)
		}
		if strings.Contains(plain(t, s), "secret") {
			t.Errorf("a path in %s", plain(t, s))
		}
	}
	open, err := look(t, l, func(v *ledger.View) ([]handoff.Summary, error) { return handoff.Open(v, 4) })
	if err != nil {
		t.Fatal(err)
	}
	var got []handoff.ID
	for _, s := range open {
		got = append(got, s.ID)
	}
	if want := []handoff.ID{made[10], made[9], made[8], made[6]}; !reflect.DeepEqual(got, want) {
		t.Errorf("open: %v, want %v", got, want)
	}
	checkCounts(t, l, handoff.Count{Pending: 3, Claimed: 3, Running: 3, Done: 3})
}

// rename gives a stored handoff another id, so that a clash can be made.
func rename(t testing.TB, l *ledger.Log, h handoff.Handoff, id string) {
	t.Helper()
	if _, err := update(t, l, func(tx *ledger.Tx) (int, error) {
		_, err := tx.Exec(`UPDATE handoffs SET id=? WHERE id=?`, id, string(h.ID))
		return 0, err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestShortIDs(t *testing.T) {
	l := ledgertest.Open(t, nil)
	ids := []string{"hnd_01KB5Z0V8R9T6M3Q2W1XYZABCD", "hnd_01KB5Z0V8R9T6M3Q2W1XYYABCD", "hnd_01KB5Z0V8R9T6M3Q2W1XYZWXYZ"}
	for i, id := range ids {
		rename(t, l, fresh(t, l, fmt.Sprint(i)), id)
	}
	resolve := func(ref string) (handoff.ID, error) {
		return look(t, l, func(v *ledger.View) (handoff.ID, error) { return handoff.Resolve(v, ref) })
	}
	for ref, want := range map[string]string{
		"H-WXYZ": ids[2], "h-wxyz": ids[2], "H-ZABCD": ids[0], "H-YABCD": ids[1], "H-01KB5Z0V8R9T6M3Q2W1XYYABCD": ids[1],
		strings.ToLower(ids[0]): ids[0],
	} {
		if got, err := resolve(ref); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", ref, got, err, want)
		}
		if h := get(t, l, ref); string(h.ID) != want {
			t.Errorf("get %s: %s", ref, h.ID)
		}
	}
	_, err := resolve("H-ABCD")
	var f *ledger.FieldError
	if !errors.As(err, &f) || f.Field != "handoff_id" || !strings.Contains(f.Error(), ids[0]) || !strings.Contains(f.Error(), ids[1]) || strings.Contains(f.Error(), ids[2]) {
		t.Errorf("an ambiguous one: %v", err)
	}
	for _, ref := range []string{"H-ZZZZ", "H-XABCD", "H-0000000000000000000000ABCD"} {
		if _, err := resolve(ref); !errors.Is(err, handoff.ErrNotFound) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if c := claim(t, l, "h-wxyz", "w"); !c.Claimed || string(c.Handoff.ID) != ids[2] {
		t.Errorf("claim by a short id: %+v", c)
	}
	for id, want := range map[string]string{ids[0]: "H-ZABCD", ids[1]: "H-YABCD", ids[2]: "H-WXYZ"} {
		if got, err := look(t, l, func(v *ledger.View) (string, error) { return handoff.Short(v, handoff.ID(id)) }); err != nil || got != want {
			t.Errorf("short form of %s: %s, %v; want %s", id, got, err, want)
		}
	}
	for i := range 6 {
		rename(t, l, fresh(t, l, fmt.Sprint("clash", i)), fmt.Sprintf("hnd_01KB5Z0V8R9T6M3Q2W1X%dZABCD", i))
	}
	if _, err := resolve("H-ZABCD"); !errors.As(err, &f) || strings.Count(f.Error(), "hnd_") != 5 || !strings.Contains(f.Error(), "…") {
		t.Errorf("seven candidates: %v", err)
	}
}

// TestTransitionsAreBounded makes more changes than an answer keeps.
func TestTransitionsAreBounded(t *testing.T) {
	l := ledgertest.Open(t, nil)
	h := fresh(t, l, "k")
	const rounds = 60 // two changes each
	if _, err := update(t, l, func(tx *ledger.Tx) (int, error) {
		for range rounds {
			if _, err := handoff.Claim(tx, string(h.ID), "w", agent); err != nil {
				return 0, err
			}
			if _, err := handoff.Release(tx, handoff.ReleaseCommand{Ref: string(h.ID)}, person); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}); err != nil {
		t.Fatal(err)
	}
	var more bool
	items, err := look(t, l, func(v *ledger.View) ([]handoff.Transition, error) {
		items, m, err := handoff.Transitions(v, string(h.ID))
		more = m
		return items, err
	})
	if err != nil || len(items) != handoff.MaxTransitions || !more {
		t.Fatalf("%d transitions, more %v, %v", len(items), more, err)
	}
	last := items[len(items)-1]
	if last.Fence != 2*rounds || last.EventID != 2*rounds+1 || items[0].EventID != last.EventID-handoff.MaxTransitions+1 {
		t.Errorf("from %+v to %+v", items[0], last)
	}
}

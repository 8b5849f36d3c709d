package handoff_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"steward/handoff"
	"steward/ledger"
	"steward/ledger/ledgertest"
)

func TestPersonTakesOver(t *testing.T) {
	l := ledgertest.Open(t, nil)
	h := fresh(t, l, "k")
	id := string(h.ID)
	old := claim(t, l, id, "w1")

	if _, err := release(t, l, handoff.ReleaseCommand{Ref: id, Reason: "stuck", Fence: new(int64)}); !errors.Is(err, handoff.ErrConflict) {
		t.Errorf("release of what was seen before the claim: %v", err)
	}
	r, err := release(t, l, handoff.ReleaseCommand{Ref: id, Reason: "stuck\nfor hours"})
	if err != nil || r.Status != handoff.Pending || r.Worker != "" || r.Fence != 2 || r.ClaimedAt != 0 || r.RunningAt != 0 {
		t.Fatalf("release: %+v, %v", r, err)
	}
	checkCounts(t, l, handoff.Count{Pending: 1})
	if _, err := release(t, l, handoff.ReleaseCommand{Ref: id}); !errors.Is(err, handoff.ErrUnclaimed) {
		t.Errorf("release again: %v", err)
	}
	late := handoff.FinishCommand{Ref: id, Worker: "w1", Status: handoff.Done, Fence: &old.Fence}
	if _, err := finish(t, l, late); !errors.Is(err, handoff.ErrClaimLost) {
		t.Errorf("late finish after the release: %v", err)
	}
	again := claim(t, l, id, "w1")
	if !again.Claimed || again.Fence != 3 {
		t.Fatalf("claim after the release: %+v", again)
	}
	if _, err := finish(t, l, late); !errors.Is(err, handoff.ErrClaimLost) {
		t.Errorf("the same worker's finish of its older claim: %v", err)
	}

	s, err := settle(t, l, handoff.SettleCommand{Ref: id, Status: handoff.Done, Outcome: "did it myself", Reason: "quicker", Fence: &again.Fence})
	if err != nil || s.Status != handoff.Done || s.Worker != "" || s.Fence != 4 || s.Outcome != "did it myself" || s.ClaimedAt == 0 || s.FinishedAt == 0 {
		t.Fatalf("settle: %+v, %v", s, err)
	}
	checkCounts(t, l, handoff.Count{Done: 1})
	for name, c := range map[string]struct {
		fence *int64
		want  error
	}{"with its fence": {&again.Fence, handoff.ErrClaimLost}, "without a fence": {nil, handoff.ErrFinal}} {
		_, err := finish(t, l, handoff.FinishCommand{Ref: id, Worker: "w1", Status: handoff.Done, Fence: c.fence})
		var state *handoff.StateError
		if !errors.Is(err, c.want) || !errors.Is(err, handoff.ErrClosed) || !errors.As(err, &state) || state.State.Outcome != "did it myself" {
			t.Errorf("late finish %s: %v", name, err)
		}
	}
	if _, err := settle(t, l, handoff.SettleCommand{Ref: id, Status: handoff.Done}); !errors.Is(err, handoff.ErrFinal) {
		t.Errorf("settle again: %v", err)
	}
	if _, err := release(t, l, handoff.ReleaseCommand{Ref: id}); !errors.Is(err, handoff.ErrFinal) {
		t.Errorf("release of an ended one: %v", err)
	}

	tr := transitions(t, l, h.ID)
	if len(tr) != 5 {
		t.Fatalf("%d transitions", len(tr))
	}
	released, settled := tr[2], tr[4]
	if released.Type != handoff.EventReleased || released.Actor != "user" || released.Source != ledger.Person || released.DecidedBy != "human" || released.PreviousOwner != "w1" || released.Reason != "stuck for hours" || released.Fence != 2 {
		t.Errorf("released: %+v", released)
	}
	if settled.Type != handoff.EventSettled || settled.Actor != "user" || settled.Source != ledger.Person || settled.DecidedBy != "human" || settled.PreviousOwner != "w1" || settled.Reason != "quicker" || settled.Fence != 4 || *settled.From != handoff.Claimed || settled.To != handoff.Done {
		t.Errorf("settled: %+v", settled)
	}
}

// TestFailures follows a failed handoff from its failure to its resolution.
func TestFailures(t *testing.T) {
	l := ledgertest.Open(t, nil)
	standing := func() (out []string) {
		ledgertest.View(t, l, func(v *ledger.View) error {
			total, items, err := v.Failures("", 10)
			for _, f := range items {
				out = append(out, f.Actor+" "+f.Object+" "+f.Workspace)
			}
			if int(total) != len(out) {
				t.Errorf("%d failures in all, %d listed", total, len(out))
			}
			return err
		})
		return out
	}
	a, b, c := fresh(t, l, "a"), fresh(t, l, "b"), fresh(t, l, "c")
	for _, h := range []handoff.Handoff{a, b} {
		claim(t, l, string(h.ID), "w1")
		if _, err := finish(t, l, handoff.FinishCommand{Ref: string(h.ID), Worker: "w1", Status: handoff.Failed, Error: "no disk"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := settle(t, l, handoff.SettleCommand{Ref: string(c.ID), Status: handoff.Failed, Reason: "gone"}); err != nil {
		t.Fatal(err)
	}
	failA, failB, failC := "w1 "+string(a.ID)+" api", "w1 "+string(b.ID)+" api", "user "+string(c.ID)+" "
	if got, want := standing(), []string{failC, failB, failA}; !reflect.DeepEqual(got, want) {
		t.Fatalf("failures %q, want %q", got, want)
	}
	ledgertest.Append(t, l, ledger.Event{Actor: "w1", Type: "done", Object: string(a.ID), Workspace: "api"})
	if got, want := standing(), []string{failC, failB}; !reflect.DeepEqual(got, want) {
		t.Errorf("after a done of the same actor: %q, want %q", got, want)
	}
	ack := func(actor, object, workspace string) {
		data := plain(t, ledger.Acknowledgement{Actor: actor, Object: object, Workspace: workspace})
		ledgertest.Append(t, l, ledger.Event{Actor: "user", Type: ledger.TypeAcknowledged, Source: ledger.Person, Data: json.RawMessage(data)})
	}
	ack("w1", string(b.ID), "api")
	ack("user", string(c.ID), "")
	if got := standing(); len(got) != 0 {
		t.Errorf("after the acknowledgements: %q", got)
	}
	ledgertest.Verify(t, l)
}

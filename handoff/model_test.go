package handoff

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"steward/ledger"
)

// token is what a worker remembers of a claim that it won.
type token struct {
	worker string
	fence  int64
}

// model is a second, simpler account of one handoff: who was last given it, and
// whether that still holds.
type model struct {
	tokens []token // of every claim won, in order
	live   bool    // the last token still holds
	over   bool
	ending Status
}

func (m *model) holder() string {
	if !m.live {
		return ""
	}
	return m.tokens[len(m.tokens)-1].worker
}

var crew = [...]string{"A", "B", "C"}

// play runs the commands that data encodes, two bytes each, against decide and
// the model, and checks what must hold after each.
func play(t *testing.T, data []byte) {
	h := create(NewHandoff{Target: "dj"}, "hnd_X", By{}, 1).after
	m := &model{}
	started := false
	for i := 0; i+1 < len(data) && i < 400; i += 2 {
		op, arg := data[i], data[i+1]
		worker := crew[int(arg)%len(crew)]
		at := ledger.Millis(i + 2)
		var fence *int64
		if arg&0x40 != 0 && len(m.tokens) > 0 { // some fence that was really given
			f := m.tokens[int(arg>>2)%len(m.tokens)].fence
			fence = &f
		}
		ending := Done + Status(arg>>2)%3

		var cmd command
		var wantErr, wantChange bool
		mine := func() bool { // may this worker, with this fence, end it?
			return m.live && m.holder() == worker && (fence == nil || *fence == m.tokens[len(m.tokens)-1].fence)
		}
		switch op % 8 {
		case 0, 1, 2:
			cmd = &claim{worker}
			wantChange = !m.over && (!m.live || m.holder() == worker && !started)
		case 3, 4, 5:
			cmd = &FinishCommand{Worker: worker, Status: ending, Fence: fence}
			wantErr, wantChange = !mine() || m.over && m.ending != ending, !m.over && mine()
		case 6:
			cmd = &ReleaseCommand{}
			wantErr, wantChange = m.over || !m.live, !m.over && m.live
		case 7:
			cmd = &SettleCommand{Status: ending}
			wantErr, wantChange = m.over, !m.over
		}

		c, err := cmd.decide(h, at)
		if (err != nil) != wantErr {
			t.Fatalf("step %d, %T %+v of %+v: error %v, want one: %v", i/2, cmd, cmd, h, err, wantErr)
		}
		if err != nil {
			var state *StateError
			if !errors.As(err, &state) || !reflect.DeepEqual(state.State, h) {
				t.Fatalf("step %d: %v does not carry the state", i/2, err)
			}
			continue
		}
		if (c.event != "") != wantChange {
			t.Fatalf("step %d, %T %+v of %+v: event %q, want a change: %v", i/2, cmd, cmd, h, c.event, wantChange)
		}
		checkStep(t, h, c)
		if !wantChange {
			continue
		}
		h = c.after
		switch op % 8 {
		case 0, 1, 2:
			if started = m.live; !m.live {
				m.tokens, m.live = append(m.tokens, token{worker, h.Fence}), true
			}
		case 3, 4, 5:
			m.over, m.ending = true, ending
		case 6:
			m.live, started = false, false
		case 7:
			m.live, m.over, m.ending = false, true, ending
		}
		if h.Worker != m.holder() {
			t.Fatalf("step %d: owner %q, want %q", i/2, h.Worker, m.holder())
		}
		if h.Status.Final() != m.over || m.over && h.Status != m.ending {
			t.Fatalf("step %d: status %s; over: %v as %s", i/2, h.Status, m.over, m.ending)
		}
	}
	for i := 1; i < len(m.tokens); i++ {
		if m.tokens[i].fence <= m.tokens[i-1].fence {
			t.Fatalf("fences given: %v", m.tokens)
		}
	}
}

// checkStep checks one decision by itself.
func checkStep(t *testing.T, h Handoff, c change) {
	t.Helper()
	if c.event == "" {
		if !reflect.DeepEqual(c.after, h) {
			t.Fatalf("%+v became %+v without an event", h, c.after)
		}
		return
	}
	if h.Status.Final() {
		t.Fatalf("%s moved on by %s", h.Status, c.event)
	}
	if c.from != h.Status || c.after.Status == h.Status {
		t.Fatalf("%s: from %s to %s, was %s", c.event, c.from, c.after.Status, h.Status)
	}
	if d := c.after.Fence - h.Fence; d < 0 || d > 1 {
		t.Fatalf("%s: fence %d after %d", c.event, c.after.Fence, h.Fence)
	}
	if h.Worker != c.after.Worker && c.after.Fence == h.Fence {
		t.Fatalf("%s: owner %q after %q with the same fence", c.event, c.after.Worker, h.Worker)
	}
	if (c.after.Status == Claimed || c.after.Status == Running) != (c.after.Worker != "" && !c.after.Status.Final()) {
		t.Fatalf("%s: %s with owner %q", c.event, c.after.Status, c.after.Worker)
	}
	if c.person != (c.actor == User) || c.person && c.previous != h.Worker {
		t.Fatalf("%s: actor %q, person %v, previous owner %q of %q", c.event, c.actor, c.person, c.previous, h.Worker)
	}
}

func TestRandomLives(t *testing.T) {
	const seed = 20261130
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 200)
	for range 1_500 {
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		// A final step early on would make for dull lives: most endings wait.
		for i := 0; i < len(data)*3/4; i += 2 {
			if op := data[i] % 8; op == 7 || op >= 3 && op <= 5 && r.IntN(8) > 0 {
				data[i] = byte(r.IntN(3) * 3) // claim, finish or release
			}
		}
		play(t, data)
	}
}

func FuzzLives(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 3, 0, 3, 0})             // claim, run, finish, finish again
	f.Add([]byte{0, 0, 6, 0, 0, 1, 3, 0x40, 3, 1})    // claim, release, claim by another, late finish by fence
	f.Add([]byte{0, 0, 6, 0, 0, 0, 3, 0x40, 7, 4})    // the same worker's own older claim
	f.Add([]byte{0, 2, 7, 0, 3, 2, 3, 0x42, 6, 0, 0}) // settled under the worker's feet
	f.Fuzz(play)
}

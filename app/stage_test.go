package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeFrame writes down what the system is told, and moves the window at once.
type fakeFrame struct {
	mu      sync.Mutex
	screens []Screen
	clear   bool
	deaf    bool // the page paints nothing
	stage   *Stage
	did     []string
	more    chan struct{}
}

func newFrameFor(screens ...Screen) *fakeFrame {
	return &fakeFrame{screens: screens, clear: true, more: make(chan struct{}, 1)}
}

func (f *fakeFrame) note(format string, args ...any) {
	f.mu.Lock()
	f.did = append(f.did, fmt.Sprintf(format, args...))
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

func (f *fakeFrame) Screens() []Screen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screens
}

func (f *fakeFrame) set(screens ...Screen) {
	f.mu.Lock()
	f.screens = screens
	f.mu.Unlock()
}

func (f *fakeFrame) Composited() bool { return f.clear }

func (f *fakeFrame) Place(s Shape, r Rect) {
	f.note("place %s %v", s, r)
	f.stage.Moved(r)
}

func (f *fakeFrame) Focus()    { f.note("focus") }
func (f *fakeFrame) GiveBack() { f.note("give back") }
func (f *fakeFrame) Raise()    {}

var round = regexp.MustCompile(`"round":(\d+)`)

func (f *fakeFrame) Run(script string) {
	m := round.FindStringSubmatch(script)
	if m == nil || f.deaf {
		return
	}
	var n int
	_, _ = fmt.Sscan(m[1], &n) // digits
	f.note("paint")
	f.stage.Painted(n)
}

func (f *fakeFrame) Emit(event string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	f.note("%s %s", event, b)
}

// take returns what was done since the last time, once nothing is left to do.
func (f *fakeFrame) take(t *testing.T) []string {
	t.Helper()
	idle := make(chan struct{})
	f.stage.todo.add(func() { f.stage.todo.add(func() { close(idle) }) }) // behind what the first ones add
	select {
	case <-idle:
	case <-time.After(limit):
		t.Fatal("the stage is stuck")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	did := f.did
	f.did = nil
	return did
}

func newTestStage(t *testing.T, f *fakeFrame) *Stage {
	t.Helper()
	p := &places{}
	s := NewStage(f, p, p.orb(f.screens), filepath.Join(t.TempDir(), "window.json"), quiet)
	f.stage = s
	go s.Work()
	t.Cleanup(s.Close)
	s.Moved(s.asked) // as the system says when the window appears
	if got := s.Ready(); got != Orb {
		t.Errorf("it begins as %s", got)
	}
	f.take(t)
	return s
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("it did\n  %q, want\n  %q", got, want)
	}
}

func shapeText(s Shape, x, y, more string) string {
	return fmt.Sprintf(`steward:shape {"shape":%q,"inside":{"x":%q,"y":%q}%s,"compositor":true}`, s, x, y, more)
}

// The window grows before the page does, and the page shrinks before the window
// does: nothing of the panel is ever outside of either.
func TestOpenAndFold(t *testing.T) {
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	s.Open("handoffs")
	equal(t, f.take(t), "place panel {1448 356 448 700}", shapeText(Panel, "right", "bottom", `,"view":"handoffs"`), "focus")
	s.Open("") // again: the panel gets the keyboard
	equal(t, f.take(t), shapeText(Panel, "right", "bottom", ""), "focus")
	s.OpenMenu() // is for the orb
	equal(t, f.take(t))
	s.Fold()
	equal(t, f.take(t), shapeText(Orb, "right", "bottom", ""), "paint", "give back", "place orb {1816 976 80 80}")
	s.Fold()
	equal(t, f.take(t))
	s.OpenMenu()
	equal(t, f.take(t), "place menu {1688 924 208 132}", shapeText(Menu, "right", "bottom", ""), "focus")
	s.Blurred()
	equal(t, f.take(t), shapeText(Orb, "right", "bottom", ""), "paint", "give back", "place orb {1816 976 80 80}")
	s.Open("")
	f.take(t)
	s.Blurred() // a panel stays
	equal(t, f.take(t))
}

// A page that paints nothing, as one that cannot be seen, does not keep the
// window from folding.
func TestFoldWithoutPaint(t *testing.T) {
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	s.Open("")
	f.take(t)
	f.deaf = true
	begin := time.Now()
	s.Fold()
	did := f.take(t)
	if len(did) != 3 || did[2] != "place orb {1816 976 80 80}" || time.Since(begin) > limit/2 {
		t.Errorf("after %v it did %q", time.Since(begin), did)
	}
}

// What the person moves counts, what the system reports on the way does not.
func TestMoved(t *testing.T) {
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	s.Open("")
	s.Fold()
	f.take(t)
	s.Moved(at(300, 300)) // the person drags the orb
	s.Open("")
	equal(t, f.take(t), "place panel {300 300 448 700}", shapeText(Panel, "left", "top", ""), "focus")
	s.Moved(Rect{200, 100, 448, 700}) // the panel is dragged: the orb does not go with it
	s.Moved(Rect{200, 100, 600, 800}) // it is resized
	s.todo.add(s.save)
	s.Fold()
	did := f.take(t)
	if did[len(did)-1] != "place orb {300 300 80 80}" {
		t.Errorf("it did %q", did)
	}
	p, err := loadPlaces(s.file)
	if err != nil || len(p.Places) != 1 || p.Places[0] != (place{"DP-1", 300, 300, 1920, 1080, 600, 800}) {
		t.Errorf("kept is %v, %v", p, err)
	}
	s.Open("")
	if did := f.take(t); did[0] != "place panel {300 280 600 800}" {
		t.Errorf("it did %q", did)
	}
}

func TestMovesOnTheWay(t *testing.T) {
	f := newFrameFor(wide)
	p := &places{}
	s := NewStage(f, p, p.orb(f.screens), filepath.Join(t.TempDir(), "window.json"), quiet)
	f.stage = s
	go s.Work()
	t.Cleanup(s.Close)
	s.Moved(at(920, 500)) // in the middle, where the library puts it
	s.Open("")
	if did := f.take(t); did[0] != "place panel {1448 356 448 700}" {
		t.Errorf("it did %q", did)
	}
	if s.unsaved {
		t.Error("a place on the way is to be kept")
	}
}

func TestRearranged(t *testing.T) {
	f := newFrameFor(wide, small)
	s := newTestStage(t, f)
	s.Moved(at(3000, 300))
	s.todo.add(s.save)
	f.take(t)
	f.set(wide)            // its display goes
	s.Moved(at(1840, 300)) // the system makes room
	s.Rearranged()
	equal(t, f.take(t), "place orb {1816 976 80 80}", shapeText(Orb, "right", "bottom", ""))
	s.Open("")
	f.take(t)
	f.set(wide, small) // and comes back while the panel is open
	s.Rearranged()
	equal(t, f.take(t), "place panel {2632 300 448 700}", shapeText(Panel, "right", "top", ""))
	s.Fold()
	did := f.take(t)
	if did[len(did)-1] != "place orb {3000 300 80 80}" {
		t.Errorf("it did %q", did)
	}
	f.set() // no display at all, for a moment
	s.Rearranged()
	s.Open("")
	equal(t, f.take(t))
}

// The system's wish to close folds a panel and quits an orb.
func TestAskedToClose(t *testing.T) {
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	quit := false
	s.Open("")
	f.take(t)
	s.Asked(func() { quit = true })
	if did := f.take(t); quit || did[len(did)-1] != "place orb {1816 976 80 80}" {
		t.Errorf("quit %v, did %q", quit, did)
	}
	s.Asked(func() { quit = true })
	if did := f.take(t); !quit || len(did) != 0 {
		t.Errorf("quit %v, did %q", quit, did)
	}
}

// The place is kept when the window closes right after a drag.
func TestCloseKeepsThePlace(t *testing.T) {
	f := newFrameFor(wide)
	s := newTestStage(t, f)
	s.Moved(at(700, 20))
	s.Close()
	if p, err := loadPlaces(s.file); err != nil || len(p.Places) != 1 || p.Places[0].X != 700 {
		t.Errorf("kept is %v, %v", p, err)
	}
	s.Open("") // nobody is there any more
}

// A person may drag the orb before the system has said where it stands.
func TestADragRightAfterTheStartIsKept(t *testing.T) {
	for _, held := range []bool{true, false} {
		f := newFrameFor(Screen{Key: "screen", Bounds: Rect{0, 0, 1280, 900}, Work: Rect{0, 0, 1280, 900}, Primary: true})
		p := &places{}
		file := filepath.Join(t.TempDir(), "window.json")
		s := NewStage(f, p, p.orb(f.screens), file, quiet)
		f.stage = s
		go s.Work()
		if held {
			s.Held()
		}
		s.Moved(Rect{X: 200, Y: 120, W: orbSize.W, H: orbSize.H})
		s.Close()
		b, err := os.ReadFile(file)
		if held != (err == nil && strings.Contains(string(b), `"x": 200`)) {
			t.Errorf("held %v: %s %v", held, b, err)
		}
	}
}

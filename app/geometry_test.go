package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two displays side by side, the second one lower and smaller, with a dock on the
// left of the first.
var (
	wide  = Screen{Key: "DP-1", Bounds: Rect{0, 0, 1920, 1080}, Work: Rect{64, 0, 1856, 1080}, Primary: true}
	small = Screen{Key: "HDMI-1", Bounds: Rect{1920, 200, 1280, 800}, Work: Rect{1920, 224, 1280, 776}}
	tiny  = Screen{Key: "LVDS-1", Bounds: Rect{0, 0, 800, 480}, Work: Rect{0, 0, 800, 440}, Primary: true}
)

func at(x, y int) Rect { return Rect{x, y, orbSize.W, orbSize.H} }

func TestBeside(t *testing.T) {
	for _, c := range []struct {
		name string
		orb  Rect
		size Size
		work Rect
		want Rect
		in   Inside
	}{
		{"bottom right", at(1816, 976), panelSize, wide.Work, Rect{1448, 356, 448, 700}, Inside{"right", "bottom"}},
		{"top left", at(100, 20), panelSize, wide.Work, Rect{100, 20, 448, 700}, Inside{"left", "top"}},
		{"in the middle, kept within", at(900, 400), panelSize, wide.Work, Rect{900, 380, 448, 700}, Inside{"left", "top"}},
		{"over the dock", at(10, 10), menuSize, wide.Work, Rect{64, 10, 208, 132}, Inside{"left", "top"}},
		{"on the second display", at(3100, 850), panelSize, small.Work, Rect{2732, 230, 448, 700}, Inside{"right", "bottom"}},
		{"larger than the display", at(700, 350), panelSize, tiny.Work, Rect{332, 0, 448, 440}, Inside{"right", "bottom"}},
	} {
		r, in := beside(c.orb, c.size, c.work)
		if r != c.want || in != c.in {
			t.Errorf("%s: %v %v, want %v %v", c.name, r, in, c.want, c.in)
		}
	}
}

func TestScreenOf(t *testing.T) {
	both := []Screen{wide, small}
	for _, c := range []struct {
		r    Rect
		want string
	}{
		{at(10, 10), "DP-1"},
		{at(1900, 500), "HDMI-1"}, // its middle counts
		{at(2500, 100), "HDMI-1"}, // above it: the nearest
		{at(-500, -500), "DP-1"},
		{at(9000, 9000), "HDMI-1"},
	} {
		if got := screenOf(c.r, both).Key; got != c.want {
			t.Errorf("%v is on %s, want %s", c.r, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	both := []Screen{wide, small}
	p := &places{}
	if r := p.orb(both); r != corner(wide.Work) || r != at(1816, 976) {
		t.Errorf("the first place is %v", r)
	}
	if !p.put(at(3000, 300), both) || p.put(at(3000, 300), both) {
		t.Error("a new place is not told from the same again")
	}
	if r := p.orb(both); r != at(3000, 300) {
		t.Errorf("put on the second display, it is at %v", r)
	}
	// While that display is away, the orb is on the one that is there; its own
	// place on it comes back with it.
	if r := p.orb([]Screen{wide}); r != corner(wide.Work) {
		t.Errorf("with the second display away, it is at %v", r)
	}
	if r := p.orb(both); r != at(3000, 300) {
		t.Errorf("with the display back, it is at %v", r)
	}
	// The display has moved and grown: the orb keeps to the edge it was near.
	grown := Screen{Key: "HDMI-1", Bounds: Rect{-2560, 0, 2560, 1440}, Work: Rect{-2560, 0, 2560, 1440}}
	if r := p.orb([]Screen{wide, grown}); r != at(-2560+1080+1280, 100) {
		t.Errorf("on the larger display it is at %v", r)
	}
	p.put(at(500, 500), both)
	if r := p.orb(both); r != at(500, 500) {
		t.Errorf("put back on the first display, it is at %v", r)
	}
	if at, ok := p.of("HDMI-1"); !ok || at.X != 1080 || at.Y != 100 {
		t.Errorf("the place on the second display is %v now", at)
	}
}

func TestPanelSize(t *testing.T) {
	p := &places{}
	if s := p.panel(wide); s != panelSize {
		t.Errorf("at first %v", s)
	}
	if s := p.panel(tiny); s != (Size{448, 440}) {
		t.Errorf("on a display that is smaller %v", s)
	}
	if p.resized(panelSize, at(500, 500), []Screen{wide}) {
		t.Error("the size it has is new")
	}
	if !p.resized(Size{600, 900}, at(500, 500), []Screen{wide, small}) {
		t.Error("another size is not new")
	}
	if s := p.panel(wide); s != (Size{600, 900}) {
		t.Errorf("after that %v", s)
	}
	if s := p.panel(small); s != panelSize {
		t.Errorf("on another display %v", s)
	}
	p.Places[0].PanelW = 1 // by hand, or by an older program
	if s := p.panel(wide); s != (Size{panelMin.W, 900}) {
		t.Errorf("of one pixel's width %v", s)
	}
}

func TestPlacesAreBounded(t *testing.T) {
	p := &places{}
	for i := range 3 * maxPlaces {
		p.put(at(10, 10), []Screen{{Key: strings.Repeat("x", i+1), Bounds: wide.Bounds, Work: wide.Work}})
	}
	if len(p.Places) != maxPlaces || len(p.Places[0].Display) != 3*maxPlaces {
		t.Errorf("%d places, the first is %s", len(p.Places), p.Places[0].Display)
	}
}

func TestPlacesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "window.json")
	p, err := loadPlaces(path)
	if err != nil || len(p.Places) != 0 {
		t.Fatalf("without a file: %v, %v", p, err)
	}
	p.put(at(500, 500), []Screen{wide})
	p.resized(Size{600, 900}, at(500, 500), []Screen{wide})
	if err := p.save(path); err != nil {
		t.Fatal(err)
	}
	again, err := loadPlaces(path)
	if err != nil || len(again.Places) != 1 || again.Places[0] != p.Places[0] {
		t.Fatalf("read again: %v, %v", again, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("beside it there is %v", left)
	}
	for _, broken := range []string{"", "{", "[]", `{"places":3}`, `{"places":[{"x":99999999}]}`, `{"places":[{"panel_width":-70000}]}`, strings.Repeat(" ", maxPlacesFile+1)} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := loadPlaces(path); err == nil || len(p.Places) != 0 {
			t.Errorf("%.40q: %v, %v", broken, p, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if p, err := loadPlaces(path); err == nil || len(p.Places) != 0 {
		t.Errorf("a folder: %v, %v", p, err)
	}
	if err := p.save(path); err == nil {
		t.Error("a folder was replaced")
	}
}

package app

// Rect is a rectangle on the desktop, which may span several displays: X grows
// to the right, Y downwards, in logical pixels.
type Rect struct{ X, Y, W, H int }

// Size is a width and a height in logical pixels.
type Size struct{ W, H int }

// Screen is one display as it is now.
type Screen struct {
	Key     string // what it is known by when it comes back
	Bounds  Rect   // all of it
	Work    Rect   // what panels and docks leave of it
	Primary bool
}

// The sizes of the three shapes, in logical pixels. The orb's disc is smaller
// than its window: a ring and a badge need the rest.
var (
	orbSize   = Size{80, 80}
	menuSize  = Size{208, 132}
	panelSize = Size{448, 700}
	panelMin  = Size{380, 480}
)

// margin is how far from the edges the orb stands before anybody has moved it.
const margin = 24

// Inside tells at which corner of a larger shape the orb lies.
type Inside struct {
	X string `json:"x"` // left or right
	Y string `json:"y"` // top or bottom
}

func (r Rect) size() Size { return Size{r.W, r.H} }

// centre is the middle of r, rounded towards its top left corner.
func (r Rect) centre() (x, y int) { return r.X + r.W/2, r.Y + r.H/2 }

func (r Rect) holds(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// into moves r by as little as brings it into b, and cuts what does not fit.
func (r Rect) into(b Rect) Rect {
	r.X, r.W = intoSpan(r.X, r.W, b.X, b.W)
	r.Y, r.H = intoSpan(r.Y, r.H, b.Y, b.H)
	return r
}

func intoSpan(at, length, from, most int) (int, int) {
	length = min(length, most)
	return max(from, min(at, from+most-length)), length
}

// beside is where a larger shape opens: over the orb, away from the edge that is
// nearer, within the work area.
func beside(orb Rect, size Size, work Rect) (Rect, Inside) {
	ox, oy := orb.centre()
	wx, wy := work.centre()
	r, in := Rect{orb.X, orb.Y, size.W, size.H}, Inside{"left", "top"}
	if ox >= wx {
		r.X, in.X = orb.X+orb.W-size.W, "right"
	}
	if oy >= wy {
		r.Y, in.Y = orb.Y+orb.H-size.H, "bottom"
	}
	return r.into(work), in
}

// screenOf is the display that holds the middle of r, or the one nearest to it.
// There must be one.
func screenOf(r Rect, screens []Screen) Screen {
	x, y := r.centre()
	best, least := screens[0], -1
	for _, s := range screens {
		if s.Bounds.holds(x, y) {
			return s
		}
		dx := x - max(s.Bounds.X, min(x, s.Bounds.X+s.Bounds.W))
		dy := y - max(s.Bounds.Y, min(y, s.Bounds.Y+s.Bounds.H))
		if d := dx*dx + dy*dy; least < 0 || d < least {
			best, least = s, d
		}
	}
	return best
}

// primary is the display that the system calls so, else the first.
func primary(screens []Screen) Screen {
	for _, s := range screens {
		if s.Primary {
			return s
		}
	}
	return screens[0]
}

// corner is where the orb stands on a display that it has never been on.
func corner(work Rect) Rect {
	return Rect{work.X + work.W - orbSize.W - margin, work.Y + work.H - orbSize.H - margin, orbSize.W, orbSize.H}.into(work)
}

//go:build linux

package windowtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"steward/app/windowtest"
)

const (
	// programVar names the program with the window to test, built with the tag
	// inspect.
	programVar = "STEWARD_WINDOW"
	// releaseVar names the same built as it is released.
	releaseVar = "STEWARD_WINDOW_RELEASE"
)

// patience is how long anything may take that is not measured.
const patience = 20 * time.Second

func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set; `make test-window` builds the program with the window and sets it", variable)
	}
	if !filepath.IsAbs(path) {
		t.Fatalf("%s: an absolute path; got %s", variable, path)
	}
	for _, need := range windowtest.Needs {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed; the window is tested on a desktop of its own", need)
		}
	}
	return path
}

// desktop starts a desktop for a test, composed or not.
func desktop(t *testing.T, composed bool) *windowtest.Desktop {
	t.Helper()
	program(t, programVar)
	d, err := windowtest.NewDesktop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if composed {
		if err := d.Compose(); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func house(t *testing.T) *windowtest.House {
	t.Helper()
	h, err := windowtest.NewHouse()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", h.Dir).Run() // a test may have closed it
		if err := os.RemoveAll(h.Dir); err != nil {
			t.Error(err)
		}
	})
	return h
}

// win is a window under test.
type win struct {
	*windowtest.Window
	t *testing.T
}

// standIn is the page that these tests bring: it keeps to the same agreement as
// the real one.
func standIn(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("page")
	if err != nil {
		t.Fatal(err)
	}
	return "INSPECT_PAGE=" + dir
}

// show starts the window with the stand-in page.
func show(t *testing.T, d *windowtest.Desktop, h *windowtest.House, env ...string) *win {
	t.Helper()
	return start(t, d, h, append(env, standIn(t))...)
}

func start(t *testing.T, d *windowtest.Desktop, h *windowtest.House, env ...string) *win {
	t.Helper()
	w, err := d.Start(program(t, programVar), h, true, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			var page json.RawMessage
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = w.Eval(ctx, `({size: [innerWidth, innerHeight], shape: document.body.className, last: window.seen?.shapes.slice(-4), keys: window.seen?.keys.slice(-6)})`, &page) // it may be gone
			r, err := w.Bounds()
			t.Logf("the window is %v, %v; the page %s; it said:\n%s", r, err, page, w.Said())
		}
		if err := w.Kill(); err != nil {
			t.Error(err)
		}
	})
	return &win{w, t}
}

func (w *win) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *win) eval(expression string, out any) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	w.must(w.Eval(ctx, expression, out))
}

// until waits until an expression is true in the page.
func (w *win) until(expression string) {
	w.t.Helper()
	w.must(windowtest.Until(patience, func() error {
		var is bool
		ctx, cancel := context.WithTimeout(w.t.Context(), patience)
		defer cancel()
		err := w.Eval(ctx, "!!("+expression+")", &is)
		if err == nil && !is {
			err = fmt.Errorf("it is not so that %s", expression)
		}
		return err
	}))
}

// orb waits until the window is the orb, and returns where.
func (w *win) orb() image.Rectangle {
	w.t.Helper()
	return w.sized(80, 80)
}

// panel waits until the window is the panel, and returns where.
func (w *win) panel() image.Rectangle {
	w.t.Helper()
	return w.sized(448, 700)
}

// sized waits until both the window and the page have a size: what a hand is too
// slow to do, a click on a page that is still laid out otherwise, is lost.
func (w *win) sized(width, height int) image.Rectangle {
	w.t.Helper()
	r, err := w.Sized(width, height)
	w.must(err)
	w.until(fmt.Sprintf(`innerWidth === %d && innerHeight === %d`, width, height))
	return r
}

// click clicks on an element of the page.
func (w *win) click(selector string) {
	w.t.Helper()
	var at struct{ X, Y float64 }
	w.eval(fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2} })()`, selector), &at)
	r, err := w.Bounds()
	w.must(err)
	w.must(w.Desktop.Click(1, r.Min.Add(image.Pt(int(at.X), int(at.Y)))))
}

// open clicks the orb and waits for the panel.
func (w *win) open() image.Rectangle {
	w.t.Helper()
	w.must(w.Desktop.Click(1, middle(w.orb())))
	r := w.panel()
	w.until(`document.body.classList.contains('panel')`)
	return r
}

// fold presses Escape and waits for the orb.
func (w *win) fold() image.Rectangle {
	w.t.Helper()
	w.must(w.Desktop.Key(windowtest.Escape))
	return w.orb()
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Size().Div(2)) }

// striped looks for what is not a stripe between the rectangles, and returns an
// error that says where.
func striped(d *windowtest.Desktop, within image.Rectangle, but ...image.Rectangle) error {
	img, err := d.Pixels(within)
	if err != nil {
		return err
	}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		want := rgb(windowtest.StripeAt(y))
	next:
		for x := b.Min.X; x < b.Max.X; x++ {
			if img.RGBAAt(x, y) == want {
				continue
			}
			for _, r := range but {
				if (image.Point{X: x, Y: y}).In(r) {
					continue next
				}
			}
			return fmt.Errorf("at %d,%d there is %v instead of the stripes", x, y, img.RGBAAt(x, y))
		}
	}
	return nil
}

func rgb(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff} //nolint:gosec // its bytes
}

// screen is all of the desktop.
func screen(d *windowtest.Desktop) image.Rectangle {
	w, h := d.Size()
	return image.Rect(0, 0, w, h)
}

// shows waits until the screen has a colour at a place.
func shows(d *windowtest.Desktop, at image.Point, want color.RGBA) error {
	return windowtest.Until(patience, func() error {
		img, err := d.Pixels(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
		if err == nil && img.RGBAAt(at.X, at.Y) != want {
			err = fmt.Errorf("at %v there is %v; want %v", at, img.RGBAAt(at.X, at.Y), want)
		}
		return err
	})
}

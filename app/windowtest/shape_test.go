//go:build linux

package windowtest_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"testing"
	"time"

	"steward/app/windowtest"
)

// The colours of the stand-in page.
var (
	disc  = color.RGBA{0x14, 0x16, 0x1a, 0xff}
	paper = color.RGBA{0x1b, 0x1e, 0x24, 0xff}
)

// One window goes through what a person does with it, in order.
func TestWindow(t *testing.T) {
	d := desktop(t, true)
	other, err := d.Open("editor", image.Rect(100, 100, 500, 400))
	if err != nil {
		t.Fatal(err)
	}
	if err := active(d, other); err != nil {
		t.Fatal(err)
	}
	w := show(t, d, house(t))
	home := w.orb()
	editor := must(d.Bounds(other)).Inset(-30) // with what the window manager puts around it
	at := func(t *testing.T) *win { return &win{w.Window, t} }

	t.Run("the orb stands in the corner and lets the rest be seen", func(t *testing.T) {
		w := at(t)
		if want := image.Rect(1280-24-80, 900-24-80, 1280-24, 900-24); home != want {
			t.Errorf("it is at %v, want %v", home, want)
		}
		w.must(shows(d, middle(home), disc))
		w.must(striped(d, screen(d), editor, home.Inset(8)))
	})
	t.Run("it is above the others, on every desktop, and in no taskbar", func(t *testing.T) {
		w := at(t)
		id, err := w.ID()
		w.must(err)
		states, err := d.States(id)
		w.must(err)
		for _, s := range []string{"_NET_WM_STATE_ABOVE", "_NET_WM_STATE_SKIP_TASKBAR"} {
			if !slices.Contains(states, s) {
				t.Errorf("it is not %s; it is %v", s, states)
			}
		}
		if on, err := d.OnDesktop(id); err != nil || on != windowtest.EveryDesktop {
			t.Errorf("it is on desktop %d, %v", on, err)
		}
	})
	t.Run("it has not taken the keyboard", func(t *testing.T) {
		w := at(t)
		w.must(active(d, other))
		w.must(d.Type("a"))
		w.must(typed(d, "a"))
	})
	t.Run("a click opens it inwards, with the keyboard", func(t *testing.T) {
		w := at(t)
		r := w.open()
		if r.Max != home.Max {
			t.Errorf("the panel is at %v, the orb was at %v", r, home)
		}
		w.must(shows(d, r.Min.Add(image.Pt(200, 300)), paper))
		w.must(striped(d, image.Rectangle{Min: r.Min, Max: r.Min.Add(image.Pt(3, 3))})) // its round corner
		var s struct{ Inside struct{ X, Y string } }
		w.eval(`window.seen.shapes.at(-1)`, &s)
		if s.Inside.X != "right" || s.Inside.Y != "bottom" {
			t.Errorf("the page was told that the orb lies %v", s.Inside)
		}
		w.must(d.Type("x"))
		w.until(`window.seen.keys.at(-1) === 'x'`)
	})
	t.Run("escape folds it to where it was, and the keyboard goes back", func(t *testing.T) {
		w := at(t)
		if r := w.fold(); r != home {
			t.Errorf("the orb is at %v, was at %v", r, home)
		}
		w.must(shows(d, middle(home), disc))
		w.must(windowtest.Until(patience, func() error { return striped(d, screen(d), editor, home.Inset(8)) }))
		w.must(active(d, other))
		w.must(d.Type("b"))
		w.must(typed(d, "ab"))
	})
	t.Run("one to three pixels of travel are a click", func(t *testing.T) {
		w := at(t)
		for n := 1; n <= 3; n++ {
			from := middle(w.orb())
			w.must(errors.Join(d.Move(from), d.Press(1), d.Move(from.Add(image.Pt(n, 0))), d.Release(1)))
			w.panel()
			w.until(`document.body.classList.contains('panel')`)
			if r := w.fold(); r != home {
				t.Fatalf("with %d: the orb is at %v, was at %v", n, r, home)
			}
		}
	})
	t.Run("the right button opens the menu, and a click elsewhere closes it", func(t *testing.T) {
		w := at(t)
		w.must(d.Click(3, middle(home)))
		r := w.sized(208, 132)
		if r.Max != home.Max {
			t.Errorf("the menu is at %v, the orb was at %v", r, home)
		}
		w.must(active(d, must(w.ID())))
		w.must(d.Click(1, middle(editor)))
		if r := w.orb(); r != home {
			t.Errorf("the orb is at %v, was at %v", r, home)
		}
		w.must(active(d, other))
	})
	t.Run("a drag moves it and is no click", func(t *testing.T) {
		w := at(t)
		to := w.drag(image.Pt(-500, -450))
		if r := w.orb(); r != to {
			t.Errorf("the orb is at %v, want %v", r, to)
		}
		w.must(active(d, other)) // not even for a moment to keep
		r := w.open()            // from there the other way
		if r.Min.X < 0 || r.Min.Y < 0 || r.Max.X > 1280 || r.Max.Y > 900 {
			t.Errorf("the panel is at %v", r)
		}
		if r := w.fold(); r != to {
			t.Errorf("the orb is at %v, was at %v", r, to)
		}
	})
	t.Run("the panel is sized at its edge, and remembers that", func(t *testing.T) {
		w := at(t)
		r := w.open()
		from := image.Pt(r.Min.X+2, r.Min.Y+350)
		w.must(d.Move(from.Add(image.Pt(1, 0))))
		w.until(`window.wails.flags.resizeEdge === 'w-resize'`)
		w.must(d.Drag(from, from.Add(image.Pt(-60, 0)), pause))
		w.must(windowtest.Until(patience, func() error {
			if r, err := w.Bounds(); err != nil || r.Dx() < 490 {
				return fmt.Errorf("it is %v: %w", r, err)
			}
			return nil
		}))
		wide := must(w.Bounds())
		w.must(d.Move(middle(wide)))
		time.Sleep(600 * time.Millisecond) // longer than the window takes to be sure that it stands
		w.fold()
		w.must(d.Click(1, middle(w.orb())))
		w.sized(wide.Dx(), wide.Dy())
		w.until(`document.body.classList.contains('panel')`)
		w.fold()
	})
	t.Run("its text is made larger, and the orb is not", func(t *testing.T) {
		w := at(t)
		w.must(d.Click(1, middle(w.orb())))
		w.until(`innerWidth > 400`)
		w.must(active(d, must(w.ID())))
		for range 12 { // to the most there is
			w.must(d.With(windowtest.Control, '='))
		}
		w.until(`Math.abs(outerWidth / innerWidth - 2) < 0.02`)
		w.fold()
		w.must(d.Click(1, middle(w.orb())))
		w.until(`innerWidth > 200 && Math.abs(outerWidth / innerWidth - 2) < 0.02`)
		w.must(d.With(windowtest.Control, '0'))
		w.until(`innerWidth > 400`)
		w.fold()
	})
	t.Run("a hundred times leave no ghost and do not freeze it", func(t *testing.T) {
		w := at(t)
		stand := w.orb()
		for i := range 100 {
			w.must(d.Click(1, middle(stand)))
			w.must(windowtest.Until(patience, func() error {
				if r, err := w.Bounds(); err != nil || r.Dx() < 400 {
					return fmt.Errorf("round %d: it is %v: %w", i, r, err)
				}
				return nil
			}))
			w.must(active(d, must(w.ID())))
			w.must(d.Key(windowtest.Escape))
			if r := w.orb(); r != stand {
				t.Fatalf("round %d: the orb is at %v, was at %v", i, r, stand)
			}
		}
		w.must(shows(d, middle(stand), disc))
		w.must(windowtest.Until(patience, func() error { return striped(d, screen(d), editor, stand.Inset(8)) }))
		w.eval(`call('window.ready')`, nil)
	})
}

// drag moves the orb by a distance and returns where it has to be then.
func (w *win) drag(by image.Point) image.Rectangle {
	w.t.Helper()
	r := w.orb()
	w.must(w.Desktop.Drag(middle(r), middle(r).Add(by), pause))
	to := r.Add(by)
	w.must(windowtest.Until(patience, func() error {
		now, err := w.Bounds()
		if err == nil && now != to {
			err = fmt.Errorf("the orb is at %v, want %v", now, to)
		}
		return err
	}))
	return to
}

// pause is the time between two steps of a hand.
func pause() { time.Sleep(25 * time.Millisecond) }

// active waits until the window manager calls a window active.
func active(d *windowtest.Desktop, want windowtest.XID) error {
	return windowtest.Until(patience, func() error {
		is, err := d.Active()
		if err == nil && is != want {
			err = fmt.Errorf("active is %#x; want %#x", is, want)
		}
		return err
	})
}

// typed waits until the other windows have been sent these keys.
func typed(d *windowtest.Desktop, want string) error {
	return windowtest.Until(patience, func() error {
		got, err := d.Typed()
		if err == nil && got != want {
			err = fmt.Errorf("the other window got %q; want %q", got, want)
		}
		return err
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

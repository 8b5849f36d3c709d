//go:build linux

package windowtest_test

import (
	"errors"
	"fmt"
	"image"
	"testing"
	"time"

	"steward/app/windowtest"
)

// released starts the window as it is released, with its own page, and returns it
// once its orb is seen: before the page is there.
func released(t *testing.T, d *windowtest.Desktop, h *windowtest.House) (*windowtest.Window, image.Rectangle) {
	t.Helper()
	w, err := d.Start(program(t, releaseVar), h, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Kill(); err != nil {
			t.Error(err)
		}
	})
	width, height := d.Size()
	orb := image.Rect(width-104, height-104, width-24, height-24) // where it stands at first
	if err := windowtest.Until(patience, func() error {
		if striped(d, orb.Inset(30)) == nil {
			return errors.New("the orb is not seen")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return w, orb
}

var white = rgb(0xffffff)

// From the first moment there is the disc and nothing around it: not the white
// square that WebKit can show before the page has painted.
func TestFirstSight(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d, h := desktop(t, true), house(t)
			w, orb := released(t, d, h)
			for since := time.Now(); time.Since(since) < 3*time.Second; { // longer than the page takes
				img, err := d.Pixels(orb)
				if err != nil {
					t.Fatal(err)
				}
				if c := img.RGBAAt(orb.Min.X, orb.Min.Y); c == white {
					t.Fatalf("there is a white square, %v after the orb was seen", time.Since(since))
				}
			}
			if striped(d, orb.Inset(30)) == nil {
				t.Error("the orb has gone")
			}
			if err := errors.Join(w.Signal(), w.Wait(patience)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Who clicks the orb as soon as it is seen need not click again.
func TestClickBeforeThePage(t *testing.T) {
	d, h := desktop(t, true), house(t)
	w, orb := released(t, d, h)
	if err := d.Click(1, middle(orb)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Sized(448, 700); err != nil {
		t.Error(err)
	}
}

package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// place is where the orb stands on one display, and how large the panel is there.
type place struct {
	Display string `json:"display"`
	X       int    `json:"x"` // of the orb's window, from the display's left edge
	Y       int    `json:"y"` // from its top
	Width   int    `json:"width"`
	Height  int    `json:"height"` // of the display, when the orb was put there
	PanelW  int    `json:"panel_width,omitempty"`
	PanelH  int    `json:"panel_height,omitempty"`
}

// places are those of all displays that the orb has been on; the first one is
// where the person put it last.
type places struct {
	Places []place `json:"places"`
}

const (
	maxPlaces     = 32
	maxPlacesFile = 64 << 10 // bytes
	farthest      = 1 << 16  // pixels: no display is that wide, nor any place that far
)

// orb is where the orb stands with these displays: on the display it was put on
// last, if that is there, else on the primary one. It is always within the work
// area of a display.
func (p *places) orb(screens []Screen) Rect {
	on := primary(screens)
	if len(p.Places) > 0 {
		for _, s := range screens {
			if s.Key == p.Places[0].Display {
				on = s
			}
		}
	}
	at, ok := p.of(on.Key)
	if !ok {
		return corner(on.Work)
	}
	r := Rect{at.X, at.Y, orbSize.W, orbSize.H}
	// On a display whose size has changed the orb keeps to the edges it was near.
	if x, _ := r.centre(); x >= at.Width/2 {
		r.X += on.Bounds.W - at.Width
	}
	if _, y := r.centre(); y >= at.Height/2 {
		r.Y += on.Bounds.H - at.Height
	}
	r.X += on.Bounds.X
	r.Y += on.Bounds.Y
	return r.into(on.Work)
}

// panel is how large the panel is to be on a display.
func (p *places) panel(on Screen) Size {
	size := panelSize
	if at, ok := p.of(on.Key); ok && at.PanelW > 0 && at.PanelH > 0 {
		size = Size{at.PanelW, at.PanelH}
	}
	size.W, size.H = max(size.W, panelMin.W), max(size.H, panelMin.H)
	return Size{min(size.W, on.Work.W), min(size.H, on.Work.H)}
}

func (p *places) of(display string) (place, bool) {
	for _, at := range p.Places {
		if at.Display == display {
			return at, true
		}
	}
	return place{}, false
}

// put remembers that the person has put the orb at r. It tells whether that is
// new.
func (p *places) put(r Rect, screens []Screen) bool {
	on := screenOf(r, screens)
	at, _ := p.of(on.Key)
	was := at
	at.Display, at.X, at.Y, at.Width, at.Height = on.Key, r.X-on.Bounds.X, r.Y-on.Bounds.Y, on.Bounds.W, on.Bounds.H
	if at == was && p.Places[0] == at {
		return false
	}
	p.first(at)
	return true
}

// resized remembers how large the person has made the panel where the orb is. It
// tells whether that is new.
func (p *places) resized(size Size, orb Rect, screens []Screen) bool {
	on := screenOf(orb, screens)
	if size == p.panel(on) {
		return false
	}
	p.put(orb, screens)
	p.Places[0].PanelW, p.Places[0].PanelH = size.W, size.H
	return true
}

// first puts a place in front of the others.
func (p *places) first(at place) {
	rest := slices.DeleteFunc(p.Places, func(o place) bool { return o.Display == at.Display })
	p.Places = append([]place{at}, rest[:min(len(rest), maxPlaces-1)]...)
}

// loadPlaces reads the file. Without one, and with a broken one, nothing is
// remembered; the error of the latter is for the log.
func loadPlaces(path string) (*places, error) {
	p := &places{}
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if fi.Size() > maxPlacesFile || !fi.Mode().IsRegular() {
		return p, fmt.Errorf("%s: a file of at most %d bytes; got %s of %d", path, maxPlacesFile, fi.Mode().Type(), fi.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, p); err != nil {
		return &places{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(p.Places) > maxPlaces {
		p.Places = p.Places[:maxPlaces]
	}
	for _, at := range p.Places {
		for _, n := range [...]int{at.X, at.Y, at.Width, at.Height, at.PanelW, at.PanelH} {
			if n < -farthest || n > farthest {
				return &places{}, fmt.Errorf("%s: %d is on no display", path, n)
			}
		}
	}
	return p, nil
}

// save writes the file in one step: another process, and a start after a power
// cut, find the old one or the new one whole.
func (p *places) save(path string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use any more
	}
	return err
}

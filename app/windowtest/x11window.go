package windowtest

import (
	"errors"
	"image"
	"strings"
)

func (x *X) atom(name string) (uint32, error) {
	x.mu.Lock()
	a, ok := x.atoms[name]
	x.mu.Unlock()
	if ok {
		return a, nil
	}
	b, err := x.ask(16, 0, uint16(len(name)), uint16(0), name) //nolint:gosec // a word
	if err != nil {
		return 0, err
	}
	a = le.Uint32(b[8:])
	x.mu.Lock()
	x.atoms[name] = a
	x.mu.Unlock()
	return a, nil
}

// property returns the value of a window's property, nil if it has none.
func (x *X) property(w XID, name string) ([]byte, error) {
	a, err := x.atom(name)
	if err != nil {
		return nil, err
	}
	b, err := x.ask(20, 0, uint32(w), a, uint32(0), uint32(0), uint32(4096))
	if err != nil {
		return nil, err
	}
	n := int(le.Uint32(b[16:])) * int(b[1]) / 8
	return b[32 : 32+n], nil
}

// Active is the window that the window manager calls active, 0 if none is.
func (x *X) Active() (XID, error) {
	b, err := x.property(x.root, "_NET_ACTIVE_WINDOW")
	if err != nil || len(b) < 4 {
		return 0, err
	}
	return XID(le.Uint32(b)), nil
}

// Find returns the managed window of that title, 0 if there is none.
func (x *X) Find(title string) (XID, error) {
	b, err := x.property(x.root, "_NET_CLIENT_LIST")
	for ; err == nil && len(b) >= 4; b = b[4:] {
		w := XID(le.Uint32(b))
		if name, err := x.property(w, "_NET_WM_NAME"); err == nil && string(name) == title {
			return w, nil
		}
	}
	return 0, err
}

// States are the names of what _NET_WM_STATE says of a window.
func (x *X) States(w XID) ([]string, error) {
	b, err := x.property(w, "_NET_WM_STATE")
	var names []string
	for ; err == nil && len(b) >= 4; b = b[4:] {
		var name []byte
		if name, err = x.ask(17, 0, le.Uint32(b)); err == nil {
			names = append(names, strings.TrimRight(string(name[32:32+int(le.Uint16(name[8:]))]), "\x00"))
		}
	}
	return names, err
}

// EveryDesktop is where a window is that is on all of the virtual desktops.
const EveryDesktop = 0xffffffff

// OnDesktop is the number of the virtual desktop that a window is on.
func (x *X) OnDesktop(w XID) (uint32, error) {
	b, err := x.property(w, "_NET_WM_DESKTOP")
	if err == nil && len(b) < 4 {
		err = errors.New("it is on no desktop")
	}
	if err != nil {
		return 0, err
	}
	return le.Uint32(b), nil
}

// Bounds is where a window is on the screen.
func (x *X) Bounds(w XID) (image.Rectangle, error) {
	g, err := x.ask(14, 0, uint32(w))
	if err != nil {
		return image.Rectangle{}, err
	}
	width, height := int(le.Uint16(g[16:])), int(le.Uint16(g[18:]))
	p, err := x.ask(40, 0, uint32(w), uint32(x.root), int16(0), int16(0))
	if err != nil {
		return image.Rectangle{}, err
	}
	at := Point{X: int(int16(le.Uint16(p[12:]))), Y: int(int16(le.Uint16(p[14:])))} //nolint:gosec // as the protocol has them
	return image.Rectangle{Min: at, Max: at.Add(Point{X: width, Y: height})}, nil
}

// Open opens a plain window, such as the one of a program that somebody works
// with, which the window manager gives the keyboard.
func (x *X) Open(title string, r image.Rectangle) (XID, error) {
	w := XID(x.id())
	const values = 0x2 | 0x800 // background pixel, events
	const keyPress = 1
	name, err1 := x.atom("_NET_WM_NAME")
	utf8, err2 := x.atom("UTF8_STRING")
	return w, errors.Join(err1, err2,
		x.create(w, r, values, uint32(0x00ddddcc), uint32(keyPress)),
		x.tell(18, 0, uint32(w), name, utf8, byte(8), [3]byte{}, uint32(len(title)), title), //nolint:gosec // a word
		x.tell(8, 0, uint32(w)))
}

// Destroy closes a window of this connection.
func (x *X) Destroy(w XID) error { return x.tell(4, 0, uint32(w)) }

func (x *X) create(w XID, r image.Rectangle, values uint32, rest ...any) error {
	body := []any{uint32(w), uint32(x.root), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), uint16(0), uint16(1), uint32(0), values} //nolint:gosec // within the screen
	return x.tell(1, 0, append(body, rest...)...)
}

// Typed returns what keys the windows of this connection have been sent so far.
func (x *X) Typed() (string, error) {
	err := x.tell(127, 0) // NoOperation: what has been sent before it is read
	x.mu.Lock()
	defer x.mu.Unlock()
	var b strings.Builder
	for _, sym := range x.got {
		b.WriteRune(rune(sym)) //nolint:gosec // a letter
	}
	return b.String(), err
}

// The two colours of the stripes.
const (
	StripeA = 0x3366aa
	StripeB = 0xeecc88
	stripe  = 16 // pixels
)

// Stripes covers the screen with stripes of two colours, behind all windows.
func (x *X) Stripes() error {
	pixmap, gc, w := x.id(), x.id(), XID(x.id())
	const foreground, backPixmap, overrideRedirect = 0x4, 0x1, 0x200
	fill := func(colour uint32, y int16) error {
		return errors.Join(
			x.tell(56, 0, gc, uint32(foreground), colour),
			x.tell(70, 0, pixmap, gc, int16(0), y, uint16(stripe), uint16(stripe)))
	}
	return errors.Join(
		x.tell(53, x.depth, pixmap, uint32(x.root), uint16(stripe), uint16(2*stripe)),
		x.tell(55, 0, gc, pixmap, uint32(0)),
		fill(StripeA, 0), fill(StripeB, stripe),
		x.create(w, image.Rect(0, 0, x.width, x.height), backPixmap|overrideRedirect, pixmap, uint32(1)),
		x.tell(8, 0, uint32(w)), // map
		x.tell(12, 0, uint32(w), uint16(0x40), uint16(0), uint32(1))) // below all others
}

// StripeAt is the colour of the stripes at a height.
func StripeAt(y int) uint32 {
	if y/stripe%2 == 0 {
		return StripeA
	}
	return StripeB
}

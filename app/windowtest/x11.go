package windowtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"sync"
)

// Point is a place on the screen.
type Point = image.Point

// XID names something that the X server keeps, such as a window.
type XID uint32

// X is a connection to an X server, with the few requests that tests need. They
// take well under a millisecond, which a command started for each does not. It is
// safe for concurrent use.
type X struct {
	mu     sync.Mutex
	conn   net.Conn
	seq    uint16
	nextID uint32
	test   byte // major opcode of the XTEST extension
	keys   map[uint32]byte
	atoms  map[string]uint32
	got    []uint32 // what keys this connection's windows were sent

	root          XID
	depth         byte
	width, height int
}

// le is the byte order that is asked for.
var le = binary.LittleEndian

// DialX connects to a display of this machine.
func DialX(display int) (*X, error) {
	c, err := net.Dial("unix", fmt.Sprintf("/tmp/.X11-unix/X%d", display))
	if err != nil {
		return nil, err
	}
	x := &X{conn: c, atoms: map[string]uint32{}}
	if err := errors.Join(x.setup(), x.extension(), x.keyboard()); err != nil {
		c.Close()
		return nil, err
	}
	return x, nil
}

// Close ends the connection; its windows disappear.
func (x *X) Close() error { return x.conn.Close() }

// Size is the size of the whole screen.
func (x *X) Size() (width, height int) { return x.width, x.height }

var minKey, maxKey byte

func (x *X) setup() error {
	if _, err := x.conn.Write([]byte{'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(x.conn, head); err != nil {
		return err
	}
	b := make([]byte, 4*int(le.Uint16(head[6:])))
	if _, err := io.ReadFull(x.conn, b); err != nil {
		return err
	}
	if head[0] != 1 {
		return fmt.Errorf("the X server refuses: %q", b)
	}
	x.nextID = le.Uint32(b[4:])
	minKey, maxKey = b[26], b[27]
	vendor, formats := int(le.Uint16(b[16:])), int(b[21])
	screen := b[32+(vendor+3)&^3+8*formats:]
	x.root = XID(le.Uint32(screen))
	x.width, x.height = int(le.Uint16(screen[20:])), int(le.Uint16(screen[22:]))
	x.depth = screen[38]
	return nil
}

// request sends one request. body begins behind the length.
func (x *X) request(op, data byte, body ...any) error {
	var b bytes.Buffer
	b.Write([]byte{op, data, 0, 0})
	for _, v := range body {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		if err := binary.Write(&b, le, v); err != nil {
			return err
		}
	}
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
	out := b.Bytes()
	le.PutUint16(out[2:], uint16(len(out)/4)) //nolint:gosec // requests here are short
	x.seq++
	_, err := x.conn.Write(out)
	return err
}

// reply waits for the answer to the last request.
func (x *X) reply() ([]byte, error) {
	for {
		b := make([]byte, 32)
		if _, err := io.ReadFull(x.conn, b); err != nil {
			return nil, err
		}
		switch b[0] & 0x7f {
		case 0:
			return nil, fmt.Errorf("X error %d on request %d", b[1], b[10])
		case 1:
			rest := make([]byte, 4*int(le.Uint32(b[4:])))
			if _, err := io.ReadFull(x.conn, rest); err != nil {
				return nil, err
			}
			if le.Uint16(b[2:]) == x.seq {
				return append(b, rest...), nil
			}
		case 2: // KeyPress
			for sym, code := range x.keys {
				if code == b[1] {
					x.got = append(x.got, sym)
				}
			}
		}
	}
}

func (x *X) ask(op, data byte, body ...any) ([]byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.request(op, data, body...); err != nil {
		return nil, err
	}
	return x.reply()
}

// tell sends a request that has no answer, and waits until it is done.
func (x *X) tell(op, data byte, body ...any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.request(op, data, body...); err != nil {
		return err
	}
	if err := x.request(43, 0); err != nil { // GetInputFocus: an answer behind it
		return err
	}
	_, err := x.reply()
	return err
}

func (x *X) id() uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.nextID++
	return x.nextID
}

func (x *X) extension() error {
	b, err := x.ask(98, 0, uint16(5), uint16(0), "XTEST")
	if err == nil && b[8] == 0 {
		err = errors.New("the X server has no XTEST")
	}
	if err == nil {
		x.test = b[9]
	}
	return err
}

func (x *X) keyboard() error {
	b, err := x.ask(101, 0, minKey, maxKey-minKey+1, uint16(0))
	if err != nil {
		return err
	}
	per := int(b[1])
	x.keys = map[uint32]byte{}
	for i, syms := 0, b[32:]; (i+1)*per*4 <= len(syms); i++ {
		if sym := le.Uint32(syms[i*per*4:]); sym != 0 && x.keys[sym] == 0 {
			x.keys[sym] = minKey + byte(i) //nolint:gosec // there are at most 248 keys
		}
	}
	return nil
}

func (x *X) fake(kind, detail byte, at Point) error {
	return x.tell(x.test, 2, kind, detail, uint16(0), uint32(0), uint32(0), [8]byte{}, int16(at.X), int16(at.Y), [7]byte{}, byte(0)) //nolint:gosec // places on a screen
}

// Move moves the pointer.
func (x *X) Move(to Point) error { return x.fake(6, 0, to) }

// Press presses a button of the mouse; 1 is the left one.
func (x *X) Press(button byte) error { return x.fake(4, button, Point{}) }

// Release lets it go.
func (x *X) Release(button byte) error { return x.fake(5, button, Point{}) }

// Click moves the pointer and clicks there.
func (x *X) Click(button byte, at Point) error {
	return errors.Join(x.Move(at), x.Press(button), x.Release(button))
}

// Drag presses at from, moves in steps to to, and lets go there.
func (x *X) Drag(from, to Point, step func()) error {
	err := errors.Join(x.Move(from), x.Press(1))
	const steps = 8
	for i := 1; i <= steps && err == nil; i++ {
		step()
		err = x.Move(Point{X: from.X + (to.X-from.X)*i/steps, Y: from.Y + (to.Y-from.Y)*i/steps})
	}
	step()
	return errors.Join(err, x.Release(1))
}

// The keys that have no letter.
const (
	Escape  = 0xff1b
	Return  = 0xff0d
	Control = 0xffe3
)

// Key presses and releases keys one after the other: letters as they are, others
// by their X names above.
func (x *X) Key(syms ...uint32) error {
	for _, sym := range syms {
		code, ok := x.keys[sym]
		if !ok {
			return fmt.Errorf("the keyboard has no key %#x", sym)
		}
		if err := errors.Join(x.fake(2, code, Point{}), x.fake(3, code, Point{})); err != nil {
			return err
		}
	}
	return nil
}

// With presses a key while another is held.
func (x *X) With(held uint32, sym uint32) error {
	code, ok := x.keys[held]
	if !ok {
		return fmt.Errorf("the keyboard has no key %#x", held)
	}
	err := errors.Join(x.fake(2, code, Point{}), x.Key(sym))
	return errors.Join(err, x.fake(3, code, Point{}))
}

// Type types lower-case letters, digits and spaces.
func (x *X) Type(text string) error {
	for _, r := range text {
		if err := x.Key(uint32(r)); err != nil {
			return err
		}
	}
	return nil
}

// Pixels returns what the screen shows at r.
func (x *X) Pixels(r image.Rectangle) (*image.RGBA, error) {
	r = r.Intersect(image.Rect(0, 0, x.width, x.height))
	b, err := x.ask(73, 2, uint32(x.root), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), ^uint32(0)) //nolint:gosec // within the screen
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(r)
	for i, p := 0, b[32:]; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = p[i+2], p[i+1], p[i], 0xff
	}
	return img, nil
}

// Command window measures what a person waits for, and what the window costs
// while nobody looks, by the pixels of a screen of its own: from the start to the
// orb, from a click to the panel, from a receipt's acknowledgement to the orb
// that shows it, and the processor's time of a folded window. Each with an empty
// ledger and with a million events.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"steward/app/windowtest"
	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
	"steward/ledger"
)

var (
	binary = flag.String("window", "build/bin/steward-desktop", "the program with the window, as it is released")
	events = flag.Int("events", 1_000_000, "events of the large ledger")
	idle   = flag.Duration("idle", time.Minute, "how long the folded window is watched")
)

const (
	starts   = 7
	opens    = 20
	receipts = 20

	startLimit   = 1.0   // seconds
	openLimit    = 0.1   // seconds
	receiptLimit = 0.2   // seconds
	idleLimit    = 0.005 // of a core

	patience = 30 * time.Second
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "window:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	for _, need := range windowtest.Needs {
		if _, err := exec.LookPath(need); err != nil {
			return err
		}
	}
	program, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	for _, n := range []int{0, *events} {
		if err := measure(ctx, program, n); err != nil {
			return err
		}
	}
	return nil
}

// trial is a window on a desktop.
type trial struct {
	*windowtest.Window
	desktop *windowtest.Desktop
	orb     image.Rectangle
}

// measure prints the rows of a ledger with n events.
func measure(ctx context.Context, program string, n int) (err error) {
	d, err := windowtest.NewDesktop()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Compose(); err != nil {
		return err
	}
	h, err := windowtest.NewHouse()
	if err != nil {
		return err
	}
	defer os.RemoveAll(h.Dir)
	what := "empty ledger"
	if n > 0 {
		what = fmt.Sprintf("%d events", n)
		if _, err := rig.FillWith(ctx, filepath.Join(h.Home, "ledger.db"), n, quietly); err != nil {
			return err
		}
	}

	var took []float64
	var t *trial
	for i := range starts + 1 {
		if t != nil {
			if err := errors.Join(t.Signal(), t.Wait(patience)); err != nil {
				return err
			}
		}
		var s float64
		if t, s, err = begin(d, program, h); err != nil {
			return err
		}
		if i > 0 { // the first one reads the program from the disk
			took = append(took, s)
		}
	}
	defer func() { err = errors.Join(err, t.Kill()) }()
	print("start to the orb", what, took, startLimit)

	if took, err = t.opens(); err != nil {
		return err
	}
	print("click to the panel", what, took, openLimit)
	if took, err = t.receipts(ctx); err != nil {
		return err
	}
	print("acknowledged to shown in the orb", what, took, receiptLimit)

	used, err := t.idle()
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "folded, processor's time in " + idle.String() + ", " + what, Unit: gauge.Seconds,
		Ours: gauge.Figure{Name: "used", Value: used}, Theirs: gauge.Figure{Name: "limit", Value: idleLimit * idle.Seconds()}, Bar: 1, AtMost: true})
	return nil
}

func print(name, what string, took []float64, limit float64) {
	gauge.Print(os.Stdout, gauge.Row{Name: name + ", " + what, Unit: gauge.Seconds,
		Ours: gauge.Figure{Name: "p50", Value: gauge.Median(took)}, Theirs: gauge.Figure{Name: "limit", Value: limit}, Bar: 1, AtMost: true})
}

// quietly is a receipt of a large ledger in which nothing fails: a failure more
// would change nothing on an orb that counts more than it can show.
func quietly(i int) ledger.Event {
	e := rig.Event(i%rig.Actors, i/rig.Actors)
	e.Type = ledger.TypeDone
	e.Workspace = rig.Workspace(i)
	e.Caller = e.Workspace
	return e
}

// begin starts the window, and returns after how many seconds its orb was seen.
func begin(d *windowtest.Desktop, program string, h *windowtest.House) (*trial, float64, error) {
	width, height := d.Size()
	orb := image.Rect(width-104, height-104, width-24, height-24) // where it stands at first
	start := time.Now()
	w, err := d.Start(program, h, false)
	if err != nil {
		return nil, 0, err
	}
	t := &trial{w, d, orb}
	s, err := t.until(start, func() (bool, error) { return t.covered(orb.Inset(24)) })
	if err != nil {
		return nil, 0, errors.Join(err, w.Kill(), errors.New(w.Said()))
	}
	return t, s, t.still()
}

// until asks every millisecond, and returns the seconds since start when it is so.
func (t *trial) until(start time.Time, so func() (bool, error)) (float64, error) {
	for end := start.Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if is, err := so(); err != nil || is {
			return time.Since(start).Seconds(), err
		}
	}
	return 0, errors.New("the screen does not change")
}

// covered tells whether anything is before the stripes everywhere in r.
func (t *trial) covered(r image.Rectangle) (bool, error) {
	img, err := t.desktop.Pixels(r)
	if err != nil {
		return false, err
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		c := img.RGBAAt(r.Min.X+r.Dx()/2, y)
		if uint32(c.R)<<16|uint32(c.G)<<8|uint32(c.B) == windowtest.StripeAt(y) {
			return false, nil
		}
	}
	return true, nil
}

// still waits until the orb has looked the same for a while.
func (t *trial) still() error {
	const long = 400 * time.Millisecond
	last, since := "", time.Now()
	_, err := t.until(time.Now(), func() (bool, error) {
		img, err := t.desktop.Pixels(t.orb)
		if err != nil {
			return false, err
		}
		if now := string(img.Pix); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > long, nil
	})
	return err
}

func (t *trial) active() (bool, error) {
	id, err1 := t.ID()
	now, err2 := t.desktop.Active()
	return id != 0 && id == now, errors.Join(err1, err2)
}

// opens is how long the panel takes to be painted after a click.
func (t *trial) opens() (took []float64, err error) {
	for range opens {
		middle := t.orb.Min.Add(t.orb.Size().Div(2))
		if err := errors.Join(t.desktop.Move(middle), t.still()); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := errors.Join(t.desktop.Press(1), t.desktop.Release(1)); err != nil {
			return nil, err
		}
		// A strip through all of the panel but its edges.
		strip := image.Rect(t.orb.Max.X-300, t.orb.Max.Y-680, t.orb.Max.X-298, t.orb.Max.Y-20)
		s, err := t.until(start, func() (bool, error) { return t.covered(strip) })
		if err != nil {
			return nil, err
		}
		took = append(took, s)
		if _, err := t.until(time.Now(), t.active); err != nil { // a key before would go elsewhere
			return nil, err
		}
		time.Sleep(200 * time.Millisecond) // a glance
		if err := t.desktop.Key(windowtest.Escape); err != nil {
			return nil, err
		}
		if _, err := t.Sized(t.orb.Dx(), t.orb.Dy()); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// receipts is how long the orb takes to show what has been acknowledged: a
// failure, and that it is resolved, in turn.
func (t *trial) receipts(ctx context.Context) (took []float64, err error) {
	sockets, err := filepath.Glob(filepath.Join(t.House.Home, "run", "*.sock"))
	if err != nil {
		return nil, err
	}
	if len(sockets) != 1 {
		return nil, fmt.Errorf("the service has the sockets %v", sockets)
	}
	c, err := rig.Dial(ctx, sockets[0], "", "bench", true)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Initialize(); err != nil {
		return nil, err
	}
	for i := range receipts {
		if err := t.still(); err != nil {
			return nil, err
		}
		before, err := t.desktop.Pixels(t.orb)
		if err != nil {
			return nil, err
		}
		kind := [...]string{"failed", "done"}[i%2]
		if _, err := c.Call("report_done", fmt.Appendf(nil, `{"actor":"ada","type":%q,"object_id":"bench"}`, kind)); err != nil {
			return nil, err
		}
		s, err := t.until(time.Now(), func() (bool, error) {
			now, err := t.desktop.Pixels(t.orb)
			return err == nil && string(now.Pix) != string(before.Pix), err
		})
		if err != nil {
			return nil, err
		}
		took = append(took, s)
	}
	return took, nil
}

// idle is how many seconds of a core the window's processes use while it is
// folded and nothing happens.
func (t *trial) idle() (float64, error) {
	if err := errors.Join(t.desktop.Move(image.Pt(5, 5)), t.still()); err != nil {
		return 0, err
	}
	time.Sleep(3 * time.Second) // what follows the last thing that happened
	before, err := windowtest.CPU(t.Cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(*idle)
	after, err := windowtest.CPU(t.Cmd.Process.Pid)
	return (after - before).Seconds(), err
}

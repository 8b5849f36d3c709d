//go:build desktop && !bindings

package app

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// frame is the one window, by what the library offers of it on macOS. Where it
// is told apart from other windows (no button in the Dock, over full-screen
// programs, no keyboard while an orb) wants code that only a Mac can build and
// try.
type frame struct {
	logger *slog.Logger
	stage  atomic.Pointer[Stage]
	ctx    atomic.Pointer[context.Context] // of the library, once it has one
	up     chan struct{}                   // closed when the window is there
	gone   chan struct{}                   // closed when it is no more
	start  atomic.Pointer[string]          // not used on macOS

	mu    sync.Mutex
	first Rect
}

// The library names the displays' sizes only when there is a window. Until then
// one of a common size stands for them.
var before = Screen{Key: "display", Bounds: Rect{0, 0, 1440, 900}, Work: Rect{0, 25, 1440, 800}, Primary: true}

func newFrame(logger *slog.Logger) (*frame, error) {
	return &frame{logger: logger, up: make(chan struct{}), gone: make(chan struct{})}, nil
}

// catch places the library's window when it is there.
func (f *frame) catch(r Rect) {
	f.first = r
	go func() {
		select {
		case <-f.up:
			f.Place(Orb, r)
			if s := f.stage.Load(); s != nil {
				s.Rearranged()
			}
		case <-f.gone:
		}
	}()
}

func (f *frame) screens() []Screen {
	ctx := f.ctx.Load()
	if ctx == nil {
		return []Screen{before}
	}
	all, err := wails.ScreenGetAll(*ctx)
	if err != nil || len(all) == 0 {
		return []Screen{before}
	}
	for _, s := range all { // places are relative to the display that the window is on
		if s.IsCurrent {
			r := Rect{0, 0, s.Size.Width, s.Size.Height}
			return []Screen{{Key: "display", Bounds: r, Work: Rect{0, 25, r.W, r.H - 25}, Primary: true}}
		}
	}
	return []Screen{before}
}

func (f *frame) Screens() []Screen {
	select {
	case <-f.gone:
		return nil
	default:
		return f.screens()
	}
}

func (f *frame) Composited() bool { return true }

func (f *frame) Place(s Shape, r Rect) {
	ctx := f.ctx.Load()
	if ctx == nil {
		return
	}
	least := r.size()
	if s == Panel {
		least = Size{min(panelMin.W, r.W), min(panelMin.H, r.H)}
	}
	wails.WindowSetMinSize(*ctx, least.W, least.H)
	wails.WindowSetSize(*ctx, r.W, r.H)
	wails.WindowSetPosition(*ctx, r.X, r.Y)
}

func (f *frame) Focus() {
	if ctx := f.ctx.Load(); ctx != nil {
		wails.WindowShow(*ctx)
	}
}

func (f *frame) GiveBack() {}

func (f *frame) Raise() {
	if ctx := f.ctx.Load(); ctx != nil {
		wails.WindowSetAlwaysOnTop(*ctx, true)
	}
}

func (f *frame) Run(script string) {
	if ctx := f.ctx.Load(); ctx != nil {
		wails.WindowExecJS(*ctx, script)
	}
}

func (f *frame) Emit(event string, data any) {
	if ctx := f.ctx.Load(); ctx != nil {
		wails.EventsEmit(*ctx, event, data)
	}
}

// Copy puts text into the clipboard.
func (f *frame) Copy(text string) error {
	ctx := f.ctx.Load()
	if ctx == nil {
		return os.ErrClosed
	}
	return wails.ClipboardSetText(*ctx, text)
}

// end lets the library's Run return.
func (f *frame) end() {
	select {
	case <-f.up:
		wails.Quit(*f.ctx.Load())
	case <-f.gone:
	}
}

// alive tells whether there is a window.
func (f *frame) alive() bool { return len(f.Screens()) > 0 }

// leave says that Run has returned.
func (f *frame) leave() { close(f.gone) }

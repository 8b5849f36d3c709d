//go:build desktop && !bindings

package app

/*
#cgo CFLAGS: -fobjc-arc -mmacosx-version-min=12.0
#cgo LDFLAGS: -framework Cocoa -framework UniformTypeIdentifiers -mmacosx-version-min=12.0
#include "frame_darwin.h"
*/
import "C"

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// frame is the one window. AppKit calls back without saying which, so it is kept
// in theFrame.
type frame struct {
	logger *slog.Logger
	stage  atomic.Pointer[Stage]
	ctx    atomic.Pointer[context.Context] // of the library, once it has one
	up     chan struct{}                   // closed when the window is there
	gone   chan struct{}                   // closed when it is no more
	start  atomic.Pointer[string]          // not used on macOS

	known atomic.Pointer[[]Screen] // the displays as they were last looked at
}

var theFrame *frame

func newFrame(logger *slog.Logger) (*frame, error) {
	theFrame = &frame{logger: logger, up: make(chan struct{}), gone: make(chan struct{})}
	C.steward_watch()
	theFrame.look()
	return theFrame, nil
}

// catch waits for the library's window, which is to appear at r as an orb.
func (f *frame) catch(r Rect) { C.steward_catch(C.int(r.X), C.int(r.Y), C.int(r.W), C.int(r.H)) }

//export stewardMoved
func stewardMoved(x, y, w, h C.int) {
	if s := theFrame.stage.Load(); s != nil {
		s.Moved(Rect{int(x), int(y), int(w), int(h)})
	}
}

//export stewardBlurred
func stewardBlurred() {
	if s := theFrame.stage.Load(); s != nil {
		s.Blurred()
	}
}

//export stewardRearranged
func stewardRearranged() {
	theFrame.look()
	if s := theFrame.stage.Load(); s != nil {
		s.Rearranged()
	}
}

// look finds out what displays there are, on the main thread.
func (f *frame) look() {
	var found [16]C.steward_screen
	n := int(C.steward_screens(&found[0], C.int(len(found))))
	all := make([]Screen, n)
	seen := map[string]int{}
	for i, s := range found[:n] {
		rect := func(r [4]C.int) Rect { return Rect{int(r[0]), int(r[1]), int(r[2]), int(r[3])} }
		key := C.GoString(&s.key[0])
		if seen[key]++; seen[key] > 1 { // two of one make
			key += " " + strconv.Itoa(seen[key])
		}
		all[i] = Screen{Key: key, Bounds: rect(s.bounds), Work: rect(s.work), Primary: s.primary != 0}
	}
	f.known.Store(&all)
}

func (f *frame) Screens() []Screen {
	select {
	case <-f.gone:
		return nil
	default:
		return *f.known.Load()
	}
}

func (f *frame) Composited() bool { return true }

func (f *frame) Place(s Shape, r Rect) {
	kind, least := C.int(C.STEWARD_ORB), r.size()
	switch s {
	case Menu:
		kind = C.STEWARD_MENU
	case Panel:
		kind, least = C.STEWARD_PANEL, Size{min(panelMin.W, r.W), min(panelMin.H, r.H)}
	}
	C.steward_place(kind, C.int(r.X), C.int(r.Y), C.int(r.W), C.int(r.H), C.int(least.W), C.int(least.H))
}

func (f *frame) Focus() { C.steward_focus() }

func (f *frame) GiveBack() { C.steward_give_back() }

func (f *frame) Raise() { C.steward_raise() }

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

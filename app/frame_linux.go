//go:build desktop && !bindings

package app

/*
#cgo CFLAGS: -DGDK_DISABLE_DEPRECATION_WARNINGS
#cgo pkg-config: gtk+-3.0
#cgo !webkit2_41 pkg-config: webkit2gtk-4.0
#cgo webkit2_41 pkg-config: webkit2gtk-4.1
#include <stdlib.h>
#include "frame_linux.h"
*/
import "C"

import (
	"context"
	"log/slog"
	"os"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"

	"steward/mcp/ops"
)

// frame is the one window. C calls back without saying which, so it is kept in
// theFrame.
type frame struct {
	logger *slog.Logger
	stage  atomic.Pointer[Stage]
	ctx    atomic.Pointer[context.Context] // of the library, once it has one
	up     chan struct{}                   // closed when the loop runs
	gone   chan struct{}                   // closed when it runs no more
	start  atomic.Pointer[string]          // of the second start that asked to be shown the window

	known atomic.Pointer[[]Screen] // the displays as they were last looked at
	clear atomic.Bool              // there is a compositor
}

var theFrame *frame

// newFrame connects to the display. The error says that there is none.
func newFrame(logger *slog.Logger) (*frame, error) {
	// A window that places itself needs X11. On Wayland, that is Xwayland.
	if os.Getenv("GDK_BACKEND") == "" && os.Getenv("DISPLAY") != "" {
		if err := os.Setenv("GDK_BACKEND", "x11"); err != nil {
			return nil, err
		}
	}
	// WebKit would read half of /proc every few seconds, to save memory for pages
	// of another size: that was most of what a folded window cost.
	if err := os.Setenv("WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR", "1"); err != nil {
		return nil, err
	}
	if C.steward_start() == 0 {
		return nil, &ops.Error{Code: ops.Unavailable, Message: "there is no display for the window here", Hint: "`steward serve` serves without one"}
	}
	theFrame = &frame{logger: logger, up: make(chan struct{}), gone: make(chan struct{})}
	theFrame.look()
	return theFrame, nil
}

// catch waits for the library's window, which is to appear at r as an orb.
func (f *frame) catch(r Rect) { C.steward_catch(C.int(r.X), C.int(r.Y), C.int(r.W), C.int(r.H)) }

// post lets do run on GTK's thread, in the order of the posts, once its loop runs.
func (f *frame) post(do func()) {
	select {
	case <-f.up:
		C.steward_invoke(C.uintptr_t(cgo.NewHandle(do)))
	case <-f.gone:
	}
}

// alive waits until GTK's thread has done everything it was asked to. It tells
// whether there is a window.
func (f *frame) alive() bool {
	done := make(chan struct{})
	f.post(func() { close(done) })
	select {
	case <-done:
		return true
	case <-f.gone:
		return false
	}
}

//export stewardInvoke
func stewardInvoke(call C.uintptr_t) {
	h := cgo.Handle(call)
	do := h.Value().(func())
	h.Delete()
	do()
}

//export stewardMoved
func stewardMoved(x, y, w, h C.int) {
	if s := theFrame.stage.Load(); s != nil {
		s.Moved(Rect{int(x), int(y), int(w), int(h)})
	}
}

// stewardClicked says that the person has clicked the orb before the page was
// there.
//
//export stewardClicked
func stewardClicked() {
	if s := theFrame.stage.Load(); s != nil {
		s.Open("")
	}
}

//export stewardBlurred
func stewardBlurred() {
	if s := theFrame.stage.Load(); s != nil {
		s.Blurred()
	}
}

//export stewardRecomposed
func stewardRecomposed() {
	theFrame.look()
	if s := theFrame.stage.Load(); s != nil {
		s.Recomposed()
	}
}

//export stewardRearranged
func stewardRearranged() {
	theFrame.look()
	if s := theFrame.stage.Load(); s != nil {
		s.Rearranged()
	}
}

//export stewardCrashed
func stewardCrashed(why C.int) {
	theFrame.logger.Error("the page's process has ended; it is loaded again", "reason", int(why))
}

// look finds out what displays there are, on GTK's own thread.
func (f *frame) look() {
	var found [16]C.steward_screen
	n := int(C.steward_screens(&found[0], C.int(len(found))))
	all := make([]Screen, n)
	seen := map[string]int{}
	for i, s := range found[:n] {
		rect := func(r [4]C.int) Rect { return Rect{int(r[0]), int(r[1]), int(r[2]), int(r[3])} }
		key := strings.TrimSpace(C.GoString(&s.key[0]))
		if seen[key]++; seen[key] > 1 { // two of one make, where the system does not name the plug
			key += " " + strconv.Itoa(seen[key])
		}
		all[i] = Screen{Key: key, Bounds: rect(s.bounds), Work: rect(s.work), Primary: s.primary != 0}
	}
	f.known.Store(&all)
	f.clear.Store(C.steward_composited() != 0)
}

// Screens returns the displays at once, so that a click is not kept waiting. Of
// a panel of the desktop that has come or gone GTK says nothing, so they are
// looked at again for the next time.
func (f *frame) Screens() []Screen {
	select {
	case <-f.gone:
		return nil
	case <-f.up:
		f.post(f.look)
	default:
	}
	return *f.known.Load()
}

func (f *frame) Composited() bool { return f.clear.Load() }

func (f *frame) Place(s Shape, r Rect) {
	kind, least := C.int(C.STEWARD_ORB), r.size()
	switch s {
	case Menu:
		kind = C.STEWARD_MENU
	case Panel:
		kind, least = C.STEWARD_PANEL, Size{min(panelMin.W, r.W), min(panelMin.H, r.H)}
	}
	f.post(func() {
		C.steward_place(kind, C.int(r.X), C.int(r.Y), C.int(r.W), C.int(r.H), C.int(least.W), C.int(least.H))
	})
}

func (f *frame) Focus() {
	startup := ""
	if s := f.start.Swap(nil); s != nil {
		startup = *s
	}
	f.post(func() {
		c := C.CString(startup)
		defer C.free(unsafe.Pointer(c))
		C.steward_focus(c)
	})
}

func (f *frame) GiveBack() { f.post(func() { C.steward_give_back() }) }

func (f *frame) Raise() { f.post(func() { C.steward_raise() }) }

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
func (f *frame) end() { f.post(func() { C.steward_end_loop() }) }

// leave lets the window disappear after Run has returned.
func (f *frame) leave() {
	close(f.gone)
	C.steward_leave_screen()
}

//go:build desktop && !bindings

package app

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
	"golang.org/x/sys/windows"

	"steward/mcp/ops"
)

// frame is the one window. Its numbers are physical pixels divided by the scale
// of its display, as the page's are. Windows calls back without saying for which
// frame, so it is kept in theFrame.
type frame struct {
	logger *slog.Logger
	stage  atomic.Pointer[Stage]
	ctx    atomic.Pointer[context.Context] // of the library, once it has one
	up     chan struct{}                   // closed when the window is there
	gone   chan struct{}                   // closed when it is no more
	start  atomic.Pointer[string]          // not used on Windows

	mu     sync.Mutex
	first  Rect    // where the window is to appear
	before uintptr // whom the keyboard was taken from
	theirs uintptr // the library's window procedure
	shape  Shape
}

var theFrame *frame

func newFrame(logger *slog.Logger) (*frame, error) {
	theFrame = &frame{logger: logger, up: make(chan struct{}), gone: make(chan struct{}), shape: Orb}
	if len(theFrame.screens()) == 0 {
		return nil, &ops.Error{Code: ops.Unavailable, Message: "there is no display for the window here", Hint: "`steward serve` serves without one"}
	}
	return theFrame, nil
}

// catch waits for the library's window, which is to appear at r as an orb.
func (f *frame) catch(r Rect) {
	f.first = r
	go func() {
		select {
		case <-f.up:
			f.listen()
			f.Place(Orb, r)
		case <-f.gone:
		}
	}()
}

// window is the handle of the window, 0 while there is none.
func (f *frame) window() uintptr {
	name, err := windows.UTF16PtrFromString(windowClass)
	if err != nil {
		return 0
	}
	for h := uintptr(0); ; {
		if h, _, _ = procFindWindow.Call(0, h, uintptr(unsafe.Pointer(name)), 0); h == 0 {
			return 0
		}
		var pid uint32
		_, _, _ = procThreadProcessID.Call(h, uintptr(unsafe.Pointer(&pid))) // else pid stays 0
		if int(pid) == os.Getpid() {
			return h
		}
	}
}

// listen puts a procedure of ours before the library's.
func (f *frame) listen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.window(); h != 0 {
		f.theirs, _, _ = procSetWindowLong.Call(h, gwlWndProc, windows.NewCallback(heard))
	}
}

// heard is what Windows tells the window. It runs on the library's thread.
func heard(h, message, w, l uintptr) uintptr {
	f := theFrame
	if s := f.stage.Load(); s != nil {
		switch message {
		case wmWindowPosChanged:
			s.Moved(f.bounds())
		case wmDisplayChange, wmSettingChange:
			s.Rearranged()
		case wmActivate:
			if w&0xffff == 0 {
				s.Blurred()
			}
		case wmCompositionChanged:
			s.Recomposed()
		}
	}
	answer, _, _ := procCallWindowProc.Call(f.theirs, h, message, w, l)
	return answer
}

// dpi is the resolution of the window's display; 96 is one pixel for one.
func (f *frame) dpi() int {
	if h := f.window(); h != 0 && procGetDpiForWindow.Find() == nil {
		if dpi, _, _ := procGetDpiForWindow.Call(h); dpi != 0 {
			return int(dpi)
		}
	}
	if procGetDpiForSystem.Find() == nil {
		if dpi, _, _ := procGetDpiForSystem.Call(); dpi != 0 {
			return int(dpi)
		}
	}
	return plainDPI
}

func (f *frame) bounds() Rect {
	var r winRect
	_, _, _ = procGetWindowRect.Call(f.window(), uintptr(unsafe.Pointer(&r))) // else r stays empty
	return r.scaled(plainDPI, f.dpi())
}

func (f *frame) Screens() []Screen {
	select {
	case <-f.gone:
		return nil
	default:
		return f.screens()
	}
}

// found collects monitors; the callback that does is made once, as Windows never
// gives one back.
var found struct {
	sync.Mutex
	all []monitorInfo
}

var foundOne = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(monitor, _, _, _ uintptr) uintptr {
		info := monitorInfo{size: uint32(unsafe.Sizeof(monitorInfo{}))}
		if ok, _, _ := procGetMonitorInfo.Call(monitor, uintptr(unsafe.Pointer(&info))); ok != 0 {
			found.all = append(found.all, info)
		}
		return 1 // go on
	})
})

func (f *frame) screens() []Screen {
	dpi := f.dpi()
	found.Lock()
	defer found.Unlock()
	found.all = nil
	_, _, _ = procEnumDisplayMonitors.Call(0, 0, foundOne(), 0) // else there are none
	all := make([]Screen, len(found.all))
	for i, m := range found.all {
		all[i] = Screen{Key: windows.UTF16ToString(m.device[:]), Bounds: m.monitor.scaled(plainDPI, dpi),
			Work: m.work.scaled(plainDPI, dpi), Primary: m.flags&monitorIsPrimary != 0}
	}
	return all
}

// Composited tells whether a window can be really transparent: since Windows 11
// 22H2.
func (f *frame) Composited() bool { return windows.RtlGetVersion().BuildNumber >= seesThroughBuild }

func (f *frame) Place(s Shape, r Rect) {
	h := f.window()
	if h == 0 {
		return
	}
	f.mu.Lock()
	f.shape = s
	f.mu.Unlock()
	style, _, _ := procGetWindowLong.Call(h, gwlExStyle)
	style = style&^exAppWindow | exToolWindow // no button in the taskbar
	if s == Orb {
		style |= exNoActivate
	} else {
		style &^= exNoActivate
	}
	_, _, _ = procSetWindowLong.Call(h, gwlExStyle, style)
	p := r.times(f.dpi(), plainDPI)
	_, _, _ = procSetWindowPos.Call(h, hwndTopmost, uintptr(p.X), uintptr(p.Y), uintptr(p.W), uintptr(p.H), posNoActivate|posFrameChanged)
	if f.Composited() {
		return
	}
	// What would be black is cut off.
	round := uintptr(p.W)
	if s != Orb {
		round = uintptr(32 * f.dpi() / plainDPI)
	}
	region, _, _ := procCreateRoundRgn.Call(0, 0, uintptr(p.W+1), uintptr(p.H+1), round, round)
	_, _, _ = procSetWindowRgn.Call(h, region, 1) // the window owns the region then
}

func (f *frame) Focus() {
	h := f.window()
	if fore, _, _ := procGetForeground.Call(); fore != h {
		f.mu.Lock()
		f.before = fore
		f.mu.Unlock()
	}
	_, _, _ = procSetForeground.Call(h) // Windows may refuse; then the panel is there without the keyboard
}

func (f *frame) GiveBack() {
	f.mu.Lock()
	before := f.before
	f.before = 0
	f.mu.Unlock()
	if fore, _, _ := procGetForeground.Call(); before != 0 && fore == f.window() {
		_, _, _ = procSetForeground.Call(before)
	}
}

func (f *frame) Raise() {
	_, _, _ = procSetWindowPos.Call(f.window(), hwndTopmost, 0, 0, 0, 0, posNoMove|posNoSize|posNoActivate)
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

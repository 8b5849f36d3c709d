//go:build desktop && !bindings

package app

import "golang.org/x/sys/windows"

// What the window needs of the Windows API and the library does not offer.
var (
	user32 = windows.NewLazySystemDLL("user32.dll")
	gdi32  = windows.NewLazySystemDLL("gdi32.dll")

	procCallWindowProc      = user32.NewProc("CallWindowProcW")
	procCreateRoundRgn      = gdi32.NewProc("CreateRoundRectRgn")
	procEnumDisplayMonitors = user32.NewProc("EnumDisplayMonitors")
	procFindWindow          = user32.NewProc("FindWindowExW")
	procGetDpiForSystem     = user32.NewProc("GetDpiForSystem") // since Windows 10 1607, as the next
	procGetDpiForWindow     = user32.NewProc("GetDpiForWindow")
	procGetForeground       = user32.NewProc("GetForegroundWindow")
	procGetMonitorInfo      = user32.NewProc("GetMonitorInfoW")
	procGetWindowLong       = user32.NewProc("GetWindowLongPtrW")
	procGetWindowRect       = user32.NewProc("GetWindowRect")
	procSetForeground       = user32.NewProc("SetForegroundWindow")
	procSetWindowLong       = user32.NewProc("SetWindowLongPtrW")
	procSetWindowPos        = user32.NewProc("SetWindowPos")
	procSetWindowRgn        = user32.NewProc("SetWindowRgn")
	procThreadProcessID     = user32.NewProc("GetWindowThreadProcessId")
)

const (
	gwlWndProc = ^uintptr(3)  // -4
	gwlExStyle = ^uintptr(19) // -20

	exNoActivate = 0x08000000
	exToolWindow = 0x00000080
	exAppWindow  = 0x00040000

	hwndTopmost     = ^uintptr(0) // -1
	posNoSize       = 0x0001
	posNoMove       = 0x0002
	posNoActivate   = 0x0010
	posFrameChanged = 0x0020

	wmActivate           = 0x0006
	wmSettingChange      = 0x001a
	wmWindowPosChanged   = 0x0047
	wmDisplayChange      = 0x007e
	wmCompositionChanged = 0x031e

	monitorIsPrimary = 1
	plainDPI         = 96
	seesThroughBuild = 22621
)

type winRect struct{ left, top, right, bottom int32 }

// scaled is r in a resolution of n for one of by.
func (r winRect) scaled(n, by int) Rect {
	return Rect{int(r.left), int(r.top), int(r.right - r.left), int(r.bottom - r.top)}.times(n, by)
}

func (r Rect) times(n, by int) Rect {
	return Rect{r.X * n / by, r.Y * n / by, r.W * n / by, r.H * n / by}
}

type monitorInfo struct {
	size          uint32
	monitor, work winRect
	flags         uint32
	device        [32]uint16
}

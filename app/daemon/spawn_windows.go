package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// keptHere are variables without which programs do not run on Windows.
var keptHere = []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"}

// detached gives a service no console and a process group of its own: a
// control key in the client's console does not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

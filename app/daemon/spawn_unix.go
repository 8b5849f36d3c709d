//go:build unix

package daemon

import "syscall"

// keptHere are variables a service needs on this system alone.
var keptHere []string

// detached puts a service into a session of its own: a signal meant for the
// client's terminal or process group does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

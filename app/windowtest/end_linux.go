package windowtest

import "syscall"

// endsWithUs lets a process end with this one, however that ends.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

//go:build !linux

package windowtest

import "syscall"

func endsWithUs() *syscall.SysProcAttr { return nil }

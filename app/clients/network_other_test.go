//go:build unix && !linux

package clients_test

import (
	"errors"
	"os/exec"
)

// isolated would run cmd without a network.
func isolated(*exec.Cmd) error { return errors.New("this system has no network namespaces") }

// loopback is for isolated processes, of which there are none.
func loopback() error { return nil }

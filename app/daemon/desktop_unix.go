//go:build unix && !darwin

package daemon

import (
	"os/exec"
	"path/filepath"
)

func openURL(url string) *exec.Cmd   { return exec.Command("xdg-open", url) }
func openFile(file string) *exec.Cmd { return exec.Command("xdg-open", file) }

// showFile opens the folder: which file is meant, xdg-open has no way to say.
func showFile(path string) *exec.Cmd { return exec.Command("xdg-open", filepath.Dir(path)) }

// reachable tells whether there is a desktop. Without one xdg-open would look
// for a browser that runs in a terminal.
func reachable(env Env) bool {
	_, name := env.First("WAYLAND_DISPLAY", "DISPLAY")
	return name != ""
}

// ignored tells whether an exit code says nothing.
func ignored(string, int) bool { return false }

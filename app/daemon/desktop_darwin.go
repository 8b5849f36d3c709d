package daemon

import "os/exec"

func openURL(url string) *exec.Cmd   { return exec.Command("/usr/bin/open", url) }
func openFile(file string) *exec.Cmd { return exec.Command("/usr/bin/open", file) }
func showFile(path string) *exec.Cmd { return exec.Command("/usr/bin/open", "-R", path) }

// reachable tells whether there is a desktop; open says so itself.
func reachable(Env) bool { return true }

// ignored tells whether an exit code says nothing.
func ignored(string, int) bool { return false }

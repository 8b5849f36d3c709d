package local

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxStream is the greatest length of a stream name in code points: it is a
// workspace in the ledger.
const maxStream = 128

// StreamName returns the name a connection's workspace goes by:
// STEWARD_STREAM, else the older READYROOM_STREAM, else the base name of the
// working folder cwd. It is "" when that folder is a root, the home folder
// home, or a folder of the system, which name no piece of work; the service
// then takes the client's name. Line breaks and control characters become
// spaces, and the name is cut at 128 characters.
func StreamName(env func(string) string, cwd, home string) string {
	for _, key := range [...]string{"STEWARD_STREAM", "READYROOM_STREAM"} {
		if name := cleanName(env(key)); name != "" {
			return name
		}
	}
	if cwd == "" {
		return ""
	}
	cwd = filepath.Clean(cwd)
	if home != "" && samePath(cwd, filepath.Clean(home)) || systemFolder(cwd) {
		return ""
	}
	return cleanName(filepath.Base(cwd))
}

// samePath compares cleaned paths as the usual file system of this OS does.
func samePath(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// systemFolder reports whether a cleaned path is one in which programs start
// when nobody chose a folder for them.
func systemFolder(path string) bool {
	rest := filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	if rest == "" || rest == "/" || rest == "." {
		return true
	}
	if runtime.GOOS == "windows" {
		rest = strings.ToLower(rest)
		for _, tree := range [...]string{"/windows", "/program files", "/program files (x86)", "/programdata"} {
			if rest == tree || strings.HasPrefix(rest, tree+"/") {
				return true
			}
		}
		return rest == "/users" || rest == "/users/public"
	}
	for _, tree := range [...]string{"/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/boot", "/run", "/usr/bin", "/usr/sbin", "/usr/lib", "/System", "/Library", "/Applications"} {
		if samePath(rest, tree) || len(rest) > len(tree) && rest[len(tree)] == '/' && samePath(rest[:len(tree)], tree) {
			return true
		}
	}
	for _, folder := range [...]string{"/home", "/Users", "/root", "/usr", "/usr/local", "/usr/share", "/var", "/var/lib", "/var/tmp", "/tmp", "/private", "/private/tmp", "/private/var", "/opt", "/srv", "/mnt", "/media", "/Volumes"} {
		if samePath(rest, folder) {
			return true
		}
	}
	return false
}

// cleanName makes one line of valid text of at most maxStream characters.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	n := 0
	for i := range s {
		if n == maxStream {
			return strings.TrimSpace(s[:i])
		}
		n++
	}
	return s
}

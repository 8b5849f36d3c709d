//go:build unix && !darwin

package ops

import "io/fs"

// elsewhere tells whether a path leads to another machine by its form.
func elsewhere(string) bool { return false }

// runs tells whether the system would run the file when it is opened: it says so
// of itself, or its name does.
func runs(path string, fi fs.FileInfo) bool {
	return fi.Mode().Perm()&0o111 != 0 || launchers[ending(path)]
}

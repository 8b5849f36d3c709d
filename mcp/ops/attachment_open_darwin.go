package ops

import "io/fs"

// elsewhere tells whether a path leads to another machine by its form.
func elsewhere(string) bool { return false }

// more endings that run something when they are opened on this system.
var macLaunchers = words(`applescript bundle csh dmg iso ksh mobileconfig osax pl plugin profile py pyc qlgenerator rb saver sh tcsh xip zsh`)

// runs tells whether the system would run the file when it is opened: it says so
// of itself, or its name does.
func runs(path string, fi fs.FileInfo) bool {
	e := ending(path)
	return fi.Mode().Perm()&0o111 != 0 || launchers[e] || macLaunchers[e]
}

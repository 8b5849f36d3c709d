package ops

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// elsewhere tells whether a path leads to another machine by its form, or past
// the usual rules of paths. Only to look at one on a file server would send the
// person's credentials there.
func elsewhere(path string) bool {
	return strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, `//`) || len(filepath.VolumeName(path)) != len("C:")
}

// more endings that run something when they are opened on this system, besides
// those of PATHEXT.
var windowsLaunchers = words(`ade adp asp bas chm diagcab diagpkg dll img iso js library-ms mad maf mda mdb mde mht mhtml ocx osd perl
	pl plx py pyc pyo pyw pyz pyzw rb rbw rdp search-ms searchconnector-ms sct sh sys theme themepack vhd vhdx vsmacros vsw vxd ws xll xnk`)

// runs tells whether the system would run the file when it is opened.
func runs(path string, _ fs.FileInfo) bool {
	name := filepath.Base(path)
	// The system passes over dots and spaces at the end; a colon names a stream
	// inside a file.
	if strings.TrimRight(name, ". ") != name || strings.Contains(name, ":") {
		return true
	}
	e := ending(name)
	if launchers[e] || windowsLaunchers[e] {
		return true
	}
	for x := range strings.SplitSeq(os.Getenv("PATHEXT"), ";") {
		if x = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(x)), "."); x != "" && x == e {
			return true
		}
	}
	return false
}

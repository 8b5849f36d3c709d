package daemon

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// addressTaken is what the system says when another program listens there.
const addressTaken = windows.WSAEADDRINUSE

// own tells whether a file belongs to this user. Who may put a file into the
// state folder is that folder's list of rights to say.
func own(fs.FileInfo) bool { return true }

// FreeSpace is how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, &os.PathError{Op: "disk space", Path: folder, Err: err}
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "disk space", Path: folder, Err: err}
	}
	return free, nil
}

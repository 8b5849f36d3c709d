//go:build unix

package daemon

import (
	"io/fs"
	"os"
	"syscall"
)

// addressTaken is what the system says when another program listens there.
const addressTaken = syscall.EADDRINUSE

// own tells whether a file belongs to this user.
func own(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// FreeSpace is how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	return st.Bavail * uint64(st.Bsize), nil
}

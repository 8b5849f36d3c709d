package daemon

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// downloads is the folder that the person may have moved elsewhere.
func downloads(env Env) string {
	if folder, err := windows.KnownFolderPath(windows.FOLDERID_Downloads, windows.KF_FLAG_DEFAULT); err == nil {
		return folder
	}
	return filepath.Join(env["USERPROFILE"], "Downloads")
}

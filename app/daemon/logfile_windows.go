package daemon

import (
	"os"

	"golang.org/x/sys/windows"

	"steward/ledger"
)

// openAppend opens a log file so that it can be renamed while others have it
// open, which os.OpenFile does not allow. Without the right to write anywhere
// else the system appends each write in one piece.
func openAppend(path string) (*os.File, error) {
	if err := ledger.CheckPlain(path); err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, windows.FILE_APPEND_DATA|windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

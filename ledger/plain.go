package ledger

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OpenPlain opens a plain file as os.OpenFile does, links followed, and nothing
// else: a named pipe would keep whoever opens it waiting for its other end, and a
// device may do anything. It never waits. The error for those wraps ErrNotPlain.
func OpenPlain(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := CheckPlain(path); err != nil {
		return nil, err
	}
	f, err := openNow(path, flag, perm)
	if err != nil {
		if odd := CheckPlain(path); odd != nil { // it came in between
			err = odd
		}
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = regular(path, fi)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadPlain reads a whole plain file of at most that many bytes. Errors are those
// of OpenPlain.
func ReadPlain(path string, most int64) ([]byte, error) {
	f, err := OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("at most %d bytes; got more", most)}
	}
	return b, err
}

// CheckPlain returns an error that wraps ErrNotPlain if something stands at path
// that is no plain file. Nothing there is fine.
func CheckPlain(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return nil // whoever opens it finds that too
	}
	return regular(path, fi)
}

// checkAll is CheckPlain for a ledger file and what SQLite keeps beside it.
func checkAll(path string) error {
	for _, suffix := range besideSuffixes {
		if err := CheckPlain(path + suffix); err != nil {
			return err
		}
	}
	return CheckPlain(path)
}

// besideSuffixes are what SQLite adds to a file's name for those beside it.
var besideSuffixes = [...]string{"-wal", "-shm", "-journal"}

func regular(path string, fi fs.FileInfo) error {
	if fi.Mode().IsRegular() {
		return nil
	}
	what := "something else"
	switch m := fi.Mode(); {
	case m.IsDir():
		what = "a folder"
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s, %w", what, ErrNotPlain)}
}

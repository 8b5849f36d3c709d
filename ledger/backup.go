package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a whole and consistent copy of the ledger to a new file while
// the ledger is in use. The copy appears under its name only when it is on
// disk and its end has been checked. Errors: *FieldError when to exists or is no
// name that the system can write,
// fs.ErrNotExist when its folder does not, ErrFull, ErrReadOnly, ErrCorrupt.
func (l *Log) Backup(ctx context.Context, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	temp := to + ".part"
	for _, name := range [...]string{to, temp + ".part-journal"} { // the longest name on the way
		switch _, err := os.Lstat(name); {
		case err == nil && name == to:
			return &FieldError{Field: "file", Rule: "a name that does not exist yet", Got: Clip(to, 200)}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return &FieldError{Field: "file", Rule: "a name that this system can write, 18 bytes longer as well", Got: fmt.Sprintf("%s: %v", Clip(to, 200), nameless(err))}
		}
	}
	if _, err := os.Stat(filepath.Dir(to)); err != nil {
		return err
	}
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return ErrClosed
	}
	c, err := connect(l.path, "ro")
	if err != nil {
		return err
	}
	defer c.close()
	if err := copyTo(ctx, c, temp); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	err = checkCopy(temp)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("backup: %w", err)
	}
	return syncDir(filepath.Dir(to))
}

// nameless is what the system said, without the name that it was said of.
func nameless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// checkCopy looks at the end of a copied ledger.
func checkCopy(path string) error {
	c, err := connect(path, "ro", "query_only = 1")
	if err != nil {
		return err
	}
	defer c.close()
	one := make(chan *conn, 1)
	one <- c
	return checkTail(one, 256)
}

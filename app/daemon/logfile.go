package daemon

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"steward/ledger"
)

const (
	logFiles = 5        // steward.log and four older ones
	logSize  = 10 << 20 // bytes after which a file is set aside
)

// LogFile appends to a file that several processes share and that is set
// aside when it is full: NAME, NAME.1 … NAME.4. It opens the file at the first
// write, so that a process with nothing to say touches no disk.
type LogFile struct {
	path string
	size int64 // bytes a file may hold

	mu   sync.Mutex
	file *os.File
}

// NewLogFile writes to path, whose folder is made when needed.
func NewLogFile(path string) *LogFile { return &LogFile{path: path, size: logSize} }

// Write appends p, which holds whole lines, in one piece.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.current(); err != nil {
		return 0, err
	}
	if fi, err := l.file.Stat(); err == nil && fi.Size() > 0 && fi.Size()+int64(len(p)) > l.size {
		if err := l.setAside(); err != nil {
			return 0, err
		}
	}
	return l.file.Write(p)
}

// Open returns the file for another process to write to, as its standard
// output. The caller closes it.
func (l *LogFile) Open() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, err
	}
	return openAppend(l.path)
}

// Close closes the file; a later write opens it again.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

// current makes sure that the open file is the one at the path: another
// process may have set it aside.
func (l *LogFile) current() error {
	if l.file != nil {
		mine, err := l.file.Stat()
		there, err2 := os.Stat(l.path)
		if err == nil && err2 == nil && os.SameFile(mine, there) {
			return nil
		}
		_ = l.file.Close() // whatever it says, the next one is opened
		l.file = nil
	}
	f, err := l.Open()
	l.file = f
	return err
}

// setAside renames the files, one process at a time. When another one is at
// it, this one goes on with the file it has: a few lines over the size do no
// harm, waiting would.
func (l *LogFile) setAside() error {
	lock, err := ledger.Lock(l.path, "")
	if errors.Is(err, ledger.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the lock goes with the process at the latest
	if fi, err := os.Stat(l.path); err == nil && fi.Size() >= l.size/2 {
		for i := logFiles - 1; i > 0; i-- {
			from := l.path
			if i > 1 {
				from += "." + strconv.Itoa(i-1)
			}
			// A gap in the row, or a file someone holds on to, is no reason to stop logging.
			_ = os.Rename(from, l.path+"."+strconv.Itoa(i))
		}
	}
	return l.current()
}

// NewLogger writes records at or above level to file as text, and to w, if it
// is not nil, as text or, with json, one JSON object a line. One that cannot be
// written does not keep the other from getting its records.
func NewLogger(level slog.Leveler, file, w io.Writer, json bool) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			a.Value = slog.StringValue(ledger.At(a.Value.Time()).String())
		}
		return a
	}}
	handlers := []slog.Handler{slog.NewTextHandler(file, o)}
	switch {
	case w != nil && json:
		handlers = append(handlers, slog.NewJSONHandler(w, o))
	case w != nil:
		handlers = append(handlers, slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewMultiHandler(handlers...)).With("process", os.Getpid())
}

// took is how long ago t was, in whole milliseconds, for a log line.
func took(t time.Time) string { return time.Since(t).Round(time.Millisecond).String() }

// Package ledger keeps what happened: an append-only log of events in one
// SQLite file, written by one goroutine of one process.
//
// An update that returned without an error is on disk. The order of events is
// their id; the time is the wall clock and may go backwards. Small tables beside
// the events (who is moving, which failures stand, counts) are kept in the same
// commit, so that a report reads a bounded number of rows however long the
// ledger is.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Options say where the ledger is and how it is written.
type Options struct {
	Path      string           // the ledger file; its folder must exist
	BackupDir string           // where a copy goes before a migration; default: backups beside the file
	Now       func() time.Time // the wall clock; default time.Now
	Logger    *slog.Logger     // default: none
	MaxBatch  int              // most updates in one commit, 1 to 256; default 256. 1 is for measuring
}

const maxBatch = 256

// Log is the open ledger. Its methods are safe for use by many goroutines.
type Log struct {
	path    string
	orphan  string
	now     func() time.Time
	logger  *slog.Logger
	batch   int
	w       *writer
	readers chan *conn
	all     []*conn
	tail    *tail

	gate    sync.RWMutex // held for reading while an update enters the queue
	closed  bool
	queue   chan *update
	stopped chan struct{} // closed when the writer has ended

	file os.FileInfo   // the file as it was opened
	gone chan struct{} // closed when that is no longer the file at path
	once sync.Once     // closes gone

	change  sync.Mutex
	changed chan struct{}
}

// Open opens the ledger file, making or migrating it if need be. The caller
// holds the Lock of the same path for as long as the Log is open. Errors:
// ErrNewer, ErrForeign, ErrCorrupt, ErrReadOnly, ErrFull, *FieldError.
func Open(ctx context.Context, o Options) (*Log, error) {
	if o.Path == "" {
		return nil, &FieldError{Field: "path", Rule: "required", Got: "nothing"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.MaxBatch == 0 {
		o.MaxBatch = maxBatch
	}
	if o.MaxBatch < 1 || o.MaxBatch > maxBatch {
		return nil, &FieldError{Field: "max_batch", Rule: "1 to 256", Got: fmt.Sprint(o.MaxBatch)}
	}
	path, err := RealPath(o.Path)
	if err != nil {
		return nil, err
	}
	if o.BackupDir == "" {
		o.BackupDir = filepath.Join(filepath.Dir(path), "backups")
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && names(fi) > 1 {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), ErrLinked)
	}
	orphan, err := prepareFile(ctx, path, o.BackupDir, ladder, o.Logger)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	l := &Log{
		path: path, orphan: orphan, now: o.Now, logger: o.Logger, batch: o.MaxBatch,
		queue: make(chan *update, 4*maxBatch), stopped: make(chan struct{}),
		tail: newTail(), gone: make(chan struct{}),
	}
	if err := l.start(); err != nil {
		l.closeConns()
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	return l, nil
}

func (l *Log) start() error {
	c, err := connect(l.path, "rw", "journal_mode = WAL", "synchronous = FULL", "journal_size_limit = 67108864", "temp_store = MEMORY", "cache_size = -8192")
	if err != nil {
		return err
	}
	l.all = append(l.all, c)
	if l.file, err = os.Stat(l.path); err != nil {
		return err
	}
	if l.w, err = newWriter(c, l); err != nil {
		return err
	}
	// More readers than cores less one starve the commit.
	n := max(1, runtime.GOMAXPROCS(0)-1)
	l.readers = make(chan *conn, n)
	for range n {
		r, err := connect(l.path, "rw", "query_only = 1", "cache_size = -4096")
		if err != nil {
			return err
		}
		r.names = map[int64]string{}
		l.all = append(l.all, r)
		l.readers <- r
	}
	if err := checkTail(l.readers, 256); err != nil {
		return err
	}
	go l.write()
	return nil
}

// Close ends the log after the updates that were already accepted. Later calls
// return ErrClosed.
func (l *Log) Close() error {
	l.gate.Lock()
	if l.closed {
		l.gate.Unlock()
		<-l.stopped
		return nil
	}
	l.closed = true
	close(l.queue)
	l.gate.Unlock()
	<-l.stopped
	for range cap(l.readers) { // wait for the views that are still open
		<-l.readers
	}
	// Fold the WAL into the file, so that a copy of the one file is whole.
	_, err := l.w.exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	l.wake()
	return errors.Join(classify(err), l.closeConns())
}

func (l *Log) closeConns() error {
	errs := []error{l.tail.close()}
	for _, c := range l.all {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// Gone returns a channel that is closed when a write finds that the file was
// moved, deleted or replaced under the open ledger. From then on every update
// gets ErrMoved: what went into the old file would be lost. Close and open again.
func (l *Log) Gone() <-chan struct{} { return l.gone }

// InPlace returns ErrMoved when the path no longer leads to the file that was
// opened. Every write asks; a reader may.
func (l *Log) InPlace() error {
	select {
	case <-l.gone:
		return ErrMoved
	default:
	}
	now, err := os.Stat(l.path)
	if err == nil && os.SameFile(l.file, now) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // out of reach for now, which says nothing about the file
	}
	l.once.Do(func() { close(l.gone) })
	return ErrMoved
}

// Path returns the ledger file's real path.
func (l *Log) Path() string { return l.path }

// Orphan is where Open put a write-ahead log that it found without its ledger
// file, before it began a new one; "" when there was none. What the lost file held
// cannot be read from it alone.
func (l *Log) Orphan() string { return l.orphan }

// View runs fn on one snapshot of the ledger. The View must not outlive fn, and
// fn must not wait for a client or for an Update: an open snapshot keeps the
// write-ahead log from shrinking.
func (l *Log) View(ctx context.Context, fn func(*View) error) (err error) {
	l.gate.RLock()
	closed := l.closed
	l.gate.RUnlock()
	if closed {
		return ErrClosed
	}
	var c *conn
	select {
	case c = <-l.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.stopped:
		return ErrClosed
	}
	defer func() { l.readers <- c }()
	if _, err := c.exec(`BEGIN`); err != nil {
		return classify(err)
	}
	defer func() {
		if _, e := c.exec(`ROLLBACK`); e != nil && err == nil {
			err = classify(e)
		}
	}()
	return classify(fn(&View{conn: c, now: At(l.now()), tail: l.tail}))
}

// Changed returns a channel that is closed at the next commit. Take it before
// looking, look, then wait on it: nothing is missed.
func (l *Log) Changed() <-chan struct{} {
	l.change.Lock()
	defer l.change.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

func (l *Log) wake() {
	l.change.Lock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	l.change.Unlock()
}

package ledger

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// applicationID marks a file as Steward's: 'STWR'.
const applicationID = 0x53545752

// SchemaVersion is the newest schema this build knows.
const SchemaVersion = 3

//go:embed schema/*.sql
var schemaFiles embed.FS

// ladder holds the migrations: step i leads from version i to version i+1. A
// step that was released never changes.
var ladder = mustLadder()

func mustLadder() []string {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil || len(names) != SchemaVersion {
		panic(fmt.Sprintf("ledger: %d schema files for version %d", len(names), SchemaVersion))
	}
	out := make([]string, len(names))
	for i, n := range names {
		b, err := schemaFiles.ReadFile(n)
		if err != nil {
			panic(err)
		}
		out[i] = string(b)
	}
	return out
}

// besides names what a step does beyond its SQL, by the version it leads to. It
// reads the old schema, and what it returns runs after the SQL; all of it is one
// transaction.
var besides = map[int]func(*conn) (func() error, error){2: keysFromEvents}

// prepareFile makes the file, or brings it to the newest schema. A file that is
// not Steward's or is newer is left as it is. orphan is where the write-ahead log
// of a lost file is kept; "" when there was none.
func prepareFile(ctx context.Context, path, backups string, ladder []string, log *slog.Logger) (orphan string, err error) {
	version, err := inspect(path, len(ladder))
	if errors.Is(err, fs.ErrNotExist) {
		if orphan, err = setOrphanAside(path); err != nil {
			return "", err
		}
		return orphan, create(ctx, path, ladder)
	}
	if err != nil {
		return "", err
	}
	return "", migrate(ctx, path, backups, version, ladder, log)
}

// migrate brings a file that is Steward's to the newest schema.
func migrate(ctx context.Context, path, backups string, version int, ladder []string, log *slog.Logger) error {
	if err := dropStaleLog(path); err != nil {
		return err
	}
	c, err := connect(path, "rw", "synchronous = FULL")
	if err != nil {
		return err
	}
	defer c.close()
	// The header may be older than the write-ahead log; this reads both.
	if err := c.queryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return classify(err)
	}
	if version > len(ladder) {
		return newer(version, len(ladder))
	}
	if version == len(ladder) {
		return nil
	}
	for ; version < len(ladder); version++ {
		to, err := backupBefore(c, path, backups, version)
		if err != nil {
			return fmt.Errorf("backup before the migration from %d to %d: %w", version, version+1, err)
		}
		if err := c.step(ladder[version], version+1); err != nil {
			return fmt.Errorf("migrate from %d to %d: %w", version, version+1, err)
		}
		log.Info("ledger migrated", "from", version, "to", version+1, "backup", filepath.Base(to))
	}
	// An older Steward looks at the header of the file alone before it opens it.
	_, err = c.exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	return classify(err)
}

// walHeader is the length of a write-ahead log that holds nothing yet, in bytes
// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
const walHeader = 32

// orphanMark stands between the name of a ledger's write-ahead log and the time at
// which it was found without its ledger.
const (
	orphanMark = ".lost-"
	orphanTime = "20060102T150405Z"
)

// Orphan is a write-ahead log that Open found beside no ledger file, and kept.
type Orphan struct {
	File string    `json:"file"`
	At   time.Time `json:"at"` // when it was found, to the second
}

// setOrphanAside renames a write-ahead log that lies beside no ledger file: what
// was written last is in it, and a new ledger would take its name.
func setOrphanAside(path string) (string, error) {
	wal := path + "-wal"
	switch fi, err := os.Lstat(wal); {
	case errors.Is(err, fs.ErrNotExist), err == nil && fi.Size() <= walHeader:
		return "", nil
	case err != nil:
		return "", notWritable(err)
	}
	base := wal + orphanMark + time.Now().UTC().Format(orphanTime)
	to := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s-%d", base, i)
	}
	if err := os.Rename(wal, to); err != nil {
		return "", notWritable(err)
	}
	return to, nil
}

// Orphans lists what Open found of lost ledgers at path, the oldest first.
func Orphans(path string) ([]Orphan, error) {
	path, err := RealPath(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []Orphan
	for _, e := range entries { // sorted by name, which ends in the time
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+"-wal"+orphanMark)
		stamp, _, _ := strings.Cut(rest, "-")
		if at, err := time.Parse(orphanTime, stamp); ok && err == nil {
			found = append(found, Orphan{File: filepath.Join(filepath.Dir(path), e.Name()), At: at})
		}
	}
	return found, nil
}

// dropStaleLog removes a write-ahead log that lies beside a file which has none
// by its own header, as a copy put back in place of a ledger has: SQLite would
// replay the old one into it.
func dropStaleLog(path string) error {
	if yes, err := keepsLog(path); err != nil || yes {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notWritable(err)
		}
	}
	return nil
}

// keepsLog tells whether the file's header says that it is written through a
// write-ahead log.
func keepsLog(path string) (bool, error) {
	f, err := OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var h [20]byte
	if _, err := io.ReadFull(f, h[:]); err != nil {
		return false, err
	}
	return h[18] == 2, nil
}

func newer(version, known int) error {
	return fmt.Errorf("%w: its schema is %d, this one knows %d", ErrNewer, version, known)
}

// inspect reads the file's header without SQLite, so that a file that is not
// ours is never opened for writing. It returns the schema version, or
// fs.ErrNotExist for a missing or empty file, and ErrNotPlain when it, or one of
// those beside it that SQLite would open, is no file.
func inspect(path string, known int) (int, error) {
	if err := checkAll(path); err != nil {
		return 0, err
	}
	f, err := OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return 0, fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
		return 0, err
	}
	defer f.Close()
	var h [100]byte
	n, err := io.ReadFull(f, h[:])
	switch {
	case errors.Is(err, io.EOF):
		return 0, emptyFile{}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("%w: the file has %d bytes, which is no database", ErrCorrupt, n)
	case err != nil:
		return 0, err
	}
	if string(h[:16]) != "SQLite format 3\x00" {
		return 0, fmt.Errorf("%w: the file is no SQLite database", ErrCorrupt)
	}
	if id := binary.BigEndian.Uint32(h[68:]); id != applicationID {
		return 0, fmt.Errorf("%w: its application id is %#x", ErrForeign, id)
	}
	version := int(binary.BigEndian.Uint32(h[60:]))
	if version > known {
		return 0, newer(version, known)
	}
	return version, nil
}

// emptyFile is the error for a file without a byte in it: as good as none.
type emptyFile struct{}

func (emptyFile) Error() string        { return "the file is empty" }
func (emptyFile) Is(target error) bool { return target == fs.ErrNotExist }

// create makes the file beside its place and moves it there whole, so that a
// crash leaves either no ledger or a good one.
func create(ctx context.Context, path string, ladder []string) error {
	temp := path + ".new"
	// What an earlier ledger or a crash left here would be taken for this one's.
	for _, p := range []string{temp, temp + "-journal", temp + "-wal", temp + "-shm", path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return notWritable(err)
	}
	f.Close()
	err = func() error {
		c, err := connect(temp, "rw", "synchronous = FULL", "page_size = 4096")
		if err != nil {
			return err
		}
		defer c.close()
		for i, s := range ladder {
			if err := c.step(s, i+1); err != nil {
				return fmt.Errorf("schema %d: %w", i+1, err)
			}
		}
		if _, err := c.exec(`PRAGMA journal_mode = WAL`); err != nil {
			return classify(err)
		}
		return ctx.Err()
	}()
	if err != nil {
		os.Remove(temp)
		return err
	}
	if err := syncFile(temp); err != nil {
		return notWritable(err)
	}
	if err := os.Rename(temp, path); err != nil {
		return notWritable(err)
	}
	return syncDir(filepath.Dir(path))
}

func notWritable(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// step runs one migration and its version number in one transaction.
func (k *conn) step(script string, version int) error {
	ctx := context.Background()
	if _, err := k.c.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return classify(err)
	}
	fill := func() error { return nil }
	var err error
	if read := besides[version]; read != nil {
		fill, err = read(k)
	}
	if err == nil {
		_, err = k.c.ExecContext(ctx, script)
	}
	if err == nil {
		err = fill()
	}
	if err == nil {
		_, err = k.c.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version))
	}
	if err == nil {
		_, err = k.c.ExecContext(ctx, `COMMIT`)
	}
	if err != nil {
		k.c.ExecContext(ctx, `ROLLBACK`)
		return classify(err)
	}
	return nil
}

// backupBefore copies the ledger aside before a migration. The name is not the
// clock's alone: a second one in the same second gets its own file.
func backupBefore(c *conn, path, dir string, version int) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", notWritable(err)
	}
	base := filepath.Join(dir, fmt.Sprintf("before-schema-%d-%s", version+1, time.Now().UTC().Format("20060102T150405Z")))
	to := base + ".db"
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s-%d.db", base, i)
	}
	return to, copyTo(context.Background(), c, to)
}

// copyTo writes a consistent copy of the connection's file to a new file. It
// appears under its name only when it is whole and on disk.
func copyTo(ctx context.Context, c *conn, to string) error {
	temp := to + ".part"
	os.Remove(temp)
	// SQLite takes an empty file for a new one, and keeps its mode.
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return notWritable(err)
	}
	f.Close()
	// This connection only copies, so here a cancelled statement does no harm.
	if _, err := c.c.ExecContext(ctx, `VACUUM INTO ?`, temp); err != nil {
		os.Remove(temp)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return classify(err)
	}
	if err := syncFile(temp); err != nil {
		return notWritable(err)
	}
	if err := os.Rename(temp, to); err != nil {
		return notWritable(err)
	}
	return syncDir(filepath.Dir(to))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

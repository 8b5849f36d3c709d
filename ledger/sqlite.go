package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// statementsKept bounds a connection's cache of prepared statements. The
// product has far fewer texts; the bound is for a caller who builds them.
const statementsKept = 256

// namesKept bounds the caches between names and their ids.
const namesKept = 8192

// conn is one SQLite connection with its prepared statements. It is used by one
// goroutine at a time. Statements always run with context.Background: a
// cancelled statement would roll the whole transaction back in silence.
type conn struct {
	db    *sql.DB
	c     *sql.Conn
	stmts map[string]*sql.Stmt   // of queries
	execs map[string]driver.Stmt // of everything else; used inside Raw only
	args  []driver.NamedValue    // reused
	names map[int64]string       // nil on the writer, whose names may be rolled back
	ran   int                    // statements run so far
}

// dsn returns the URI form, which alone carries any file name.
func dsn(path, mode string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: p, RawQuery: "mode=" + mode}
	return u.String()
}

// ownLocks makes SQLite's locks belong to the open file instead of the process,
// where the system can (Linux): then no other descriptor of the ledger, opened by
// whatever code of this process, takes them away when it is closed. Elsewhere the
// locks are POSIX's, and this package opens no ledger beside its own connections.
// It fails where a database was opened before; that program keeps what it had.
var ownLocks = sync.OnceFunc(func() { sqlite.OFDLocking(true) }) //nolint:errcheck // see above

// connect opens one connection; mode is SQLite's: ro, rw or memory.
func connect(path, mode string, pragmas ...string) (*conn, error) {
	ownLocks()
	db, err := sql.Open("sqlite", dsn(path, mode))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		db.Close()
		return nil, classify(err)
	}
	k := &conn{db: db, c: c, stmts: map[string]*sql.Stmt{}, execs: map[string]driver.Stmt{}}
	for _, p := range append([]string{"busy_timeout = 5000", "trusted_schema = OFF"}, pragmas...) {
		if _, err := c.ExecContext(context.Background(), "PRAGMA "+p); err != nil {
			k.close()
			return nil, classify(err)
		}
	}
	return k, nil
}

// connectRead opens a file that another process may be writing, to read only.
// In a folder that cannot be written SQLite cannot make the index of the
// write-ahead log that every reader needs; when there is no such log the file
// alone is the whole ledger, and is read as one that does not change.
func connectRead(path string) (*conn, error) {
	if yes, err := keepsLog(path); err != nil || !yes {
		if err != nil {
			return nil, err
		}
		return connect(path, "ro&immutable=1", "query_only = 1") // a log beside it is another file's
	}
	c, err := connect(path, "ro", "query_only = 1")
	if err == nil {
		var version int
		if err = classify(c.queryRow(`PRAGMA user_version`).Scan(&version)); err == nil {
			return c, nil
		}
		c.close()
	}
	if !errors.Is(err, ErrReadOnly) {
		return nil, err
	}
	if s, e := os.Stat(path + "-wal"); e == nil && s.Size() > 0 {
		return nil, err
	}
	return connect(path, "ro&immutable=1", "query_only = 1")
}

func (k *conn) close() error {
	for _, s := range k.stmts {
		s.Close()
	}
	k.c.Raw(func(any) error {
		for _, s := range k.execs {
			s.Close()
		}
		return nil
	})
	err := k.c.Close()
	return errors.Join(err, k.db.Close())
}

func (k *conn) prepare(query string) (*sql.Stmt, error) {
	k.ran++
	if s := k.stmts[query]; s != nil {
		return s, nil
	}
	s, err := k.c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	if len(k.stmts) >= statementsKept {
		for q, old := range k.stmts { // any one: an overflow is a caller's mistake, not a workload
			old.Close()
			delete(k.stmts, q)
			break
		}
	}
	k.stmts[query] = s
	return s, nil
}

// exec runs a statement that returns no rows. It goes past database/sql, whose
// bookkeeping for a pool costs a tenth of the writer's time, to the driver.
func (k *conn) exec(query string, args ...any) (res sql.Result, err error) {
	k.ran++
	if e := k.c.Raw(func(c any) error {
		res, err = k.execRaw(c, query, args)
		return nil
	}); e != nil {
		return nil, e
	}
	return res, err
}

func (k *conn) execRaw(c any, query string, args []any) (driver.Result, error) {
	ctx := context.Background()
	s := k.execs[query]
	if s == nil {
		var err error
		if s, err = c.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		if len(k.execs) >= statementsKept {
			for q, old := range k.execs {
				old.Close()
				delete(k.execs, q)
				break
			}
		}
		k.execs[query] = s
	}
	k.args = k.args[:0]
	for i, a := range args {
		switch a.(type) {
		case nil, int64, string, []byte:
		default:
			var err error
			if a, err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return nil, err
			}
		}
		k.args = append(k.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	res, err := s.(driver.StmtExecContext).ExecContext(ctx, k.args)
	clear(k.args)
	return res, err
}

func (k *conn) query(query string, args ...any) (*sql.Rows, error) {
	s, err := k.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

func (k *conn) queryRow(query string, args ...any) *sql.Row {
	s, err := k.prepare(query)
	if err != nil { // let Scan report it: an unprepared query fails the same way
		return k.c.QueryRowContext(context.Background(), query, args...)
	}
	return s.QueryRowContext(context.Background(), args...)
}

// name returns the text of a name's id, "" for none.
func (k *conn) name(id int64) (string, error) {
	if id == 0 {
		return "", nil
	}
	if s, ok := k.names[id]; ok {
		return s, nil
	}
	var s string
	if err := k.queryRow(`SELECT name FROM names WHERE id = ?`, id).Scan(&s); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return "", fmt.Errorf("%w: name %d is missing", ErrCorrupt, id)
		}
		return "", err
	}
	if k.names != nil {
		if len(k.names) >= namesKept {
			clear(k.names)
		}
		k.names[id] = s
	}
	return s, nil
}

// nameID returns the id of a text, 0 when no event ever used it.
func (k *conn) nameID(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	var id int64
	err := k.queryRow(`SELECT id FROM names WHERE name = ?`, s).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// classify adds the sentinel that fits an error of SQLite.
func classify(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	var as error
	switch e.Code() & 0xff {
	case lib.SQLITE_FULL:
		as = ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		as = ErrReadOnly
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		as = ErrCorrupt
	case lib.SQLITE_IOERR, lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_NOMEM, lib.SQLITE_PROTOCOL, lib.SQLITE_INTERRUPT:
		as = ErrUnavailable
	default:
		return err
	}
	if errors.Is(err, as) {
		return err
	}
	return fmt.Errorf("%w: %w", as, err)
}

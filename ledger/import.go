package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Imported is what an import did.
type Imported struct {
	Source   string `json:"source"`
	Events   int64  `json:"events"`            // taken over now
	Others   int64  `json:"others"`            // rows of other tables taken over now
	Already  int64  `json:"already"`           // rows that an earlier run had taken over
	Skipped  int64  `json:"skipped,omitempty"` // rows without an actor or a type
	Clipped  int64  `json:"clipped,omitempty"` // rows of which a text was longer than the limit
	LastID   int64  `json:"last_event_id"`
	Unmapped string `json:"unmapped,omitempty"` // columns that have no place here
}

// Row is one row of an older ledger, by lower-case column name, nulls left out.
type Row map[string]any

// Follow takes over a row of a table beside events and says which event tells
// of it.
type Follow func(tx *Tx, r Row) (eventID int64, err error)

// columnsOf lists, for each field, the column names that have stood for it.
var columnsOf = map[string][]string{
	"id":         {"id", "event_id", "seq"},
	"at":         {"at", "ts", "timestamp", "time", "created_at", "recorded_at", "created"},
	"actor":      {"actor", "actor_id", "agent"},
	"type":       {"type", "event_type", "kind"},
	"object":     {"object_id", "object"},
	"objectType": {"object_type"},
	"workspace":  {"workspace", "workspace_id"},
	"outcome":    {"outcome", "summary", "result"},
	"file":       {"file", "file_path", "path"},
	"metrics":    {"metrics", "metrics_json"},
	"session":    {"session_id", "session"},
	"injectable": {"injectable"}, // known, but an imported event is never a key event
}

// IsOlder tells whether path is an older ledger: an SQLite file that is not
// Steward's own, with a table events that has an actor and a type. It writes
// nothing beside the file.
func IsOlder(path string) (bool, error) {
	_, err := inspect(path, len(ladder))
	if !errors.Is(err, ErrForeign) {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewer) {
			err = nil
		}
		return false, err
	}
	// Without a write-ahead log the file alone is all there is, and reading it as
	// one that does not change leaves nothing beside it. With one, a copy is read.
	var c *conn
	done := func() {}
	if _, e := os.Stat(path + "-wal"); errors.Is(e, fs.ErrNotExist) {
		if c, err = connect(path, "ro&immutable=1", "query_only = 1"); err == nil {
			done = func() { c.close() }
		}
	} else {
		c, done, err = openCopy(context.Background(), path)
	}
	if err != nil {
		return false, err
	}
	defer done()
	cols, err := c.columns("events")
	if err != nil {
		return false, err
	}
	m := mapColumns(cols)
	return m["actor"] != "" && m["type"] != "", nil
}

// openCopy opens a private copy of a file and its write-ahead log: opening the
// original could change it, or files beside it.
func openCopy(ctx context.Context, path string) (*conn, func(), error) {
	dir, err := os.MkdirTemp("", "steward-import-")
	if err != nil {
		return nil, nil, err
	}
	done := func() { os.RemoveAll(dir) }
	to := filepath.Join(dir, "older.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(ctx, path+suffix, to+suffix); err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			done()
			return nil, nil, err
		}
	}
	c, err := connect(to, "rw")
	if err != nil {
		done()
		return nil, nil, err
	}
	return c, func() { c.close(); done() }, nil
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := OpenPlain(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &until{ctx, in})
	return errors.Join(err, out.Close())
}

// until reads until ctx ends.
type until struct {
	ctx context.Context
	io.Reader
}

func (u *until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// columns returns the columns of a table, none for what is no table: a view can
// compute rows without an end, and a virtual table can be anything.
func (k *conn) columns(table string) ([]string, error) {
	var out []string
	rows, err := k.query(`SELECT lower(name) FROM pragma_table_info(?1) WHERE EXISTS(SELECT 1 FROM sqlite_schema
		WHERE type = 'table' AND name = ?1 COLLATE NOCASE AND sql NOT LIKE 'CREATE VIRTUAL%')`, table)
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, classify(err)
		}
		out = append(out, s)
	}
	return out, classify(rows.Err())
}

func mapColumns(cols []string) map[string]string {
	m := map[string]string{}
	for f, names := range columnsOf {
		for _, n := range names {
			if slices.Contains(cols, n) {
				m[f] = n
				break
			}
		}
	}
	return m
}

// importBatch is how many rows go into one commit.
const importBatch = 500

// Import takes over the events of an older ledger, and the rows of the tables
// that others names, each exactly once however often it runs, from whichever
// copy of the file. The source is not changed. A damaged source is refused as a
// whole before anything is taken. When ctx ends, so does the import; what was taken
// stays, and another run takes the rest. Imported events are never key events, failures
// or activity. Errors: ErrInvalid, ErrCorrupt, ErrForeign for a file without
// such a table.
func (l *Log) Import(ctx context.Context, path string, others map[string]Follow) (Imported, error) {
	r := Imported{Source: path}
	ours := &FieldError{Field: "file", Rule: "an older ledger", Got: "a ledger of this Steward; steward restore puts one in place"}
	if fi, err := os.Stat(path); err == nil && os.SameFile(fi, l.file) { // our own is not to be opened beside SQLite, see Verify
		return r, ours
	}
	if _, err := inspect(path, len(ladder)); err == nil || errors.Is(err, ErrNewer) {
		return r, ours
	} else if !errors.Is(err, ErrForeign) {
		return r, err
	}
	c, done, err := openCopy(ctx, path)
	if err != nil {
		return r, err
	}
	defer done()
	var health string
	if err := c.c.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&health); err != nil {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		return r, fmt.Errorf("%w: %s: %w", ErrCorrupt, filepath.Base(path), err)
	}
	if health != "ok" {
		return r, fmt.Errorf("%w: %s: %s", ErrCorrupt, filepath.Base(path), health)
	}
	cols, err := c.columns("events")
	if err != nil {
		return r, err
	}
	m := mapColumns(cols)
	if m["actor"] == "" || m["type"] == "" {
		return r, fmt.Errorf("%w: %s has no table events with an actor and a type", ErrForeign, filepath.Base(path))
	}
	var unmapped []string
	for _, col := range cols {
		if !slices.Contains(slices.Collect(maps.Values(m)), col) {
			unmapped = append(unmapped, col)
		}
	}
	r.Unmapped = strings.Join(unmapped, ", ")
	order := "rowid"
	if m["id"] != "" {
		order = `"` + m["id"] + `"`
	}
	if err := l.take(ctx, c, "events", order, &r, &r.Events, func(tx *Tx, row Row) (int64, error) {
		e, clipped, ok := row.event(m)
		if !ok {
			r.Skipped++
			return 0, nil
		}
		if clipped {
			r.Clipped++
		}
		e, err := tx.Append(e)
		return e.ID, err
	}); err != nil {
		return r, err
	}
	for _, table := range slices.Sorted(maps.Keys(others)) {
		if cols, err := c.columns(table); err != nil || len(cols) == 0 {
			if err != nil {
				return r, err
			}
			continue
		}
		if err := l.take(ctx, c, table, "rowid", &r, &r.Others, others[table]); err != nil {
			return r, fmt.Errorf("table %s: %w", table, err)
		}
	}
	err = l.View(ctx, func(v *View) error {
		h, err := v.Head()
		r.LastID = h.LastID
		return err
	})
	return r, err
}

// take reads a table of the older ledger and takes over its rows in commits of
// some hundred.
func (l *Log) take(ctx context.Context, c *conn, table, order string, r *Imported, count *int64, follow Follow) error {
	rows, err := c.c.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM "%s" ORDER BY %s`, table, order))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return classify(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	same := map[[32]byte]uint64{} // rows alike in everything, where a table has no key
	for more := true; more; {
		var batch []Row
		var digests [][32]byte
		for len(batch) < importBatch {
			if more = rows.Next(); !more {
				break
			}
			values := make([]any, len(names))
			dest := make([]any, len(names))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := rows.Scan(dest...); err != nil {
				return classify(err)
			}
			row := Row{}
			for i, n := range names {
				if values[i] != nil {
					row[n] = values[i]
				}
			}
			d := row.digest(table)
			if n := same[d]; n > 0 {
				same[d]++
				d = sha256.Sum256(binary.BigEndian.AppendUint64(d[:], n))
			} else {
				same[d] = 1
			}
			batch, digests = append(batch, row), append(digests, d)
		}
		if len(batch) == 0 {
			break
		}
		before := *r
		_, err := l.Update(ctx, nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
			*r = before // the update may run again
			for i, row := range batch {
				var id int64
				err := tx.QueryRow(`SELECT event_id FROM imported WHERE digest = ?`, digests[i][:]).Scan(&id)
				if err == nil {
					r.Already++
					continue
				}
				if !errors.Is(err, sql.ErrNoRows) {
					return nil, err
				}
				if id, err = follow(tx, row); err != nil {
					return nil, fmt.Errorf("row %s: %w", row.name(), err)
				}
				if id == 0 {
					continue
				}
				if _, err := tx.Exec(`INSERT INTO imported(digest, event_id) VALUES(?, ?)`, digests[i][:], id); err != nil {
					return nil, err
				}
				*count++
			}
			return nil, nil
		})
		if err != nil {
			*r = before
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return classify(rows.Err())
}

func (r Row) name() string {
	if id, ok := r["id"]; ok {
		return fmt.Sprint(id)
	}
	return "without an id"
}

// digest tells one row of a table from every other, whichever order its columns
// have.
func (r Row) digest(table string) [32]byte {
	h := sha256.New()
	part := func(s string) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		io.WriteString(h, s)
	}
	part(table)
	for _, k := range slices.Sorted(maps.Keys(r)) {
		part(k)
		part(r.Text(k))
	}
	return [32]byte(h.Sum(nil))
}

// Text returns a column as text, "" when it is absent.
func (r Row) Text(column string) string {
	switch x := r[column].(type) {
	case nil:
		return ""
	case string:
		return x
	case []byte:
		return string(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case time.Time: // a column declared as a time
		return x.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(x)
	}
}

// Time returns a column as a moment: a number of seconds or milliseconds since
// 1970, or an ISO 8601 text, taken as UTC when it names no zone. 0 when it is
// none of these.
func (r Row) Time(column string) Millis {
	s := strings.TrimSpace(r.Text(column))
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if f <= 0 || math.IsInf(f, 0) || math.IsNaN(f) || f > 1e14 {
			return 0
		}
		if f < 1e11 { // seconds reach this in the year 5138, milliseconds did in 1973
			f *= 1000
		}
		return Millis(math.Round(f))
	}
	for _, form := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(form, s); err == nil {
			return At(t)
		}
	}
	return 0
}

// Clean returns a column as text within a limit, and whether it had to be cut.
func (r Row) Clean(column string, max int) (s string, clipped bool) {
	s = strings.ReplaceAll(strings.ToValidUTF8(r.Text(column), "�"), "\x00", "")
	c := Clip(s, max)
	return c, c != s
}

// event maps a row; false when it has no actor or no type.
func (r Row) event(m map[string]string) (e Event, clipped, ok bool) {
	text := func(field string, max int) string {
		if m[field] == "" {
			return ""
		}
		s, cut := r.Clean(m[field], max)
		clipped = clipped || cut
		return strings.TrimSpace(fold(s))
	}
	e = Event{
		Source: Import, Actor: text("actor", MaxActor), Type: text("type", MaxType), Object: text("object", MaxObject), ObjectType: text("objectType", MaxType),
		Workspace: text("workspace", MaxWorkspace), Outcome: text("outcome", MaxOutcome), File: text("file", MaxFile), Session: text("session", MaxSession),
	}
	if e.Actor == "" || e.Type == "" {
		return e, false, false
	}
	if m["at"] != "" {
		e.SaidAt = r.Time(m["at"])
	}
	if m["metrics"] != "" {
		var cut bool
		e.Metrics, cut = numbers(r.Text(m["metrics"]))
		clipped = clipped || cut
	}
	if id := r.Text(m["id"]); m["id"] != "" && id != "" {
		e.Data, _ = json.Marshal(map[string]string{"imported_id": Clip(strings.ToValidUTF8(id, "�"), MaxObject)})
	}
	return e, clipped, true
}

// numbers keeps the first three numbers of a JSON object, and says whether there
// was more in it.
func numbers(object string) (out Metrics, more bool) {
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return out, true
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return out, true
		}
		n, ok := value.(json.Number)
		one := Metrics{{key.(string), n}}
		if !ok || len(out) == MaxMetrics || one.Check("metrics", 1) != nil {
			more = true
			continue
		}
		out = append(out, one[0])
	}
	return out, more
}

package ledger

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// The search index follows the events instead of being written with them: inside
// the commit it would take two thirds of the writer's rate. A search reads the
// index as far as it has come and looks at the few events behind it itself.
const (
	searchSlice = 1024                   // events indexed in one commit: a smaller one pays for more commits and merges
	searchLag   = 4096                   // how far the index may fall behind under load
	searchPause = 100 * time.Millisecond // quiet time before the index catches up
)

// MaxQuery is the longest search text, in code points.
const MaxQuery = 256

// body is the text of an event that search finds.
func body(outcome, file, actor, typ, object string) string {
	var b strings.Builder
	for _, s := range [...]string{outcome, file, actor, typ, object} {
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		apart(&b, s)
	}
	return b.String()
}

// apart writes s with a space around every character of a script that is
// written without them: the tokenizer cuts words at spaces only.
func apart(b *strings.Builder, s string) {
	for _, r := range s {
		if r = narrow(r); unspaced(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
}

// narrow is a full-width letter, digit or sign, as Chinese and Japanese keyboards
// also write them, in its usual width.
func narrow(r rune) rune {
	if r >= 0xFF01 && r <= 0xFF5E {
		return r - 0xFF01 + '!'
	}
	return r
}

func unspaced(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// match turns what a person typed into an FTS5 query: every word must be there,
// as a prefix from two letters on; a run of characters written without spaces is
// a phrase. An empty result means that nothing in it can be searched for.
func match(query string) string {
	var terms []string
	var word []rune
	var run []string
	flushWord := func() {
		if len(word) > 0 {
			t := `"` + string(word) + `"`
			if len(word) > 1 {
				t += "*"
			}
			terms = append(terms, t)
			word = word[:0]
		}
	}
	flushRun := func() {
		if len(run) > 0 {
			terms = append(terms, `"`+strings.Join(run, " ")+`"`)
			run = run[:0]
		}
	}
	for _, r := range query {
		switch r = narrow(r); {
		case unspaced(r):
			flushWord()
			run = append(run, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.Co, unicode.Mn, unicode.Mc): // what unicode61 takes for a word
			flushRun()
			word = append(word, r)
		default:
			flushRun()
			flushWord()
		}
	}
	flushRun()
	flushWord()
	return strings.Join(terms, " ")
}

// Search returns the newest limit events that hold every word of query, with an
// id below before (0: no bound), newest first, and whether there are more. Words
// match by their beginning; two Chinese characters match wherever they stand
// together. Error: *FieldError for a query that is too long or holds no word.
func (v *View) Search(query string, before int64, limit int) (events []Event, more bool, err error) {
	if err := Text("query", &query, MaxQuery, true); err != nil {
		return nil, false, err
	}
	q := match(query)
	if q == "" {
		return nil, false, &FieldError{Field: "query", Rule: "at least one letter or digit", Got: fmt.Sprintf("%q", Clip(query, 40))}
	}
	if before <= 0 {
		before = 1<<63 - 1
	}
	var through int64
	if err := v.QueryRow(`SELECT through_id FROM followers WHERE name = 'search'`).Scan(&through); err != nil {
		return nil, false, err
	}
	ids, err := v.tail.match(v, q, through, before, limit+1)
	if err != nil {
		return nil, false, err
	}
	if len(ids) <= limit {
		indexed, err := v.conn.ids(`SELECT rowid FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`, q, before, limit+1-len(ids))
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, indexed...)
	}
	if more = len(ids) > limit; more {
		ids = ids[:limit]
	}
	for _, id := range ids {
		e, err := v.Event(id)
		if err != nil {
			return nil, false, err
		}
		events = append(events, e)
	}
	return events, more, nil
}

func (k *conn) ids(query string, args ...any) ([]int64, error) {
	var out []int64
	rows, err := k.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

// tail searches the events that are not indexed yet, through a small index in
// memory, so that both parts cut words alike.
type tail struct {
	gate chan struct{} // holds one token: the connection is one goroutine's
	conn *conn
}

func newTail() *tail { return &tail{gate: make(chan struct{}, 1)} }

func (t *tail) match(v *View, q string, through, before int64, limit int) ([]int64, error) {
	t.gate <- struct{}{}
	defer func() { <-t.gate }()
	if t.conn == nil {
		c, err := connect(":memory:", "memory")
		if err != nil {
			return nil, err
		}
		if _, err := c.exec(`CREATE VIRTUAL TABLE search USING fts5(body, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')`); err != nil {
			c.close()
			return nil, err
		}
		t.conn = c
	}
	if _, err := t.conn.exec(`BEGIN`); err != nil {
		return nil, err
	}
	defer t.conn.exec(`ROLLBACK`)
	if _, err := t.conn.index(v.conn, through, before, 1<<30); err != nil {
		return nil, err
	}
	return t.conn.ids(`SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?`, q, limit)
}

func (t *tail) close() error {
	t.gate <- struct{}{}
	defer func() { <-t.gate }()
	if t.conn == nil {
		return nil
	}
	return t.conn.close()
}

// entry is what the index needs of an event.
type entry struct {
	id                                int64
	outcome, file, actor, typ, object string
}

// index adds the events of from between after and before to k's search table
// and returns the last id.
func (k *conn) index(from *conn, after, before int64, limit int) (last int64, err error) {
	entries, err := from.entries(after, before, limit)
	if err != nil {
		return 0, err
	}
	return k.insert(entries)
}

func (k *conn) entries(after, before int64, limit int) ([]entry, error) {
	var out []entry
	rows, err := k.query(`SELECT id, coalesce(outcome, ''), coalesce(file, ''), actor, type, coalesce(object, 0) FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?`, after, before, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e entry
		var ids [3]int64
		if err := rows.Scan(&e.id, &e.outcome, &e.file, &ids[0], &ids[1], &ids[2]); err != nil {
			return nil, err
		}
		for i, s := range [...]*string{&e.actor, &e.typ, &e.object} {
			if *s, err = k.name(ids[i]); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

func (k *conn) insert(entries []entry) (last int64, err error) {
	for _, e := range entries {
		if _, err := k.exec(`INSERT INTO search(rowid, body) VALUES(?, ?)`, e.id, body(e.outcome, e.file, e.actor, e.typ, e.object)); err != nil {
			return 0, err
		}
		last = e.id
	}
	return last, nil
}

// remember keeps what was just appended, so that the index need not read it
// back. The bound is met by dropping all: the rows are in the file.
func (w *writer) remember(entries []entry) {
	if len(w.recent)+len(entries) > 2*searchLag {
		w.recent = nil
		return
	}
	if len(w.recent) == 0 || len(entries) == 0 || w.recent[len(w.recent)-1].id+1 == entries[0].id {
		w.recent = append(w.recent, entries...)
		return
	}
	w.recent = append(w.recent[:0], entries...)
}

// slice inserts the next events and returns the last id: from memory when they
// are there, else from the file.
func (w *writer) slice() (int64, error) {
	if len(w.recent) > 0 && w.recent[0].id <= w.indexed+1 {
		next := w.recent[min(int(w.indexed+1-w.recent[0].id), len(w.recent)):]
		next = next[:min(len(next), searchSlice)]
		if len(next) > 0 {
			last, err := w.insert(next)
			if err != nil {
				return 0, err
			}
			w.recent = w.recent[last+1-w.recent[0].id:]
			return last, nil
		}
	}
	w.names = w.known // between updates every name is committed, so it may be remembered
	defer func() { w.names = nil }()
	return w.index(w.conn, w.indexed, w.head.lastID+1, searchSlice)
}

// catchUp indexes one slice in its own commit and returns how far the index is
// behind after it.
func (w *writer) catchUp() (behind int64, err error) {
	if w.stale {
		if err := w.load(); err != nil {
			return 0, err
		}
	}
	if w.indexed >= w.head.lastID {
		return 0, nil
	}
	if _, err := w.exec(`BEGIN IMMEDIATE`); err != nil {
		return 0, err
	}
	last, err := w.slice()
	if err == nil {
		_, err = w.exec(`UPDATE followers SET through_id = ? WHERE name = 'search'`, last)
	}
	if err == nil {
		_, err = w.exec(`COMMIT`)
	}
	if err != nil {
		w.exec(`ROLLBACK`)
		w.stale = true
		return 0, err
	}
	w.indexed = last
	return w.head.lastID - w.indexed, nil
}

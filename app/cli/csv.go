package cli

import (
	"bufio"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode"

	"steward/ledger"
)

// csvHeader names the columns of a CSV export. Programs rely on their names and
// order: new ones go to the end.
var csvHeader = []string{"id", "at", "said_at", "actor", "type", "object_id", "object_type", "workspace", "outcome", "file", "metrics", "injectable", "source", "session_id", "caller", "data"}

// rows writes events as CSV.
type rows struct {
	w    *csv.Writer
	cell []string
}

// newRows writes to w, whose buffer is the only one: flushing it is enough.
func newRows(w *bufio.Writer) *rows { return &rows{w: csv.NewWriter(w)} }

func (r *rows) header() error { return r.w.Write(csvHeader) }

func (r *rows) event(e ledger.Event) error {
	metrics := ""
	if e.Metrics != nil {
		b, err := e.Metrics.MarshalJSON()
		if err != nil {
			return err
		}
		metrics = string(b)
	}
	said := ""
	if e.SaidAt != 0 {
		said = e.SaidAt.String()
	}
	r.cell = append(r.cell[:0], strconv.FormatInt(e.ID, 10), e.At.String(), said, e.Actor, e.Type, e.Object, e.ObjectType, e.Workspace, e.Outcome, e.File,
		metrics, strconv.FormatBool(e.Injectable), e.Source.String(), e.Session, e.Caller, string(e.Data))
	for i := range r.cell {
		r.cell[i] = harmless(r.cell[i])
	}
	return r.w.Write(r.cell)
}

// harmless is a text that neither a terminal nor a spreadsheet acts upon. A
// formula begins with one of four signs, also after spaces, and also with their
// full-width forms.
func harmless(s string) string {
	s = visible(s)
	if first := strings.TrimLeftFunc(s, unicode.IsSpace); strings.IndexFunc(first, func(r rune) bool { return strings.ContainsRune("=+-@＝＋－＠", r) }) == 0 {
		return "'" + s
	}
	return s
}

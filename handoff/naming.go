package handoff

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"steward/ledger"
)

const (
	shortLength = 4 // characters of the ULID that people see, more on a clash
	maxRef      = 128
)

// Naming is how the things of one sort are named: a prefix and a ULID, upper
// case; short forms of it for people.
type Naming struct {
	Prefix  string // of an id, such as hnd_
	Short   string // of what people see and type, such as H-
	Field   string // the argument that errors name
	Table   string // of the ledger, with the columns id and seq and an index on the id's last four characters
	Missing error  // what is wrapped when there is no such thing
}

// New makes an id. The ULID's random part is fresh for each: a monotonic one
// would give neighbours nearly the same last characters, which are what people
// see.
func (n Naming) New(now ledger.Millis) (string, error) {
	u, err := ulid.New(uint64(max(now, 0)), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("new id %s…: %w", n.Prefix, err)
	}
	return n.Prefix + u.String(), nil
}

// suffix returns the last k characters of an id's ULID.
func (n Naming) suffix(id string, k int) string {
	return id[max(len(id)-k, min(len(n.Prefix), len(id))):]
}

// Parse reads what a caller wrote for an id, in either case of letters: the
// whole id, or the short prefix and at least the last four characters of it. ok
// is false for text that can be neither.
func (n Naming) Parse(ref string) (id, suffix string, ok bool) {
	up := strings.ToUpper(ref)
	if rest, is := strings.CutPrefix(up, strings.ToUpper(n.Prefix)); is {
		if len(rest) != ulid.EncodedSize || !base32(rest) {
			return "", "", false
		}
		return n.Prefix + rest, "", true
	}
	if rest, is := strings.CutPrefix(up, n.Short); is {
		if len(rest) < shortLength || len(rest) > ulid.EncodedSize || !base32(rest) {
			return "", "", false
		}
		return "", rest, true
	}
	return "", "", false
}

func base32(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(ulid.Encoding, s[i]) < 0 {
			return false
		}
	}
	return true
}

// Check refuses what is no text of a sensible length. Anything else that is not
// an id is simply not found.
func (n Naming) Check(ref string) error {
	return line(n.Field, &ref, maxRef, required)
}

// NotFound is the error for a ref that names nothing.
func (n Naming) NotFound(ref string) error {
	return fmt.Errorf("%w: %s", n.Missing, strconv.Quote(ref))
}

// Resolve returns the id that ref stands for: a whole id as it is, or a short
// form, in either case of letters. A short form that fits several is a
// *ledger.FieldError that names them; one that fits none, and any text that is no
// id, is Missing. A whole id is not looked up.
func (n Naming) Resolve(v *ledger.View, ref string) (string, error) {
	if err := n.Check(ref); err != nil {
		return "", err
	}
	id, suffix, ok := n.Parse(ref)
	if !ok {
		return "", n.NotFound(ref)
	}
	if id != "" {
		return id, nil
	}
	const named = 5
	ids, err := n.bySuffix(v, suffix, named+1)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", n.NotFound(ref)
	case len(ids) == 1:
		return ids[0], nil
	}
	more := ""
	if len(ids) > named {
		ids, more = ids[:named], ", …"
	}
	return "", &ledger.FieldError{Field: n.Field, Rule: "more of the id: it fits " + strings.Join(ids, ", ") + more, Got: strconv.Quote(ref)}
}

// ShortOf returns the form of id that people see: the short prefix and its last
// four characters, or as many as tell it from every other there is.
func (n Naming) ShortOf(v *ledger.View, id string) (string, error) {
	const all = 1 << 20
	ids, err := n.bySuffix(v, n.suffix(id, shortLength), all)
	if err != nil {
		return "", err
	}
	k := shortLength
	for _, other := range ids {
		for other != id && k < ulid.EncodedSize && n.suffix(other, k) == n.suffix(id, k) {
			k++
		}
	}
	return n.Short + n.suffix(id, k), nil
}

func (n Naming) selectSuffix() string {
	return `SELECT id FROM ` + n.Table + ` WHERE substr(id,-4)=? AND substr(id,-?)=? ORDER BY seq DESC LIMIT ?`
}

// bySuffix returns the newest of the ids that end in suffix, which has at least
// four characters.
func (n Naming) bySuffix(v *ledger.View, suffix string, limit int) ([]string, error) {
	return column[string](v, n.selectSuffix(), suffix[len(suffix)-shortLength:], len(suffix), suffix, limit)
}

package handoff

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"steward/ledger"
)

// ID names a handoff: hnd_ and a ULID, upper case.
type ID string

const (
	idPrefix    = "hnd_"
	shortPrefix = "H-"
	shortLength = 4 // characters of the ULID that people see, more on a clash
	maxRef      = 128
)

// newID makes an ID. The ULID's random part is fresh for each: a monotonic one
// would give neighbours nearly the same last characters, which are what people
// see.
func newID(now ledger.Millis) (ID, error) {
	u, err := ulid.New(uint64(max(now, 0)), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("handoff: new id: %w", err)
	}
	return ID(idPrefix + u.String()), nil
}

// suffix returns the last n characters of the ULID.
func (id ID) suffix(n int) string {
	return string(id[max(len(id)-n, min(len(idPrefix), len(id))):])
}

// parseRef reads what a caller wrote for an id, in either case of letters: the
// whole id, or H- and at least the last four characters of it. ok is false for
// text that can be neither.
func parseRef(ref string) (id ID, suffix string, ok bool) {
	up := strings.ToUpper(ref)
	if rest, is := strings.CutPrefix(up, strings.ToUpper(idPrefix)); is {
		if len(rest) != ulid.EncodedSize || !base32(rest) {
			return "", "", false
		}
		return ID(idPrefix + rest), "", true
	}
	if rest, is := strings.CutPrefix(up, shortPrefix); is {
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

// checkRef refuses what is no text of a sensible length. Anything else that is
// not an id is simply not found.
func checkRef(ref string) error {
	return line("handoff_id", &ref, maxRef, required)
}

func notFound(ref string) error {
	return fmt.Errorf("%w: %s", ErrNotFound, strconv.Quote(ref))
}

// Resolve returns the ID that ref stands for: hnd_ and a ULID as it is, or the
// short form H- and at least the last four characters, in either case. A short
// form that fits several is a *ledger.FieldError that names them; one that fits
// none, and any text that is no id, is ErrNotFound. A full id is not looked up.
func Resolve(v *ledger.View, ref string) (ID, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	id, suffix, ok := parseRef(ref)
	if !ok {
		return "", notFound(ref)
	}
	if id != "" {
		return id, nil
	}
	const named = 5
	ids, err := bySuffix(v, suffix, named+1)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", notFound(ref)
	case len(ids) == 1:
		return ids[0], nil
	}
	more := ""
	if len(ids) > named {
		ids, more = ids[:named], ", …"
	}
	names := make([]string, len(ids))
	for i := range ids {
		names[i] = string(ids[i])
	}
	return "", &ledger.FieldError{Field: "handoff_id", Rule: "more of the id: it fits " + strings.Join(names, ", ") + more, Got: strconv.Quote(ref)}
}

// Short returns the form of id that people see: H- and its last four characters,
// or as many as tell it from every other handoff there is.
func Short(v *ledger.View, id ID) (string, error) {
	const all = 1 << 20
	ids, err := bySuffix(v, id.suffix(shortLength), all)
	if err != nil {
		return "", err
	}
	n := shortLength
	for _, other := range ids {
		for other != id && n < ulid.EncodedSize && other.suffix(n) == id.suffix(n) {
			n++
		}
	}
	return shortPrefix + id.suffix(n), nil
}

const selectSuffix = `SELECT id FROM handoffs WHERE substr(id,-4)=? AND substr(id,-?)=? ORDER BY seq DESC LIMIT ?`

// bySuffix returns the newest of the ids that end in suffix, which has at least
// four characters.
func bySuffix(v *ledger.View, suffix string, limit int) ([]ID, error) {
	return column[ID](v, selectSuffix, suffix[len(suffix)-shortLength:], len(suffix), suffix, limit)
}

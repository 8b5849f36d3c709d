package handoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"steward/ledger"
)

// digest is the fingerprint of a validated payload: target, instruction,
// attachments in their order, context. Two payloads are the same when these are
// the same texts after the folding of one-line fields, and the contexts the same
// JSON value:
//
//   - white space, the order of keys and the spelling of characters (é or \u00e9)
//     do not count;
//   - numbers are compared by their exact decimal value, so 1, 1.0, 10e-1 are one
//     number and 0 and -0 too: a client that passes a context through JavaScript
//     changes 1.0 into 1. They are never rounded to a float: 9007199254740993 and
//     9007199254740992 are two numbers, and calling them one would answer a new
//     request with an old handoff;
//   - the order inside arrays counts, and text is not normalised;
//   - no attachments is the same as an empty list, no context as an empty object.
//
// The source session is not part of the payload: a second session that hands over
// the same thing under the same key means the same thing.
func (n *NewHandoff) digest() [32]byte {
	h := sha256.New()
	h.Write([]byte{1}) // the version of this form; stored digests are compared for ever
	text(h, n.Target)
	text(h, n.Instruction)
	size(h, len(n.Attachments))
	for _, a := range n.Attachments {
		text(h, a.Path)
		text(h, a.Name)
	}
	if c := string(n.canonical); c != "{}" {
		text(h, c)
	} else {
		text(h, "")
	}
	return [32]byte(h.Sum(nil))
}

func size(h hash.Hash, n int) {
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func text(h hash.Hash, s string) {
	size(h, len(s))
	h.Write([]byte(s))
}

// readContext checks a context and returns it compact (its own order of keys and
// spelling of numbers, no white space, no needless escapes) and canonical.
func readContext(raw []byte) (compact, canonical []byte, err error) {
	if !utf8.Valid(raw) {
		return nil, nil, &ledger.FieldError{Field: "context", Rule: "valid UTF-8", Got: "bytes that are not"}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, nil, &ledger.FieldError{Field: "context", Rule: "a JSON object", Got: "no JSON: " + err.Error()}
	}
	// A character needs at most six bytes as an escape, and one without: beyond
	// six times the limit nothing has to be parsed to know.
	if b.Len() > 6*MaxContext {
		return nil, nil, tooLong(b.Len())
	}
	if loneSurrogate(b.Bytes()) {
		return nil, nil, &ledger.FieldError{Field: "context", Rule: "valid Unicode", Got: "half of a surrogate pair"}
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	root, err := parse(d, 1, "context")
	if err != nil {
		return nil, nil, err
	}
	if root.open != '{' {
		return nil, nil, &ledger.FieldError{Field: "context", Rule: "a JSON object", Got: root.kind()}
	}
	compact = root.append(nil, false)
	if len(compact) > MaxContext {
		return nil, nil, tooLong(len(compact))
	}
	return compact, root.append(nil, true), nil
}

func tooLong(n int) error {
	return &ledger.FieldError{Field: "context", Rule: fmt.Sprintf("at most %d bytes as compact JSON", MaxContext), Got: strconv.Itoa(n)}
}

// node is one JSON value. An object or array has open and, for each item, a
// value (and a key); a scalar has scalar: string, json.Number, bool or nil.
type node struct {
	open   json.Delim
	keys   []string
	items  []node
	scalar any
}

func (n *node) kind() string {
	switch n.scalar.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	}
	if n.open == '[' {
		return "an array"
	}
	return "null"
}

// parse reads one value of JSON that is known to be well-formed.
func parse(d *json.Decoder, level int, path string) (node, error) {
	t, err := d.Token()
	if err != nil {
		return node{}, fmt.Errorf("handoff: context: %w", err)
	}
	open, isDelim := t.(json.Delim)
	if !isDelim {
		if s, ok := t.(string); ok && strings.IndexByte(s, 0) >= 0 {
			return node{}, &ledger.FieldError{Field: path, Rule: "no NUL character", Got: "one"}
		}
		return node{scalar: t}, nil
	}
	if level > MaxContextLevels {
		return node{}, &ledger.FieldError{Field: "context", Rule: fmt.Sprintf("at most %d levels of objects and arrays", MaxContextLevels), Got: "more"}
	}
	n := node{open: open}
	var seen map[string]bool
	if open == '{' {
		seen = map[string]bool{}
	}
	for d.More() {
		at := path
		if open == '{' {
			k, err := d.Token()
			if err != nil {
				return node{}, fmt.Errorf("handoff: context: %w", err)
			}
			key := k.(string)
			at = ledger.Clip(path+"."+key, 200)
			if strings.IndexByte(key, 0) >= 0 {
				return node{}, &ledger.FieldError{Field: path, Rule: "no NUL character", Got: "one in a key"}
			}
			if seen[key] {
				return node{}, &ledger.FieldError{Field: at, Rule: "each key once", Got: "it again"}
			}
			seen[key] = true
			n.keys = append(n.keys, key)
		} else {
			at = ledger.Clip(path+"["+strconv.Itoa(len(n.items))+"]", 200)
		}
		item, err := parse(d, level+1, at)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	if _, err := d.Token(); err != nil {
		return node{}, fmt.Errorf("handoff: context: %w", err)
	}
	return n, nil
}

// append writes the value without white space; canonically, with keys sorted by
// their bytes and numbers in one spelling.
func (n *node) append(b []byte, canonical bool) []byte {
	switch n.open {
	case '{':
		order := make([]int, len(n.keys))
		for i := range order {
			order[i] = i
		}
		if canonical {
			slices.SortFunc(order, func(a, b int) int { return strings.Compare(n.keys[a], n.keys[b]) })
		}
		b = append(b, '{')
		for i, at := range order {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, n.keys[at])
			b = append(b, ':')
			b = n.items[at].append(b, canonical)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.items[i].append(b, canonical)
		}
		return append(b, ']')
	}
	switch v := n.scalar.(type) {
	case string:
		return appendString(b, v)
	case json.Number:
		if canonical {
			return append(b, number(v.String())...)
		}
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// appendString escapes only what JSON says must be.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// number gives the one spelling of a JSON number's exact value: its digits
// without zeros at either end, and the power of ten: 1.50 → 15e-1, -0.0 → 0.
func number(s string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	power := new(big.Int) // JSON bounds no exponent, so no machine word does
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		power.SetString(strings.TrimPrefix(s[at+1:], "+"), 10)
		s = s[:at]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	short := strings.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))
	return sign + short + "e" + power.String()
}

// loneSurrogate tells whether well-formed JSON has an escape that is half of a
// surrogate pair. It stands for no character; decoders replace it, each in its
// own way, so it could not be given back.
func loneSurrogate(b []byte) bool {
	unit := func(at int) (rune, bool) {
		if at+6 > len(b) || b[at] != '\\' || b[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[at+2:at+6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		r, ok := unit(i)
		if !ok {
			i++ // the escaped character
			continue
		}
		i += 5
		if !utf16.IsSurrogate(r) {
			continue
		}
		low, ok := unit(i + 1)
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

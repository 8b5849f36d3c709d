package ops

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"steward/ledger"
)

// Canonical appends the canonical form of the JSON text src to dst. Two texts
// that say the same have one form, whatever their white space, their order of
// keys and their way of escaping and of writing numbers.
//
// The form is RFC 8785's but for two things. Keys are sorted by the bytes of
// their UTF-8, which differs only beyond U+FFFF. An integer written without
// fraction and exponent keeps all its digits, so that ids above 2^53 stay
// apart. Repeated keys, NUL, invalid UTF-8, numbers that are not finite and
// more than 64 levels are refused with a *ledger.FieldError.
func Canonical(dst, src []byte) ([]byte, error) {
	c := compacter{scanner: scanner{b: src}, out: dst, levels: deepest, sorted: true}
	if err := c.value(1); err != nil {
		return nil, err
	}
	if c.peek(); c.i < len(src) {
		return nil, c.broken("nothing after the value")
	}
	return c.out, nil
}

// Digest tells apart the calls of one session slot: SHA-256 over the tool's
// name, a zero byte and the canonical arguments. Absent arguments are {}.
func Digest(tool string, args []byte) ([32]byte, error) {
	buf := make([]byte, 0, 512)
	buf = append(buf, tool...)
	buf = append(buf, 0)
	if t := bytes.TrimSpace(args); len(t) == 0 || string(t) == "null" {
		args = []byte("{}")
	}
	buf, err := Canonical(buf, args)
	if err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(buf), nil
}

// compacter rewrites a JSON value without white space and needless escapes.
// With sorted it also sorts keys and normalises numbers.
type compacter struct {
	scanner
	out    []byte
	levels int
	sorted bool
}

// member is one key of an object and where it lies in the output.
type member struct {
	key      []byte
	from, to int
}

func (c *compacter) value(depth int) error {
	switch b := c.peek(); {
	case b == '"':
		t, err := c.str()
		if err != nil {
			return err
		}
		c.text(t)
		return nil
	case b == '{':
		return c.object(depth)
	case b == '[':
		return c.list(depth)
	case b == 't' || b == 'f' || b == 'n':
		w, err := c.word()
		c.out = append(c.out, w...)
		return err
	}
	lit, whole, err := c.number()
	if err != nil {
		return err
	}
	return c.literal(lit, whole)
}

// literal writes a number: as it is, or when sorted an integer's digits, and any
// other number in the shortest form that reads back as the same double.
func (c *compacter) literal(lit []byte, whole bool) error {
	var f float64
	if !whole || len(lit) > 300 { // no shorter integer is out of range
		var err error
		if f, err = strconv.ParseFloat(string(lit), 64); err != nil {
			return &ledger.FieldError{Rule: "finite numbers", Got: ledger.Clip(string(lit), 40)}
		}
	}
	switch a := math.Abs(f); {
	case !c.sorted, whole && string(lit) != "-0":
		c.out = append(c.out, lit...)
	case f == 0:
		c.out = append(c.out, '0') // 0.0 and -0 too
	case a >= 1e-6 && a < 1e21:
		c.out = strconv.AppendFloat(c.out, f, 'f', -1, 64)
	default:
		c.out = strconv.AppendFloat(c.out, f, 'e', -1, 64)
	}
	return nil
}

// text writes t with the fewest escapes.
func (c *compacter) text(t text) {
	if !t.esc {
		c.out = append(c.out, '"')
		c.out = append(c.out, t.raw...)
		c.out = append(c.out, '"')
		return
	}
	c.out = appendString(c.out, t.String())
}

func (c *compacter) deep(depth int) error {
	if depth > c.levels {
		return &ledger.FieldError{Rule: fmt.Sprintf("at most %d levels", c.levels), Got: "more"}
	}
	return nil
}

func (c *compacter) list(depth int) error {
	if err := c.deep(depth); err != nil {
		return err
	}
	c.out = append(c.out, '[')
	first := true
	err := c.each('[', func() error {
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		return c.value(depth + 1)
	})
	c.out = append(c.out, ']')
	return err
}

func (c *compacter) object(depth int) error {
	if err := c.deep(depth); err != nil {
		return err
	}
	var few [16]member
	members := few[:0]
	start := len(c.out)
	err := c.each('{', func() error {
		if c.peek() != '"' {
			return c.broken("a key")
		}
		t, err := c.str()
		if err != nil {
			return err
		}
		if !c.take(':') {
			return c.broken("a colon")
		}
		key := t.raw
		if t.esc {
			key = t.appendTo(nil)
		}
		from := len(c.out)
		c.text(t)
		c.out = append(c.out, ':')
		if err := c.value(depth + 1); err != nil {
			return under(err, ledger.Clip(string(key), 64))
		}
		members = append(members, member{key, from, len(c.out)})
		return nil
	})
	if err != nil {
		return err
	}
	return c.close(start, members)
}

// close puts the members, written one behind another from start, between
// braces and commas, in their order or by key.
func (c *compacter) close(start int, members []member) error {
	byKey := members
	inOrder := slices.IsSortedFunc(members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	if !inOrder {
		if !c.sorted {
			byKey = slices.Clone(members)
		}
		slices.SortFunc(byKey, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	}
	for i := 1; i < len(byKey); i++ {
		if bytes.Equal(byKey[i-1].key, byKey[i].key) {
			return &ledger.FieldError{Field: ledger.Clip(string(byKey[i].key), 64), Rule: "once", Got: "it again"}
		}
	}
	if !c.sorted {
		byKey = members
	}
	var few [512]byte
	written := append(few[:0], c.out[start:]...)
	c.out = append(c.out[:start], '{')
	for i, m := range byKey {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, written[m.from-start:m.to-start]...)
	}
	c.out = append(c.out, '}')
	return nil
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string with the fewest escapes: the two that
// must be, the five short ones, and \u00xx for other control characters. s is
// valid UTF-8; anything else becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[from:i]...)
				dst = append(dst, "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

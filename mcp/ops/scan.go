package ops

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"steward/ledger"
)

// deepest bounds the nesting of any JSON this package walks, so that a line of
// brackets cannot exhaust the stack.
const deepest = 64

// scanner reads one JSON text byte by byte. It is stricter than encoding/json:
// invalid UTF-8, unpaired surrogates and NUL are refused, not replaced.
type scanner struct {
	b []byte
	i int
}

// text is a JSON string as it stands in the input.
type text struct {
	raw   []byte // between the quotes, escapes untouched
	runes int    // code points after decoding
	esc   bool   // holds at least one escape
	brk   bool   // holds a line break or tab, written or escaped
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// take consumes c after white space.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.i >= len(s.b) {
		return false
	}
	s.i++
	return true
}

// broken reports that the input is no JSON at the current byte.
func (s *scanner) broken(want string) error {
	return &ledger.FieldError{Field: "arguments", Rule: "JSON with " + want + " at byte " + strconv.Itoa(s.i), Got: s.sight()}
}

// sight describes the byte at hand for a message.
func (s *scanner) sight() string {
	if s.i >= len(s.b) {
		return "the end"
	}
	r, n := utf8.DecodeRune(s.b[s.i:])
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02x", s.b[s.i])
	}
	return strconv.QuoteRune(r)
}

// kindOf names the JSON type that starts with c.
func kindOf(c byte) string {
	switch {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	case c == 0:
		return "nothing"
	}
	return "no JSON"
}

// str reads a string; the next byte is its opening quote.
func (s *scanner) str() (text, error) {
	var t text
	b, i := s.b, s.i+1
	start := i
	for i < len(b) {
		c := b[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		switch {
		case c == '"':
			t.raw = b[start:i]
			t.runes += len(t.raw)
			s.i = i + 1
			return t, nil
		case c == '\\':
			s.i = i
			if err := s.escape(&t); err != nil {
				return t, err
			}
			t.esc = true
			t.runes -= s.i - i - 1 // raw bytes are counted at the end, and this is one character
			i = s.i
		case c == 0:
			return t, errNUL
		case c < 0x20:
			s.i = i
			return t, s.broken("escaped control characters")
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				return t, errUTF8
			}
			if r == '\u0085' || r == '\u2028' || r == '\u2029' {
				t.brk = true
			}
			t.runes -= n - 1
			i += n
		}
	}
	s.i = i
	return t, s.broken("a closing quote")
}

// escape reads one escape sequence, a surrogate pair as one.
func (s *scanner) escape(t *text) error {
	if s.i+1 >= len(s.b) {
		s.i = len(s.b)
		return s.broken("a closing quote")
	}
	switch s.b[s.i+1] {
	case 'n', 'r', 't', 'f':
		t.brk = true
		s.i += 2
		return nil
	case '"', '\\', '/', 'b':
		s.i += 2
		return nil
	case 'u':
		r, ok := hex4(s.b[s.i+2:])
		if !ok {
			return s.broken("four hexadecimal digits after \\u")
		}
		n := 6
		switch {
		case r == 0:
			return errNUL
		case utf16.IsSurrogate(r):
			rest := s.b[s.i+6:]
			if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
				return errUTF8
			}
			low, ok := hex4(rest[2:])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return errUTF8
			}
			n = 12
		case r >= '\t' && r <= '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			t.brk = true
		}
		s.i += n
		return nil
	}
	s.i++
	return s.broken("a known escape")
}

// The two refusals of a text's bytes; the walker adds the field.
var (
	errUTF8 = &ledger.FieldError{Rule: "valid UTF-8", Got: "bytes or escapes that are not"}
	errNUL  = &ledger.FieldError{Rule: "no NUL character", Got: "one"}
)

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendTo decodes t onto dst. The scanner has accepted t, so nothing can fail.
func (t text) appendTo(dst []byte) []byte {
	if !t.esc {
		return append(dst, t.raw...)
	}
	for i := 0; i < len(t.raw); {
		c := t.raw[i]
		if c != '\\' {
			j := bytes.IndexByte(t.raw[i:], '\\')
			if j < 0 {
				return append(dst, t.raw[i:]...)
			}
			dst = append(dst, t.raw[i:i+j]...)
			i += j
			continue
		}
		switch e := t.raw[i+1]; e {
		case 'u':
			r, _ := hex4(t.raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(t.raw[i+2:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'f':
			dst = append(dst, '\f')
		case 'b':
			dst = append(dst, '\b')
		default:
			dst = append(dst, e)
		}
		i += 2
	}
	return dst
}

// String decodes t.
func (t text) String() string {
	if !t.esc {
		return string(t.raw)
	}
	return string(t.appendTo(make([]byte, 0, len(t.raw))))
}

// is tells whether t decodes to name.
func (t text) is(name string) bool {
	if !t.esc {
		return string(t.raw) == name
	}
	return t.String() == name
}

// number reads a number's literal; whole is true without fraction and exponent.
func (s *scanner) number() (lit []byte, whole bool, err error) {
	start := s.i
	if s.at() == '-' {
		s.i++
	}
	switch c := s.at(); {
	case c == '0':
		s.i++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return nil, false, s.broken("a digit")
	}
	whole = true
	if s.at() == '.' {
		whole = false
		s.i++
		if !s.digits() {
			return nil, false, s.broken("a digit")
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		whole = false
		s.i++
		if c := s.at(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return nil, false, s.broken("a digit")
		}
	}
	return s.b[start:s.i], whole, nil
}

// at returns the byte at hand, 0 at the end.
func (s *scanner) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

// word reads one of true, false, null.
func (s *scanner) word() (string, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return w, nil
		}
	}
	return "", s.broken("a value")
}

// skip reads any value and forgets it.
func (s *scanner) skip(depth int) error {
	if depth > deepest {
		return s.broken(fmt.Sprintf("at most %d levels", deepest))
	}
	switch s.peek() {
	case '"':
		_, err := s.str()
		return err
	case '{':
		return s.each('{', func() error {
			if s.peek() != '"' {
				return s.broken("a key")
			}
			if _, err := s.str(); err != nil {
				return err
			}
			if !s.take(':') {
				return s.broken("a colon")
			}
			return s.skip(depth + 1)
		})
	case '[':
		return s.each('[', func() error { return s.skip(depth + 1) })
	case 't', 'f', 'n':
		_, err := s.word()
		return err
	}
	_, _, err := s.number()
	return err
}

// each walks the elements of the array or the members of the object that opens
// here with open.
func (s *scanner) each(open byte, element func() error) error {
	closing := open + 2 // '[' and ']', '{' and '}' stand two apart
	s.i++
	if s.take(closing) {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.take(',') {
			continue
		}
		if s.take(closing) {
			return nil
		}
		return s.broken(fmt.Sprintf("%q or %q", ',', closing))
	}
}

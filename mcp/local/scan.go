package local

import (
	"bytes"
	"encoding/json"
)

// A span is the half-open range [from, to) of a line. The zero span is absent:
// no value of interest begins at the first byte of a message.
type span struct{ from, to int }

func (s span) absent() bool         { return s.to == 0 }
func (s span) of(b []byte) []byte   { return b[s.from:s.to] }
func (s span) shifted(by int) span  { return span{s.from + by, s.to + by} }
func (s span) first(b []byte) byte  { return b[s.from] } // of a present span
func (s span) object(b []byte) bool { return !s.absent() && s.first(b) == '{' }

// members calls f with the key and the place of the value of each member of
// the object that begins at b[at], in order, until f returns false. Keys come
// unescaped. On bytes that are no JSON it stops early; it never panics. It
// looks at no more than it must, so values f is not interested in cost a scan
// for their end and no more.
func members(b []byte, at int, f func(key []byte, value span) bool) {
	i := space(b, at+1)
	for i < len(b) && b[i] == '"' {
		end := skip(b, i)
		key := unquote(b[i:end])
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return
		}
		if i = space(b, i+1); i >= len(b) {
			return
		}
		end = skip(b, i)
		if !f(key, span{i, end}) {
			return
		}
		if i = space(b, end); i >= len(b) || b[i] != ',' {
			return
		}
		i = space(b, i+1)
	}
}

// space returns the first index from i on that is no JSON white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the index after the value that begins at b[i], or len(b).
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']', ':', '"', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		// The quote ends the string unless an odd number of backslashes
		// stands before it.
		end := i + n
		back := end
		for back > i && b[back-1] == '\\' {
			back--
		}
		i = end + 1
		if (end-back)%2 == 0 {
			return i
		}
	}
	return len(b)
}

// unquote returns the text of a JSON string, or nil if q is none. Without
// escapes it does not copy.
func unquote(q []byte) []byte {
	if len(q) < 2 || q[0] != '"' || q[len(q)-1] != '"' {
		return nil
	}
	if bytes.IndexByte(q, '\\') < 0 {
		return q[1 : len(q)-1]
	}
	var s string
	if json.Unmarshal(q, &s) != nil {
		return nil
	}
	return []byte(s)
}

// quote returns s as a JSON string.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // a string always marshals
	}
	return b
}

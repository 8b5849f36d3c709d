package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes text that agents wrote safe to show on a terminal: control
// characters, escapes and what turns the reading direction appear as signs
// instead of taking effect. It never adds a line.
func visible(s string) string {
	clean := true
	for i, r := range s {
		if dangerous(r) || r == utf8.RuneError && badAt(s, i) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the control pictures: ␀ … ␟
		case r == 0x7f:
			b.WriteRune('␡')
		case r == utf8.RuneError && badAt(s, i):
			b.WriteRune('�')
		case dangerous(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func badAt(s string, i int) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return n == 1
}

// dangerous tells whether a terminal might act on r instead of showing it.
func dangerous(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) || r >= 0xe0000 && r <= 0xe007f
}

// visibleJSON escapes, inside a JSON text, what a terminal might act on. It
// stays the same JSON value.
func visibleJSON(b []byte) []byte {
	s := string(b)
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && dangerous(r) }) {
		return b
	}
	out := make([]byte, 0, len(b)+32)
	for _, r := range s {
		switch {
		case r == '\n' || !dangerous(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// isTerminal tells whether a person sits at the other end of f.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	fi, err := file.Stat()
	if err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device too
	return err != nil || !os.SameFile(fi, null)
}

// table writes rows with their columns aligned; the last column is as long as
// it is. East Asian wide characters count as two.
func table(w io.Writer, indent string, rows [][]string) error {
	var width []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], columns(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := indent
		for i, c := range r {
			line += c
			if i < len(r)-1 {
				line += strings.Repeat(" ", width[i]-columns(c)+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns is how many cells of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) || r == '\u200d' || r == '\ufe0f':
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
			r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd):
			n += 2
		default:
			n++
		}
	}
	return n
}

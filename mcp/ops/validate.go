package ops

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"steward/ledger"
)

// decode checks args against s and fills v, a struct of the type s was built
// from, in one walk over the bytes. Nothing is converted that the caller did
// not say: a wrong type, null, an unknown or a repeated key is refused. The
// first fault ends the walk; it is a *ledger.FieldError.
func (s *Schema) decode(args []byte, v reflect.Value) error {
	w := walker{scanner{b: args}}
	switch c := w.peek(); {
	case c == 0 && w.i >= len(args):
		return s.finish(v, 0)
	case c == 'n':
		if word, err := w.word(); err != nil || word != "null" {
			return w.broken("an object")
		}
		if w.peek(); w.i >= len(args) {
			return s.finish(v, 0)
		}
		return w.broken("nothing")
	case c != '{':
		return &ledger.FieldError{Field: "arguments", Rule: "an object", Got: kindOf(c)}
	}
	if err := w.object(s, v, 1); err != nil {
		var fe *ledger.FieldError
		if errors.As(err, &fe) && fe.Field == "" {
			err = under(err, "arguments") // a bad key has no field of its own
		}
		return err
	}
	if w.peek(); w.i < len(args) {
		return w.broken("nothing after the object")
	}
	return nil
}

// walker validates while it reads.
type walker struct{ scanner }

// object reads the members of the object that opens here into the struct v.
func (w *walker) object(s *Schema, v reflect.Value, depth int) error {
	var seen uint64
	w.i++
	if !w.take('}') {
		for {
			if w.peek() != '"' {
				return w.broken("a key")
			}
			key, err := w.str()
			if err != nil {
				return err
			}
			n := s.find(key)
			if n < 0 && depth == 1 && key.is(clientsOwn) && w.flag() {
				if w.take(',') {
					continue
				}
				if w.take('}') {
					break
				}
				return w.broken("',' or '}'")
			}
			if n < 0 {
				return &ledger.FieldError{Field: ledger.Clip(key.String(), 64), Rule: "no such field; known are " + s.names()}
			}
			p := &s.Props[n]
			if seen&(1<<n) != 0 {
				return &ledger.FieldError{Field: p.Name, Rule: "once", Got: "it again"}
			}
			if !w.take(':') {
				return w.broken("a colon")
			}
			given, err := w.value(p.Schema, v.Field(p.index), depth)
			if err != nil {
				return under(err, p.Name)
			}
			seen |= 1 << n
			if !given && p.Required {
				return &ledger.FieldError{Field: p.Name, Rule: p.rule, Got: "a blank text"}
			}
			if !given {
				p.fill(v.Field(p.index))
			}
			if w.take(',') {
				continue
			}
			if w.take('}') {
				break
			}
			return w.broken("',' or '}'")
		}
	}
	return s.finish(v, seen)
}

// clientsOwn is a field that Gemini CLI (0.61.0) adds to every tool it shows its
// model and sends on to the server. It speaks to the client's own scheduler, so
// as a truth value it is passed over; refused, each such call would cost the
// model a second one. Every other unknown field is refused.
const clientsOwn = "wait_for_previous"

// flag reads a colon and true or false; otherwise it reads nothing.
func (w *walker) flag() bool {
	at := w.i
	if w.take(':') {
		if c := w.peek(); c == 't' || c == 'f' {
			if word, err := w.word(); err == nil && (word == "true" || word == "false") {
				return true
			}
		}
	}
	w.i = at
	return false
}

// find returns the place of key among the properties, -1 for none.
func (s *Schema) find(key text) int {
	for i := range s.Props {
		if key.is(s.Props[i].Name) {
			return i
		}
	}
	return -1
}

// finish wants every required property and presets the absent ones.
func (s *Schema) finish(v reflect.Value, seen uint64) error {
	for i := range s.Props {
		if seen&(1<<i) != 0 {
			continue
		}
		p := &s.Props[i]
		if p.Required {
			rule := p.rule
			if p.kind != aString || p.Words != nil && !p.open {
				rule = "required, " + rule
			}
			return &ledger.FieldError{Field: p.Name, Rule: rule, Got: "nothing"}
		}
		p.fill(v.Field(p.index))
	}
	return nil
}

// fill gives an absent value its preset.
func (s *Schema) fill(v reflect.Value) {
	switch {
	case s.preset == "":
	case s.kind == aString:
		v.SetString(s.preset)
	default:
		n, _ := strconv.ParseInt(s.preset, 10, 64) // checked when the schema was built
		v.SetInt(n)
	}
}

// value reads one value. given is false for a text that says nothing, which
// counts as absent: clients fill in what they leave out with "".
func (w *walker) value(s *Schema, v reflect.Value, depth int) (given bool, err error) {
	c := w.peek()
	want := ""
	switch s.kind {
	case aString:
		if c == '"' {
			return w.string(s, v)
		}
		want = "a string"
	case anInteger:
		if c == '-' || c >= '0' && c <= '9' {
			return true, w.integer(s, v)
		}
		want = s.rule
	case aBoolean:
		if c == 't' || c == 'f' {
			word, err := w.word()
			if err != nil {
				return false, err
			}
			target(s, v).SetBool(word == "true")
			return true, nil
		}
		want = "true or false"
	case aStruct:
		if c == '{' {
			return true, w.object(s, v, depth+1)
		}
		want = "an object"
	case aList:
		if c == '[' {
			return true, w.list(s, v, depth+1)
		}
		want = "an array"
	case theMetrics:
		if c == '{' {
			return true, w.metrics(s, v)
		}
		want = "an object of numbers"
	case theObject:
		if c == '{' {
			return true, w.free(s, v)
		}
		want = "an object"
	}
	got := kindOf(c)
	switch {
	case c == 'n':
		got = "null (leave it out instead)"
	case c == 0 || got == "no JSON":
		return false, w.broken("a value")
	}
	return false, &ledger.FieldError{Rule: want, Got: got}
}

// target returns v, or for a pointer a new value that it points to from now on.
func target(s *Schema, v reflect.Value) reflect.Value {
	if !s.pointer {
		return v
	}
	v.Set(reflect.New(v.Type().Elem()))
	return v.Elem()
}

func (w *walker) string(s *Schema, v reflect.Value) (given bool, err error) {
	t, err := w.str()
	if err != nil {
		return false, err
	}
	if len(t.raw) == 0 {
		return false, nil
	}
	if s.Max > 0 && int64(t.runes) > s.Max && !(t.brk && s.line) {
		return false, s.tooLong(t.runes)
	}
	str := t.String()
	if t.brk && s.line {
		str = foldLine(str)
		if n := utf8.RuneCountInString(str); s.Max > 0 && int64(n) > s.Max {
			return false, s.tooLong(n)
		}
	}
	if blank(str) {
		return false, nil
	}
	if s.Words != nil && !s.open && !slices.Contains(s.Words, str) {
		return false, &ledger.FieldError{Rule: s.rule, Got: strconv.Quote(ledger.Clip(str, 40))}
	}
	v.SetString(str)
	return true, nil
}

func (s *Schema) tooLong(n int) error {
	return &ledger.FieldError{Rule: "at most " + strconv.FormatInt(s.Max, 10) + " characters", Got: strconv.Itoa(n)}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// foldLine turns each run of line breaks and tabs into one space, as the
// ledger does, so that a length means the same in both places.
func foldLine(s string) string {
	// The limit is checked by the caller, in its own words.
	_ = ledger.Text("", &s, math.MaxInt, true)
	return s
}

func (w *walker) integer(s *Schema, v reflect.Value) error {
	lit, whole, err := w.number()
	if err != nil {
		return err
	}
	n, ok := integer(lit, whole)
	if !ok || s.Min != nil && n < *s.Min || s.Max > 0 && n > s.Max {
		return &ledger.FieldError{Rule: s.rule, Got: ledger.Clip(string(lit), 40)}
	}
	target(s, v).SetInt(n)
	return nil
}

// integer reads a literal that is a whole number, also one written 20.0 or 2e1.
func integer(lit []byte, whole bool) (int64, bool) {
	if whole {
		n, err := strconv.ParseInt(string(lit), 10, 64)
		return n, err == nil
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func (w *walker) list(s *Schema, v reflect.Value, depth int) error {
	n := 0
	err := w.each('[', func() error {
		if n++; int64(n) > s.Max {
			return w.skip(depth) // only counted, so that the refusal can say how many came
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if _, err := w.value(s.Items, item, depth); err != nil {
			return index(err, n-1)
		}
		v.Set(reflect.Append(v, item))
		return nil
	})
	if err == nil && int64(n) > s.Max {
		return &ledger.FieldError{Rule: s.rule, Got: strconv.Itoa(n)}
	}
	return err
}

// under puts a refusal below the named field. Faults in the JSON itself keep
// the place they name.
func under(err error, name string) error {
	var fe *ledger.FieldError
	if !errors.As(err, &fe) || fe.Field == "arguments" {
		return err
	}
	at := *fe
	switch {
	case fe.Field == "":
		at.Field = name
	case fe.Field[0] == '[':
		at.Field = name + fe.Field
	default:
		at.Field = name + "." + fe.Field
	}
	return &at
}

// index puts a refusal below the nth item of a list.
func index(err error, n int) error {
	return under(err, "["+strconv.Itoa(n)+"]")
}

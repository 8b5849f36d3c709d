package ops

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"

	"steward/ledger"
)

// Ordered is an argument of metrics: an object of finite numbers that keeps
// its keys in the order in which they were written.
type Ordered ledger.Metrics

// Split returns the first n metrics and the names of the others.
func (o Ordered) Split(n int) (kept ledger.Metrics, dropped []string) {
	if len(o) <= n {
		return ledger.Metrics(o), nil
	}
	for _, m := range o[n:] {
		dropped = append(dropped, m.Key)
	}
	return ledger.Metrics(o[:n]), dropped
}

// metrics reads an object of numbers. Keys beyond the limit are only counted.
func (w *walker) metrics(s *Schema, v reflect.Value) error {
	out := make(Ordered, 0, 4)
	var names map[string]bool // only once the list is long
	n := 0
	err := w.each('{', func() error {
		if w.peek() != '"' {
			return w.broken("a key")
		}
		t, err := w.str()
		if err != nil {
			return err
		}
		if !w.take(':') {
			return w.broken("a colon")
		}
		if n++; int64(n) > s.Max {
			return w.skip(1) // only counted
		}
		key, err := metricKey(t)
		if err != nil {
			return err
		}
		if names == nil && len(out) >= 16 {
			names = make(map[string]bool, 64)
			for _, m := range out {
				names[m.Key] = true
			}
		}
		if names[key] || names == nil && out.has(key) {
			return &ledger.FieldError{Field: key, Rule: "once", Got: "it again"}
		}
		if names != nil {
			names[key] = true
		}
		c := w.peek()
		if c != '-' && (c < '0' || c > '9') {
			if c == 0 {
				return w.broken("a number")
			}
			return &ledger.FieldError{Field: key, Rule: "a finite number", Got: kindOf(c)}
		}
		lit, whole, err := w.number()
		if err != nil {
			return err
		}
		number, ok := finite(lit, whole)
		if !ok {
			return &ledger.FieldError{Field: key, Rule: "a finite number", Got: ledger.Clip(string(lit), 40)}
		}
		out = append(out, ledger.Metric{Key: key, Value: number})
		return nil
	})
	if err != nil {
		return err
	}
	if int64(n) > s.Max {
		return &ledger.FieldError{Rule: s.rule, Got: strconv.Itoa(n)}
	}
	if n > 0 {
		*v.Addr().Interface().(*Ordered) = out
	}
	return nil
}

func (o Ordered) has(key string) bool {
	for i := range o {
		if o[i].Key == key {
			return true
		}
	}
	return false
}

func metricKey(t text) (string, error) {
	key := t.String()
	if t.brk {
		key = foldLine(key)
	}
	if n := utf8.RuneCountInString(key); n > ledger.MaxMetricKey || blank(key) {
		got := strconv.Itoa(n)
		if n <= ledger.MaxMetricKey {
			got = "a blank text"
		}
		return "", &ledger.FieldError{Rule: "keys of 1 to 64 characters", Got: got}
	}
	return key, nil
}

// finite returns the literal as it was written, or the shortest form of the
// same number when it is needlessly long.
func finite(lit []byte, whole bool) (json.Number, bool) {
	if whole && len(lit) <= 32 {
		return json.Number(lit), true
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || math.IsInf(f, 0) {
		return "", false
	}
	if len(lit) > 32 {
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), true
	}
	return json.Number(lit), true
}

// Object is an argument of free form: compact JSON of one object, its keys in
// the order in which they were written, none twice.
type Object json.RawMessage

// free reads an object of any form.
func (w *walker) free(s *Schema, v reflect.Value) error {
	c := compacter{scanner: scanner{b: w.b, i: w.i}, levels: s.levels}
	if err := c.value(1); err != nil {
		return err
	}
	w.i = c.i
	if len(c.out) > s.bytes {
		return &ledger.FieldError{Rule: s.rule, Got: strconv.Itoa(len(c.out))}
	}
	*v.Addr().Interface().(*Object) = c.out
	return nil
}

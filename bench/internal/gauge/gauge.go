// Package gauge turns repeated measurements into the rows that `make bench`
// prints: two measured medians, their ratio, and the bar the ratio has to reach.
package gauge

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Median returns the middle of xs, the mean of the two middle ones when their
// number is even, and 0 when there are none. xs keeps its order.
func Median(xs []float64) float64 { return Quantile(xs, 0.5) }

// Quantile returns the q-th quantile (0 ≤ q ≤ 1) of xs by linear interpolation
// between neighbours, and 0 when xs is empty. xs keeps its order.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	at := q * float64(len(s)-1)
	low := int(at)
	if low >= len(s)-1 {
		return s[len(s)-1]
	}
	return s[low] + (at-float64(low))*(s[low+1]-s[low])
}

// Interleave calls every measure once a round, in turn, and returns the median
// of each. Taking turns lets a slow minute of the machine fall on all of them.
func Interleave(rounds int, measures ...func() (float64, error)) ([]float64, error) {
	got := make([][]float64, len(measures))
	for range rounds {
		for i, measure := range measures {
			v, err := measure()
			if err != nil {
				return nil, err
			}
			got[i] = append(got[i], v)
		}
	}
	medians := make([]float64, len(measures))
	for i, g := range got {
		medians[i] = Median(g)
	}
	return medians, nil
}

// Unit says how a figure is written.
type Unit uint8

// The units of figures.
const (
	PerSecond Unit = iota // calls a second
	Seconds               // written in µs, ms or s, whichever fits
	Bytes                 // written in B, KiB or MiB
	Count                 // a plain number
)

// Figure is one measured value, or a fixed limit, with its name.
type Figure struct {
	Name  string
	Value float64
}

// Row compares Ours with Theirs, both in Unit. Its ratio is Ours/Theirs, or
// Theirs/Ours when Times is set: then it says how many times less ours is. The
// bar is the least ratio wanted, or with AtMost the greatest.
type Row struct {
	Name         string
	Unit         Unit
	Ours, Theirs Figure
	Times        bool
	Bar          float64
	AtMost       bool
}

// Ratio returns what is held against the bar.
func (r Row) Ratio() float64 {
	a, b := r.Ours.Value, r.Theirs.Value
	if r.Times {
		a, b = b, a
	}
	if b == 0 {
		return 0
	}
	return a / b
}

// OK tells whether the ratio reaches the bar.
func (r Row) OK() bool {
	if r.AtMost {
		return r.Ratio() <= r.Bar
	}
	return r.Ratio() >= r.Bar
}

// String returns the row's one line.
func (r Row) String() string {
	verdict, sign := "ok", "≥"
	if r.AtMost {
		sign = "≤"
	}
	if !r.OK() {
		verdict = "MISS"
	}
	return fmt.Sprintf("%-4s  %-46s  %s %s  |  %s %s  |  ratio %s (bar %s %s)", verdict, r.Name,
		r.Ours.Name, r.Unit.Text(r.Ours.Value), r.Theirs.Name, r.Unit.Text(r.Theirs.Value),
		short(r.Ratio()), sign, short(r.Bar))
}

// Print writes the rows, one a line.
func Print(w io.Writer, rows ...Row) {
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
}

// Text writes v with the unit.
func (u Unit) Text(v float64) string {
	switch u {
	case PerSecond:
		return fmt.Sprintf("%.0f/s", v)
	case Seconds:
		d := time.Duration(v * float64(time.Second))
		switch {
		case d < 10*time.Millisecond:
			return fmt.Sprintf("%.0f µs", v*1e6)
		case d < 10*time.Second:
			return fmt.Sprintf("%.1f ms", v*1e3)
		}
		return fmt.Sprintf("%.1f s", v)
	case Bytes:
		switch {
		case v < 10_000:
			return fmt.Sprintf("%.0f B", v)
		case v < 1<<20:
			return fmt.Sprintf("%.0f KiB", v/(1<<10))
		}
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	}
	return fmt.Sprintf("%.0f", v)
}

func short(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

package gauge

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		q    float64
		want float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0.99, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{0, 10}, 0.25, 2.5},
		{[]float64{1, 2, 3}, 1, 3},
	} {
		before := slices.Clone(c.xs)
		if got := Quantile(c.xs, c.q); got != c.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.xs, c.q, got, c.want)
		}
		if !slices.Equal(before, c.xs) {
			t.Errorf("Quantile reordered %v to %v", before, c.xs)
		}
	}
}

func TestInterleaveTakesTurns(t *testing.T) {
	var order strings.Builder
	say := func(name string, values ...float64) func() (float64, error) {
		i := 0
		return func() (float64, error) {
			order.WriteString(name)
			i++
			return values[i-1], nil
		}
	}
	got, err := Interleave(3, say("a", 1, 9, 2), say("b", 5, 4, 6))
	if err != nil || !slices.Equal(got, []float64{2, 5}) || order.String() != "ababab" {
		t.Fatalf("medians %v, order %s, error %v", got, order.String(), err)
	}
	broken := errors.New("broken")
	if _, err := Interleave(2, func() (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Fatalf("error %v, want the measure's own", err)
	}
}

func TestRow(t *testing.T) {
	for _, c := range []struct {
		row  Row
		ok   bool
		want string
	}{
		{Row{Name: "n", Ours: Figure{"us", 50}, Theirs: Figure{"them", 100}, Bar: 0.4}, true, "us 50/s  |  them 100/s  |  ratio 0.50 (bar ≥ 0.40)"},
		{Row{Name: "n", Ours: Figure{"us", 30}, Theirs: Figure{"them", 100}, Bar: 0.4}, false, "ratio 0.30"},
		{Row{Name: "n", Unit: Seconds, Ours: Figure{"us", 0.005}, Theirs: Figure{"them", 0.030}, Times: true, Bar: 4}, true, "us 5000 µs  |  them 30.0 ms  |  ratio 6.00 (bar ≥ 4.00)"},
		{Row{Name: "n", Unit: Bytes, Ours: Figure{"file", 330}, Theirs: Figure{"limit", 320}, Bar: 1, AtMost: true}, false, "file 330 B  |  limit 320 B  |  ratio 1.03 (bar ≤ 1.00)"},
		{Row{Name: "n", Ours: Figure{"us", 3}, Theirs: Figure{"them", 0}, Bar: 1}, false, "ratio 0.00"},
	} {
		line := c.row.String()
		if c.row.OK() != c.ok || !strings.Contains(line, c.want) || strings.HasPrefix(line, "MISS") == c.ok {
			t.Errorf("got %q (ok %v), want %q (ok %v)", line, c.row.OK(), c.want, c.ok)
		}
	}
}

package update

import "testing"

func TestCompare(t *testing.T) {
	// Each is older than the next.
	row := []string{"0.1.0-dev", "0.1.0", "0.2.0-alpha", "0.2.0-alpha.1", "0.2.0-alpha.beta", "0.2.0-beta.2", "0.2.0-beta.11", "0.2.0", "v0.10.0", "1.0.0"}
	for i, a := range row {
		for j, b := range row {
			want := max(-1, min(1, i-j))
			if got := Compare(a, b); got != want {
				t.Errorf("Compare(%s, %s) = %d; want %d", a, b, got, want)
			}
		}
	}
	if Compare("1.0.0+abc", "1.0.0+def") != 0 {
		t.Error("build metadata must not count")
	}
}

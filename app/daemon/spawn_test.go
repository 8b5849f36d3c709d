package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestStartedFrom(t *testing.T) {
	folder := t.TempDir()
	program, other := filepath.Join(folder, "steward-1"), filepath.Join(folder, "other")
	for _, name := range []string{program, other} {
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	same := filepath.Join(folder, "steward")
	if err := os.Link(program, same); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	is := func(path string) func() (string, error) { return func() (string, error) { return path, nil } }
	finds := func(path string) func(string) (string, error) {
		return func(string) (string, error) { return path, nil }
	}
	unknown := func() (string, error) { return "", errors.New("no /proc") }
	missing := func(string) (string, error) { return "", errors.New("not on PATH") }

	for _, c := range []struct {
		what string
		exe  func() (string, error)
		look func(string) (string, error)
		want string
	}{
		{"under another name", is(program), finds("steward"), same},
		{"the name leads elsewhere", is(program), finds(other), program},
		{"the name leads nowhere", is(program), missing, program},
		{"the name has gone", is(program), finds(filepath.Join(folder, "gone")), program},
		{"the system does not say", unknown, finds("steward"), same},
		{"nothing is known", unknown, missing, ""},
	} {
		if got := startedFrom("steward", c.exe, c.look); got != c.want {
			t.Errorf("%s: %q; want %q", c.what, got, c.want)
		}
	}
}

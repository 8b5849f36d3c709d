package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/mcp/ops"
)

// opener puts a program in the place of xdg-open that notes what it is given.
func opener(t *testing.T, end string) (d desktop, given func() string) {
	t.Helper()
	dir := t.TempDir()
	note := filepath.Join(dir, "given")
	script := fmt.Sprintf("#!/bin/sh\nprintf '[%%s]' \"$@\" \"$STEWARD_TOKEN$READYROOM_TOKEN$STEWARD_AGENT_TOKEN\" \"$LANG\" >%[1]s.new\nmv %[1]s.new %[1]s\n%[2]s\n", note, end)
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	e := Env{"PATH": os.Getenv("PATH"), "DISPLAY": ":99", "LANG": "C", "STEWARD_TOKEN": "a", "READYROOM_TOKEN": "b", "STEWARD_AGENT_TOKEN": "c"}
	return desktop{e}, func() string {
		for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // another process writes it
			b, err := os.ReadFile(note)
			if err == nil {
				return string(b)
			}
			if !errors.Is(err, fs.ErrNotExist) || time.Now().After(limit) {
				t.Fatal(err)
			}
		}
	}
}

func TestDesktop(t *testing.T) {
	odd := "/a b/$(touch x);'\"`\n.txt"
	for _, c := range []struct {
		open func(desktop) error
		want string
	}{
		{func(d desktop) error { return d.Open(context.Background(), odd) }, "[" + odd + "][][C]"},
		{func(d desktop) error { return d.Show(context.Background(), odd) }, "[" + filepath.Dir(odd) + "][][C]"},
		{func(d desktop) error { return Browse(context.Background(), d.env, "http://127.0.0.1:1/#code=x") }, "[http://127.0.0.1:1/#code=x][][C]"},
	} {
		d, given := opener(t, "exit 0")
		if err := c.open(d); err != nil || given() != c.want {
			t.Errorf("%v; given %q, want %q", err, given(), c.want)
		}
	}
}

// One that goes on is the program itself, and outlives the call.
func TestDesktopProgramGoesOn(t *testing.T) {
	// It ends when the test's folder is removed.
	d, given := opener(t, "while [ -d "+t.TempDir()+" ]; do sleep 0.05; done")
	begin := time.Now()
	if err := d.Open(t.Context(), "/x"); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < startWithin {
		t.Errorf("it was watched for %v", took)
	}
	given()
}

func TestDesktopThatFails(t *testing.T) {
	d, _ := opener(t, "exit 3")
	if err := d.Open(t.Context(), "/x"); ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v", err)
	}
	delete(d.env, "DISPLAY")
	if err := d.Open(t.Context(), "/x"); ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), "no desktop") {
		t.Errorf("without a desktop: %v", err)
	}
	d.env["WAYLAND_DISPLAY"] = "wayland-0"
	t.Setenv("PATH", t.TempDir())
	if err := d.Open(t.Context(), "/x"); ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("without xdg-open: %v", err)
	}
}

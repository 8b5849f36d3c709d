package local

import (
	"runtime"
	"strings"
	"testing"
)

func TestStreamName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths below are Unix paths")
	}
	type env map[string]string
	for _, c := range []struct {
		env             env
		cwd, home, want string
	}{
		{nil, "/home/a/api", "/home/a", "api"},
		{nil, "/home/a/api/", "/home/a", "api"},
		{nil, "/home/a/a/../api", "/home/a", "api"},
		{nil, "/home/a", "/home/a/", ""},
		{nil, "/home/b", "/home/a", "b"},
		{nil, "/", "/home/a", ""},
		{nil, "", "/home/a", ""},
		{nil, ".", "", ""},
		{nil, "/tmp", "/home/a", ""},
		{nil, "/tmp/try", "/home/a", "try"},
		{nil, "/usr/bin", "/home/a", ""},
		{nil, "/usr/lib/claude/resources", "/home/a", ""},
		{nil, "/usr/src/app", "/home/a", "app"},
		{nil, "/Applications/Claude.app/Contents", "/Users/a", ""},
		{nil, "/opt/work", "/home/a", "work"},
		{nil, "/opt", "/home/a", ""},
		{nil, "/libs", "", "libs"},
		{nil, "/srv/a\nb\x00c", "", "a b c"},
		{nil, "/srv/" + strings.Repeat("é", 200), "", strings.Repeat("é", 128)},
		{nil, "/srv/x\xff", "", "x"},
		{env{"STEWARD_STREAM": "mine", "READYROOM_STREAM": "old"}, "/", "", "mine"},
		{env{"STEWARD_STREAM": " \t", "READYROOM_STREAM": " old "}, "/srv/api", "", "old"},
		{env{"STEWARD_STREAM": "a\nb"}, "", "", "a b"},
	} {
		if got := StreamName(func(k string) string { return c.env[k] }, c.cwd, c.home); got != c.want {
			t.Errorf("%v, cwd %q, home %q: got %q, want %q", c.env, c.cwd, c.home, got, c.want)
		}
	}
}

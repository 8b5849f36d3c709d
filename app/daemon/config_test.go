package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseConfig(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"", ""},
		{"{}", ""},
		{"\xef\xbb\xbf{}", ""},
		{`{"targets":["a","b"],"log_level":"debug"}`, ""},
		{`{"target":["a"]}`, "target: an unknown key; known are log_level, targets"},
		{`{"log_level":"info","log_level":"info"}`, "log_level: given twice"},
		{`{"log_level":"loud"}`, "log_level: one of debug, info, warn, error; got loud"},
		{`{"log_level":3}`, "log_level: one of debug, info, warn, error; got 3"},
		{`{"targets":"a"}`, "targets: a list of names"},
		{`{"targets":null}`, "targets: a list of names"},
		{`{"targets":[]}`, "targets: 1 to 64 names; got 0"},
		{`{"targets":["a",""]}`, "an empty one"},
		{`{"targets":["a","a "]}`, "got a twice"},
		{`{"targets":["` + strings.Repeat("é", 65) + `"]}`, "at most 64 characters; got 65"},
		{`[]`, "one JSON object"},
		{`{"log_level":`, "not JSON"},
		{`{"log_level":"info"`, "not JSON"},
		{`{} {}`, "something follows"},
	} {
		got, err := parseConfig([]byte(c.text))
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v; want %q", c.text, err, c.err)
		case err == nil && len(got.Targets) == 0:
			t.Errorf("%s: no targets", c.text)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{"", `{"targets":["a"]}`, `{"log_level":"warn"}`, `{"x":{}}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseConfig(b)
		if err == nil && (len(c.Targets) == 0 || len(c.Targets) > maxTargets) {
			t.Errorf("%q: accepted with %d targets", b, len(c.Targets))
		}
	})
}

// clockwork is a clock that stands still until it is moved.
type clockwork struct{ at time.Time }

func (c *clockwork) now() time.Time       { return c.at }
func (c *clockwork) pass(d time.Duration) { c.at = c.at.Add(d) }
func changeConfig(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	write(t, path, []byte(text))
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsFollowTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	clock := &clockwork{time.Unix(1e9, 0)}
	s := NewSettings(path, nil)
	s.now, s.looked = clock.now, clock.at
	var log bytes.Buffer
	s.SetLogger(slog.New(slog.NewTextHandler(&log, nil)))
	want := func(when string, targets ...string) {
		t.Helper()
		if got := s.Targets(); !slices.Equal(got, targets) {
			t.Errorf("%s: targets %v; want %v", when, got, targets)
		}
	}
	want("without a file", "studio", "dj", "library")
	changeConfig(t, path, `{"targets":["a"],"log_level":"debug"}`, clock.at)
	want("within the second", "studio", "dj", "library")
	clock.pass(time.Second)
	want("a second later", "a")
	if s.Level.Level() != slog.LevelDebug {
		t.Errorf("level %v; want debug", s.Level.Level())
	}
	changeConfig(t, path, `{"targets":["b"],"color":"red"}`, clock.at.Add(time.Hour))
	clock.pass(time.Second)
	want("with a mistake: the last good one", "a")
	if err := s.Problem(); err == nil || !strings.Contains(err.Error(), "color: an unknown key") || !strings.Contains(err.Error(), path) {
		t.Errorf("problem %v; want it to name the file and the key", err)
	}
	clock.pass(time.Second)
	want("still", "a")
	if n := strings.Count(log.String(), "color"); n != 1 {
		t.Errorf("the mistake was reported %d times; want once\n%s", n, log.String())
	}
	changeConfig(t, path, `{"targets":["c"]}`, clock.at.Add(2*time.Hour))
	clock.pass(-time.Hour)
	want("repaired, and the clock set back", "c")
	if err := s.Problem(); err != nil {
		t.Errorf("problem %v; want none", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Second)
	want("removed", "studio", "dj", "library")
}

func TestEnvironmentComesBeforeTheFile(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "config.json"), []byte(`{"targets":["file"],"log_level":"error"}`))
	s := NewSettings(path, Env{"STEWARD_TARGETS": "x, y", "STEWARD_LOG_LEVEL": "warn"})
	if c := s.Config(); !slices.Equal(c.Targets, []string{"x", "y"}) || c.LogLevel != slog.LevelWarn {
		t.Errorf("%+v; want x, y and warn", c)
	}
	s = NewSettings(path, Env{"STEWARD_TARGETS": "x,x", "STEWARD_LOG_LEVEL": "loud"})
	if c := s.Config(); !slices.Equal(c.Targets, []string{"file"}) || c.LogLevel != slog.LevelError {
		t.Errorf("%+v; want what the file says", c)
	}
	if err := s.Problem(); err == nil || !strings.Contains(err.Error(), "STEWARD_TARGETS") || !strings.Contains(err.Error(), "STEWARD_LOG_LEVEL") {
		t.Errorf("problem %v; want both named", err)
	}
	s = NewSettings(filepath.Join(t.TempDir(), "none"), Env{"STEWARD_TARGETS": "x"})
	if got := s.Targets(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("without a file: %v; want x", got)
	}
}

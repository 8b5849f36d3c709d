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
		{`{"target":["a"]}`, "target: an unknown key; known are allowed_origins, backup_daily, language, listen, log_level, single_keys, targets, theme, update_check"},
		{`{"log_level":"info","log_level":"info"}`, "log_level: given twice"},
		{`{"log_level":"loud"}`, "log_level: one of debug, info, warn, error; got loud"},
		{`{"log_level":3}`, "log_level: one of debug, info, warn, error; got 3"},
		{`{"targets":"a"}`, "targets: a list of names"},
		{`{"targets":null}`, "targets: a list of names"},
		{`{"targets":[]}`, "targets: 1 to 64 names; got 0"},
		{`{"targets":["a",""]}`, "an empty one"},
		{`{"targets":["a","a "]}`, "got a twice"},
		{`{"targets":["` + strings.Repeat("é", 65) + `"]}`, "at most 64 characters; got 65"},
		{`{"listen":"127.0.0.1:9000","allowed_origins":["https://a.example"],"backup_daily":false}`, ""},
		{`{"listen":"","allowed_origins":[]}`, ""},
		{`{"listen":8971}`, `listen: an address such as "127.0.0.1:8971", or "" for none; got 8971`},
		{`{"listen":null}`, "listen: an address"},
		{`{"listen":"steward.lan:8971"}`, "listen: ADDRESS:PORT, the address an IP address or localhost, the port 1 to 65535; got steward.lan:8971"},
		{`{"allowed_origins":"https://a.example"}`, "allowed_origins: a list of names"},
		{`{"allowed_origins":["a.example"]}`, "allowed_origins: an origin is scheme://host"},
		{`{"allowed_origins":["https://a.example/page"]}`, "allowed_origins: an origin is scheme://host"},
		{`{"backup_daily":"yes"}`, `backup_daily: true or false; got "yes"`},
		{`{"backup_daily":null}`, "backup_daily: true or false; got null"},
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

func TestListenComesFromItsParts(t *testing.T) {
	for _, c := range []struct {
		file string
		env  Env
		want string
	}{
		{`{}`, Env{}, ""},
		{`{"listen":"8000"}`, Env{}, "127.0.0.1:8000"},
		{`{"listen":" localhost "}`, Env{}, "127.0.0.1:8971"},
		{`{}`, Env{"STEWARD_PORT": "9000"}, "127.0.0.1:9000"},
		{`{}`, Env{"STEWARD_BIND": "::1"}, "[::1]:8971"},
		{`{}`, Env{"STEWARD_BIND": "0.0.0.0", "STEWARD_PORT": "9000"}, "0.0.0.0:9000"},
		{`{}`, Env{"READYROOM_BIND": "127.0.0.2", "READYROOM_PORT": "9000"}, "127.0.0.2:9000"},
		{`{}`, Env{"STEWARD_PORT": "9001", "READYROOM_PORT": "9000"}, "127.0.0.1:9001"},
		{`{"listen":"[::1]:8000"}`, Env{"STEWARD_PORT": "9000"}, "[::1]:9000"},
		{`{"listen":"127.0.0.1:8000"}`, Env{"STEWARD_BIND": "localhost"}, "127.0.0.1:8000"},
		{`{"listen":"127.0.0.1:8000"}`, Env{"STEWARD_PORT": "70000"}, "127.0.0.1:8000"},
		{`{"listen":""}`, Env{"STEWARD_PORT": " "}, ""},
	} {
		path := write(t, filepath.Join(t.TempDir(), "config.json"), []byte(c.file))
		s := NewSettings(path, c.env)
		if got := s.Config().Listen; got != c.want {
			t.Errorf("%s under %v: %q; want %q", c.file, c.env, got, c.want)
		}
		if bad := c.env["STEWARD_PORT"] == "70000"; bad != (s.Problem() != nil) || bad && !strings.Contains(s.Problem().Error(), "STEWARD_PORT: a port, 1 to 65535; got 70000") {
			t.Errorf("%s under %v: problem %v", c.file, c.env, s.Problem())
		}
	}
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
	s = NewSettings(path, Env{"STEWARD_BACKUP_DAILY": "False", "READYROOM_ALLOWED_ORIGINS": "https://a.example, https://b.example:8443,"})
	if c := s.Config(); c.BackupDaily || !slices.Equal(c.AllowedOrigins, []string{"https://a.example", "https://b.example:8443"}) || s.Problem() != nil {
		t.Errorf("%+v, %v; want no daily copies and two origins", c, s.Problem())
	}
	s = NewSettings(filepath.Join(t.TempDir(), "none"), Env{"STEWARD_TARGETS": "x"})
	if got := s.Targets(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("without a file: %v; want x", got)
	}
}

package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"steward/ledger"
)

// Config is what a person may set. The zero value of no field has a meaning:
// take a Config from Settings.
type Config struct {
	Targets  []string   // to whom work may be handed, in the order written
	LogLevel slog.Level // records below it are not written
}

const (
	maxConfig  = 1 << 20 // bytes of config.json
	maxTargets = 64
	maxTarget  = 64 // characters of one target
	lookEvery  = time.Second
)

func defaults() Config {
	return Config{Targets: []string{"studio", "dj", "library"}, LogLevel: slog.LevelInfo}
}

// keys of config.json, and how each is read.
var configKeys = map[string]func(*Config, json.RawMessage) error{
	"targets": func(c *Config, raw json.RawMessage) error {
		var names []string
		if err := json.Unmarshal(raw, &names); err != nil || names == nil {
			return errors.New(`targets: a list of names such as ["studio","dj"]; got ` + ledger.Clip(string(raw), 40))
		}
		return c.setTargets("targets", names)
	},
	"log_level": func(c *Config, raw json.RawMessage) error {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return errors.New("log_level: one of debug, info, warn, error; got " + ledger.Clip(string(raw), 40))
		}
		return c.setLevel("log_level", name)
	},
}

func (c *Config) setTargets(field string, names []string) error {
	if len(names) == 0 || len(names) > maxTargets {
		return fmt.Errorf("%s: 1 to %d names; got %d", field, maxTargets, len(names))
	}
	out := make([]string, 0, len(names))
	for _, n := range names {
		n = strings.TrimSpace(n)
		if n == "" {
			return fmt.Errorf("%s: names of 1 to %d characters; got an empty one", field, maxTarget)
		}
		if err := ledger.Text(field, &n, maxTarget, true); err != nil {
			return err
		}
		if slices.Contains(out, n) {
			return fmt.Errorf("%s: each name once; got %s twice", field, n)
		}
		out = append(out, n)
	}
	c.Targets = out
	return nil
}

func (c *Config) setLevel(field, name string) error {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "debug":
		c.LogLevel = slog.LevelDebug
	case "info":
		c.LogLevel = slog.LevelInfo
	case "warn":
		c.LogLevel = slog.LevelWarn
	case "error":
		c.LogLevel = slog.LevelError
	default:
		return fmt.Errorf("%s: one of debug, info, warn, error; got %s", field, ledger.Clip(name, 40))
	}
	return nil
}

// parseConfig reads config.json's bytes over the defaults. Every key is
// optional; an unknown or repeated one is refused by name.
func parseConfig(b []byte) (Config, error) {
	c := defaults()
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) // editors on Windows write it
	if len(bytes.TrimSpace(b)) == 0 {
		return c, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return c, errors.New("it must be one JSON object, such as {\"log_level\":\"debug\"}")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return c, notJSON(err)
		}
		key := t.(string) // inside an object the decoder gives only text as a key
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return c, notJSON(err)
		}
		read, known := configKeys[key]
		switch {
		case !known:
			return c, fmt.Errorf("%s: an unknown key; known are %s", ledger.Clip(key, 64), knownKeys())
		case seen[key]:
			return c, fmt.Errorf("%s: given twice", key)
		}
		seen[key] = true
		if err := read(&c, raw); err != nil {
			return c, err
		}
	}
	if _, err := d.Token(); err != nil {
		return c, notJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("something follows the JSON object")
	}
	return c, nil
}

func notJSON(err error) error { return fmt.Errorf("it is not JSON: %w", err) }

func knownKeys() string {
	names := make([]string, 0, len(configKeys))
	for k := range configKeys {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Settings is config.json as it is now, under what the environment says. The
// file is looked at again when a setting is used, at most once a second; a
// version with a mistake in it is reported and the last good one stays. A
// mistake never keeps anything from starting.
type Settings struct {
	Level slog.LevelVar // follows log_level

	path string
	env  Env
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	mtime   time.Time
	size    int64
	current Config
	problem error
}

// NewSettings reads the file once. log may be nil until SetLogger.
func NewSettings(path string, env Env) *Settings {
	s := &Settings{path: path, env: env, now: time.Now, size: -1, current: defaults()}
	s.Config()
	return s
}

// SetLogger names where a mistake in the file is reported.
func (s *Settings) SetLogger(log *slog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = log
	s.report()
}

// Config returns what counts now.
func (s *Settings) Config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); s.looked.IsZero() || now.Sub(s.looked) >= lookEvery || now.Before(s.looked) {
		s.looked = now
		s.look()
	}
	return s.current
}

// Targets is Config().Targets.
func (s *Settings) Targets() []string { return s.Config().Targets }

// Problem returns what is wrong with the file or the environment, nil if
// nothing is.
func (s *Settings) Problem() error {
	s.Config()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

func (s *Settings) look() {
	fi, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s.size == 0 && s.mtime.IsZero() {
			return
		}
		s.mtime, s.size = time.Time{}, 0
		s.take(defaults(), nil)
	case err != nil:
		s.take(s.current, err)
	case s.size != fi.Size() || !s.mtime.Equal(fi.ModTime()):
		s.mtime, s.size = fi.ModTime(), fi.Size()
		s.take(s.read(fi))
	}
}

func (s *Settings) read(fi fs.FileInfo) (Config, error) {
	if fi.Size() > maxConfig {
		return s.current, fmt.Errorf("at most %d bytes; got %d", maxConfig, fi.Size())
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return s.current, cause(err)
	}
	c, err := parseConfig(b)
	if err != nil {
		return s.current, err
	}
	return c, nil
}

// take makes c current, with the environment over it.
func (s *Settings) take(c Config, err error) {
	if err != nil {
		err = fmt.Errorf("%s: %w", s.path, err)
	}
	if v, name := s.env.First("STEWARD_TARGETS"); v != "" {
		err = errors.Join(err, c.setTargets(name, strings.Split(v, ",")))
	}
	if v, name := s.env.First("STEWARD_LOG_LEVEL"); v != "" {
		err = errors.Join(err, c.setLevel(name, v))
	}
	s.current = c
	s.Level.Set(c.LogLevel)
	if changed := fmt.Sprint(s.problem) != fmt.Sprint(err); changed {
		s.problem = err
		s.report()
	}
}

func (s *Settings) report() {
	if s.problem != nil && s.log != nil {
		s.log.Warn("a setting is not usable; the last good one stays", "problem", s.problem)
	}
}

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"steward/ledger"
)

// lookEvery is how often config.json is looked at, at most.
const lookEvery = time.Second

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
	changed chan struct{} // closed when current is another; nil: nobody waits
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

// Changed returns a channel that is closed when another version of the file has
// been taken. Take it before a look at Config. It looks at nothing by itself.
func (s *Settings) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Targets is Config().Targets.
func (s *Settings) Targets() []string { return s.Config().Targets }

// AllowedOrigins is Config().AllowedOrigins.
func (s *Settings) AllowedOrigins() []string { return s.Config().AllowedOrigins }

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
	b, err := ledger.ReadPlain(s.path, maxConfig)
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
	for _, k := range known {
		if k.set == nil {
			continue
		}
		if v, name := s.env.First(k.names()...); v != "" {
			err = errors.Join(err, k.set(&c, name, v))
		}
	}
	s.current = c
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
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

package daemon

import (
	"log/slog"
	"runtime"
	"strings"
)

// Env is a process's environment. On Windows its names are upper case, as the
// system does not tell them apart.
type Env map[string]string

// NewEnv reads NAME=value pairs as os.Environ returns them; of a repeated name
// the first counts, as in libc.
func NewEnv(pairs []string) Env {
	e := make(Env, len(pairs))
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" { // Windows keeps per-drive folders under names like "=C:"
			continue
		}
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if _, dup := e[name]; !dup {
			e[name] = value
		}
	}
	return e
}

// First returns the value of the first of the names that is set to something
// other than blank, and that name. Newer names stand before older ones.
func (e Env) First(names ...string) (value, name string) {
	for _, n := range names {
		if v := e[n]; strings.TrimSpace(v) != "" {
			return v, n
		}
	}
	return "", ""
}

// IsSet tells whether a variable of the list of settings, or its older name, is
// set to something other than blank.
func (e Env) IsSet(variable string) bool {
	_, name := e.First(names(variable)...)
	return name != ""
}

// Level is STEWARD_LOG_LEVEL, or otherwise when that is not set or no level. It
// is for processes that start too often to read config.json.
func (e Env) Level(otherwise slog.Level) slog.Level {
	c := Config{LogLevel: otherwise}
	if v, name := e.First("STEWARD_LOG_LEVEL"); v != "" {
		_ = c.setLevel(name, v) // the service reports the mistake
	}
	return c.LogLevel
}

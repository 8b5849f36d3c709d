package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"steward/ledger"
	"steward/mcp"
)

// Config is what a person may set. The zero value of no field has a meaning:
// take a Config from Settings.
type Config struct {
	Targets        []string   // to whom work may be handed, in the order written
	LogLevel       slog.Level // records below it are not written
	BackupDaily    bool       // whether the ledger is copied every day
	Listen         string     // host:port that HTTP is served on; "": none. Counts at the start of a service
	AllowedOrigins []string   // that pages may come from, besides the service's own
	Theme          string     // of window and page: system, light or dark
	Language       string     // of window and page: system, en or zh-CN
	SingleKeys     bool       // whether single letters are shortcuts there
	UpdateCheck    bool       // whether the service asks once a day if there is a newer version
}

const (
	maxConfig  = 1 << 20 // bytes of config.json
	maxTargets = 64
	maxTarget  = 64 // characters of one target
	maxOrigins = 64
)

func defaults() Config {
	return Config{
		Targets: []string{"studio", "dj", "library"}, LogLevel: slog.LevelInfo, BackupDaily: true,
		Theme: themes[0], Language: languages[0], SingleKeys: true,
	}
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

// truth reads true or false.
func truth(field string, to *bool, v string) error {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		return fmt.Errorf("%s: true or false; got %s", field, ledger.Clip(v, 40))
	}
	return nil
}

func (c *Config) setOrigins(field string, origins []string) error {
	if len(origins) > maxOrigins {
		return fmt.Errorf("%s: at most %d origins; got %d", field, maxOrigins, len(origins))
	}
	out := make([]string, 0, len(origins))
	for _, o := range origins {
		if o = strings.TrimSpace(o); o == "" {
			continue // a comma at the end
		}
		if _, err := mcp.ParseOrigin(o); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		out = append(out, o)
	}
	c.AllowedOrigins = out
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
		s := settingOf(key)
		switch {
		case s == nil:
			return c, fmt.Errorf("%s: an unknown key; known are %s", ledger.Clip(key, 64), knownKeys())
		case seen[key]:
			return c, fmt.Errorf("%s: given twice", key)
		}
		seen[key] = true
		if err := s.read(&c, key, raw); err != nil {
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

package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// What the person may choose for window and page; the first is the default.
var (
	themes    = []string{"system", "light", "dark"}
	languages = []string{"system", "en", "zh-CN"}
)

// choice is a text that must be one of some.
func choice(field string, to *string, v json.RawMessage, among []string) error {
	var s *string
	if err := json.Unmarshal(v, &s); err != nil || s == nil || !slices.Contains(among, *s) {
		return fmt.Errorf("%s: one of %s; got %s", field, strings.Join(among, ", "), ledger.Clip(string(v), 40))
	}
	*to = *s
	return nil
}

// Preferences is how the person wants window and page to be.
func (s *Settings) Preferences() ops.Preferences { return preferences(s.Config()) }

func preferences(c Config) ops.Preferences {
	return ops.Preferences{Theme: c.Theme, Language: c.Language, SingleKeys: c.SingleKeys, UpdateCheck: c.UpdateCheck}
}

// Prefer writes a change of the preferences into config.json. Everything else
// in the file, and the order of its keys, stays as it is. A file with a mistake
// in it is not touched.
func (s *Settings) Prefer(change ops.PreferenceChange) (ops.Preferences, error) {
	var members []member
	for _, m := range [...]struct {
		key   string
		value any
		said  bool
	}{
		{"theme", change.Theme, change.Theme != nil}, {"language", change.Language, change.Language != nil},
		{"single_keys", change.SingleKeys, change.SingleKeys != nil}, {"update_check", change.UpdateCheck, change.UpdateCheck != nil},
	} {
		if !m.said {
			continue
		}
		b, err := json.Marshal(m.value)
		if err != nil {
			return ops.Preferences{}, err
		}
		members = append(members, member{m.key, b})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rewrite(members); err != nil {
		return ops.Preferences{}, err
	}
	s.looked, s.size = s.now(), -1 // whatever its size and time say, it is another file now
	s.look()
	return preferences(s.current), nil
}

// rewrite puts members into the file.
func (s *Settings) rewrite(members []member) error {
	path, err := filepath.EvalSymlinks(s.path) // a link to it stays one
	if errors.Is(err, fs.ErrNotExist) {
		path, err = s.path, nil
	}
	old := []byte(nil)
	mode := fs.FileMode(0o600)
	if err == nil {
		var fi fs.FileInfo
		if fi, err = os.Stat(path); err == nil {
			mode = fi.Mode().Perm()
			if fi.Size() > maxConfig {
				return unchangeable(s.path, fmt.Errorf("at most %d bytes; got %d", maxConfig, fi.Size()))
			}
			old, err = ledger.ReadPlain(path, maxConfig)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return unchangeable(s.path, cause(err))
	}
	if _, err := parseConfig(old); err != nil {
		return unchangeable(s.path, err)
	}
	edited, err := setMembers(old, members)
	if err == nil {
		_, err = parseConfig(edited)
	}
	if err != nil {
		return unchangeable(s.path, err)
	}
	if err := replaceFile(path, edited, mode); err != nil {
		return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("%s cannot be written: %v", s.path, cause(err)), Hint: "make the state folder writable, then try again", Err: err}
	}
	return nil
}

func unchangeable(path string, err error) error {
	return &ops.Error{Code: ops.Conflict, Message: fmt.Sprintf("%s is not changed: %v", path, err), Hint: "mend the file by hand, then try again", Err: err}
}

// member is one key of an object and its value as JSON.
type member struct {
	key   string
	value []byte
}

// setMembers puts members into a JSON object as its text stands: a value in the
// place of the old one, a new key behind the last one in the same manner.
func setMembers(text []byte, members []member) ([]byte, error) {
	bom := []byte("\xef\xbb\xbf")
	body, had := bytes.CutPrefix(text, bom)
	if !had {
		bom = nil
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{\n}\n")
	}
	if !json.Valid(body) {
		return nil, errors.New("it is not JSON")
	}
	for _, m := range members {
		var err error
		if body, err = setMember(body, m); err != nil {
			return nil, err
		}
	}
	return append(slices.Clone(bom), body...), nil
}

func setMember(text []byte, m member) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	open := d.InputOffset()
	between := "" // what stands before the first key
	last := open
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		if last == open {
			key := bytes.IndexByte(text[open:], '"')
			between = string(text[open : open+int64(key)])
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		last = d.InputOffset()
		if t == m.key {
			return splice(text, last-int64(len(value)), last, m.value), nil
		}
	}
	key, err := json.Marshal(m.key)
	if err != nil {
		return nil, err
	}
	added := slices.Concat(key, []byte(": "), m.value)
	switch {
	case last == open && bytes.ContainsAny(text[open:], "\n"):
		return splice(text, open, open, append([]byte("\n  "), added...)), nil
	case last == open:
		return splice(text, open, open, added), nil
	case !strings.Contains(between, "\n"):
		between = " "
	}
	return splice(text, last, last, slices.Concat([]byte(","), []byte(between), added)), nil
}

// splice returns text with the bytes from one offset to another replaced.
func splice(text []byte, from, to int64, with []byte) []byte {
	return slices.Concat(text[:from], with, text[to:])
}

// replaceFile puts a whole file in the place of an old one, or none, so that
// whoever reads it, and whatever happens, finds one or the other.
func replaceFile(path string, b []byte, mode fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(temp.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = temp.Write(b)
	if err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	err = os.Rename(temp.Name(), path)
	if runtime.GOOS == "windows" { // where who reads the old file holds it, and a folder cannot be synced
		for range 20 {
			if err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
			err = os.Rename(temp.Name(), path)
		}
		return err
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

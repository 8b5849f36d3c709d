package daemon

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcp/ops"
)

// A changed value stands where the old one stood; everything else in the text
// is as it was.
func TestSetMembers(t *testing.T) {
	dark := member{"theme", []byte(`"dark"`)}
	off := member{"single_keys", []byte(`false`)}
	for _, c := range []struct {
		text string
		set  []member
		want string
	}{
		{"", []member{dark}, "{\n  \"theme\": \"dark\"\n}\n"},
		{" \n", []member{dark, off}, "{\n  \"theme\": \"dark\",\n  \"single_keys\": false\n}\n"},
		{"{}", []member{dark}, `{"theme": "dark"}`},
		{"{\n}\n", []member{dark}, "{\n  \"theme\": \"dark\"\n}\n"},
		{`{"log_level":"info"}`, []member{dark}, `{"log_level":"info", "theme": "dark"}`},
		{`{"theme":"light"}`, []member{dark}, `{"theme":"dark"}`},
		{"{ \"theme\" :  \"light\" , \"log_level\":\"info\"}\n", []member{dark}, "{ \"theme\" :  \"dark\" , \"log_level\":\"info\"}\n"},
		{"{\n\t\"targets\": [\"b\",\n\t\t\"a\"],\n\t\"single_keys\": true,\n\t\"log_level\": \"info\"\n}", []member{dark, off},
			"{\n\t\"targets\": [\"b\",\n\t\t\"a\"],\n\t\"single_keys\": false,\n\t\"log_level\": \"info\",\n\t\"theme\": \"dark\"\n}"},
		{"{\r\n    \"listen\": \"\"\r\n}\r\n", []member{dark}, "{\r\n    \"listen\": \"\",\r\n    \"theme\": \"dark\"\r\n}\r\n"},
		{"\xef\xbb\xbf{\"theme\":\"system\"}", []member{dark}, "\xef\xbb\xbf{\"theme\":\"dark\"}"},
		{`{"th\u0065me":"light"}`, []member{dark}, `{"th\u0065me":"dark"}`},
		{`{"targets":["theme"],"log_level":"info"}`, []member{dark}, `{"targets":["theme"],"log_level":"info", "theme": "dark"}`},
	} {
		got, err := setMembers([]byte(c.text), c.set)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"[]", "{", `{"a"`, `{"a":}`, "nonsense"} {
		if got, err := setMembers([]byte(text), []member{dark}); err == nil {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func FuzzSetMembers(f *testing.F) {
	for _, s := range []string{"", `{"targets":["a"]}`, "{\n \"theme\" : \"dark\"\n}", `{"single_keys":true, "log_level":"warn"}`, "\xef\xbb\xbf{}", `{"theme":"light","language":"en"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := parseConfig(text)
		if err != nil {
			t.Skip()
		}
		got, err := setMembers(text, []member{{"theme", []byte(`"dark"`)}, {"single_keys", []byte(`false`)}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		after, err := parseConfig(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if after.Theme != "dark" || after.SingleKeys {
			t.Fatalf("%q became %q", text, got)
		}
		before.Theme, before.SingleKeys = after.Theme, after.SingleKeys
		x, errX := json.Marshal(before)
		y, errY := json.Marshal(after)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Fatalf("%q became %q: %s, was %s", text, got, y, x)
		}
	})
}

func to[T any](v T) *T { return &v }

func TestPrefer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	s := NewSettings(path, nil)
	if got := s.Preferences(); got != (ops.Preferences{Theme: "system", Language: "system", SingleKeys: true}) {
		t.Errorf("%+v", got)
	}
	want := ops.Preferences{Theme: "dark", Language: "system", SingleKeys: true}
	if got, err := s.Prefer(ops.PreferenceChange{Theme: to("dark")}); err != nil || got != want || s.Preferences() != want {
		t.Errorf("%+v, %v", got, err)
	}
	fi, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", fi, err)
	}
	// Another process, or a person, writes it meanwhile: that counts too, at once.
	text := "{\n  \"log_level\": \"debug\",\n  \"theme\": \"dark\"\n}\n"
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Prefer(ops.PreferenceChange{Theme: to("light"), Language: to("zh-CN"), SingleKeys: to(false)}); err != nil || got != (ops.Preferences{Theme: "light", Language: "zh-CN"}) {
		t.Errorf("%+v, %v", got, err)
	}
	b, err := os.ReadFile(path)
	if want := "{\n  \"log_level\": \"debug\",\n  \"theme\": \"light\",\n  \"language\": \"zh-CN\",\n  \"single_keys\": false\n}\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
	if fi, err = os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", fi.Mode(), err)
	}
	if s.Level.Level().String() != "DEBUG" {
		t.Errorf("the level is %s", s.Level.Level())
	}
	// One of the same length within the same tick of the file system's clock.
	for _, language := range []string{"system", "en"} {
		for range 5 {
			for _, theme := range []string{"dark", "light"} {
				if got, err := s.Prefer(ops.PreferenceChange{Theme: to(theme), Language: to(language)}); err != nil || got.Theme != theme || got.Language != language {
					t.Fatalf("%+v, %v", got, err)
				}
			}
		}
	}
	only(t, filepath.Dir(path), "config.json")
}

// only checks which files are in a folder.
func only(t *testing.T, folder string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%v is in the folder; want %v", got, names)
	}
}

// What cannot be changed safely is left alone, and the reason said.
func TestPreferRefuses(t *testing.T) {
	for text, why := range map[string]string{
		`{"theme":`: "not JSON", `{"colour":1}`: "an unknown key", `{"theme":"dark","theme":"light"}`: "given twice", `{"log_level":"loud"}`: "one of debug",
		`[]`: "one JSON object", `{"x":"` + strings.Repeat("x", maxConfig) + `"}`: "at most 1048576 bytes",
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		write(t, path, []byte(text))
		s := NewSettings(path, nil)
		_, err := s.Prefer(ops.PreferenceChange{Theme: to("dark")})
		e := ops.AsError(err)
		if err == nil || e.Code != ops.Conflict || !strings.Contains(e.Message, why) || !strings.Contains(e.Message, path) || e.Hint == "" {
			t.Errorf("%.40s: %v", text, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%.40s became %.40q, %v", text, b, err)
		}
		only(t, filepath.Dir(path), "config.json")
	}
	path := filepath.Join(t.TempDir(), "config.json")
	s := NewSettings(path, nil)
	if _, err := s.Prefer(ops.PreferenceChange{Theme: to("pink")}); ops.CodeOf(err) != ops.Conflict {
		t.Errorf("a theme that is none: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it was written: %v", err)
	}
}

func TestPreferWhereNothingCanBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("this user can write everywhere")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	write(t, path, []byte(`{"log_level":"info"}`))
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700) //nolint:errcheck // so that the folder can go
	s := NewSettings(path, nil)
	if _, err := s.Prefer(ops.PreferenceChange{Theme: to("dark")}); ops.CodeOf(err) != ops.Unavailable || s.Preferences().Theme != "system" {
		t.Errorf("%v", err)
	}
}

// A link to the file stays one; what it leads to is changed.
func TestPreferThroughALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	path, real := filepath.Join(dir, "config.json"), filepath.Join(kept, "mine.json")
	write(t, real, []byte(`{"log_level":"info"}`))
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSettings(path, nil).Prefer(ops.PreferenceChange{Theme: to("dark")}); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(path); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", fi, err)
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != `{"log_level":"info", "theme": "dark"}` {
		t.Errorf("%q, %v", b, err)
	}
}

// Whoever reads while others write finds a whole file, and no change is lost.
func TestPreferTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	write(t, path, []byte(`{"log_level":"info"}`))
	s := NewSettings(path, nil)
	stop := make(chan struct{})
	var reading, writing sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			b, err := os.ReadFile(path)
			if err == nil {
				_, err = parseConfig(b)
			}
			if err != nil {
				t.Errorf("%v in %q", err, b)
				return
			}
		}
	})
	for _, change := range []ops.PreferenceChange{{Theme: to("dark")}, {Language: to("en")}, {SingleKeys: to(false)}} {
		writing.Go(func() {
			for range 10 {
				if _, err := s.Prefer(change); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	s.mu.Lock()
	s.looked = time.Time{}
	s.mu.Unlock()
	if got := s.Preferences(); got != (ops.Preferences{Theme: "dark", Language: "en"}) {
		t.Errorf("%+v", got)
	}
}

package daemon

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rewrite makes TestReadmesListTheSettings write what it wants.
var rewrite = flag.Bool("update", false, "write the tables of settings into the READMEs")

const (
	root        = "../.."
	configBegin = "<!-- config:begin -->\n"
	configEnd   = "<!-- config:end -->"
)

// table is the settings as Markdown.
func table(header string, words func(Words) string) string {
	var b strings.Builder
	b.WriteString(header + "\n|---|---|---|---|---|\n")
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	for _, s := range known {
		key := code(s.Key)
		if s.Flag != "" {
			key += ", `serve --" + s.Flag + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(s.Var), code(s.Older), key, words(s.Meaning), words(s.Default))
	}
	return b.String()
}

func TestReadmesListTheSettings(t *testing.T) {
	for file, want := range map[string]string{
		"README.md":       table("| variable | older name | key in `config.json`, flag | meaning | default |", func(w Words) string { return w.English }),
		"README.zh-CN.md": table("| 环境变量 | 旧名称 | `config.json` 中的键、命令行选项 | 含义 | 默认值 |", func(w Words) string { return w.Chinese }),
	} {
		path := filepath.Join(root, file)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, opened := bytes.Cut(b, []byte(configBegin))
		got, tail, closed := bytes.Cut(rest, []byte(configEnd))
		switch {
		case !opened || !closed:
			t.Errorf("%s has no %s … %s", file, strings.TrimSpace(configBegin), configEnd)
		case string(got) == want:
		case *rewrite:
			out := append(append(append(head[:len(head):len(head)], configBegin...), want...), configEnd...)
			if err := os.WriteFile(path, append(out, tail...), 0o644); err != nil { //nolint:gosec // it is a file of the repository
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: the table of settings is out of date; run: go test ./app/daemon -run %s -update", file, t.Name())
		}
	}
}

var variable = regexp.MustCompile(`"((?:STEWARD|READYROOM|SHADOWROOM)_[A-Z_]+)"`)

// What the code reads and the list does not name, nobody would find.
func TestEveryVariableIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range known {
		listed[s.Var] = true
		listed[s.Older] = true
	}
	found := 0
	for _, dir := range []string{"app", "mcp", "ledger", "handoff"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range variable.FindAllSubmatch(b, -1) {
				found++
				if !listed[string(m[1])] {
					t.Errorf("%s uses %s, which is not in the list of settings", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no variable was found at all")
	}
}

func TestTheListIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Known() {
		for _, name := range []string{s.Var, s.Older, s.Key} {
			if name != "" && seen[name] {
				t.Errorf("%s is listed twice", name)
			}
			seen[name] = true
		}
		for _, w := range []string{s.Meaning.English, s.Meaning.Chinese, s.Default.English, s.Default.Chinese} {
			if w == "" || strings.ContainsAny(w, "\n|") {
				t.Errorf("%s: %q is no cell of a table", s.Var, w)
			}
		}
		if (s.Key != "") != (s.read != nil) {
			t.Errorf("%s: a key is what can be read", s.Var)
		}
		if s.secret && (s.Key != "" || s.Flag != "") {
			t.Errorf("%s: a secret belongs neither into a file of settings nor into a list of processes", s.Var)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a variable that is not listed has names")
		}
	}()
	names("STEWARD_NONSENSE")
}

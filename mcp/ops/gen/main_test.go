package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/mcp/ops"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range targets() {
		t.Run(g.file, func(t *testing.T) {
			old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(g.file)))
			if err != nil {
				t.Fatal(err)
			}
			want, skipped := g.render(old, true)
			if skipped != "" {
				t.Fatal(skipped)
			}
			if string(old) != string(want) {
				t.Errorf("%s is out of date; run: go run ./mcp/ops/gen", g.file)
			}
		})
	}
}

func TestDefinitionsAreOneLine(t *testing.T) {
	text := string(ops.Definitions(ops.All()))
	if strings.ContainsAny(text, "\n\r") {
		t.Error("a line break inside the definitions would break the bridge's protocol")
	}
}

func TestBetween(t *testing.T) {
	render := between("new\n")
	got, skipped := render([]byte("a\n"+beginMark+"\nold\n"+endMark+"\nz\n"), true)
	if want := "a\n" + beginMark + "\nnew\n" + endMark + "\nz\n"; skipped != "" || string(got) != want {
		t.Errorf("got %q (%s), want %q", got, skipped, want)
	}
	if again, _ := render(got, true); string(again) != string(got) {
		t.Errorf("a second run changes %q to %q", got, again)
	}
	for name, text := range map[string]string{"no marks": "a", "no end": beginMark, "reversed": endMark + beginMark} {
		if _, skipped := render([]byte(text), true); skipped == "" {
			t.Errorf("%s: rendered", name)
		}
	}
	if _, skipped := render(nil, false); skipped == "" {
		t.Error("rendered a file that does not exist")
	}
}

func TestEveryToolHasAChineseTitle(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range ops.All() {
		if o.Surfaces&ops.Agent == 0 {
			continue
		}
		seen[o.Name] = true
		if chineseTitles[o.Name] == "" {
			t.Errorf("%s has no Chinese title", o.Name)
		}
	}
	for name := range chineseTitles {
		if !seen[name] {
			t.Errorf("%s is no tool", name)
		}
	}
}

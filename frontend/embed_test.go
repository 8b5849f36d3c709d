package frontend

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestPageHoldsAnIndex(t *testing.T) {
	b, err := fs.ReadFile(Page(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), "<!doctype html>") {
		t.Errorf("index.html does not begin as a page does: %.40q", b)
	}
	if Built() == strings.Contains(string(b), "make build") {
		t.Errorf("Built() = %v, but the page says otherwise", Built())
	}
}

// Without Node the placeholder is all there is, so it must say what to do.
func TestPlaceholderSaysHowToBuild(t *testing.T) {
	b, err := os.ReadFile("placeholder/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"make build", "Node 20"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the placeholder does not name %q", want)
		}
	}
	if strings.Contains(string(b), "<script") || strings.Contains(string(b), "style=") {
		t.Error("the placeholder breaks the page's own policy: nothing inline")
	}
}

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const modules = `{"bomFormat":"CycloneDX","specVersion":"1.5","version":1,
"metadata":{"component":{"bom-ref":"pkg:golang/steward@v0?type=module","type":"application","name":"steward"}},
"components":[{"bom-ref":"pkg:golang/modernc.org/sqlite@v1","type":"library","name":"modernc.org/sqlite"}],
"dependencies":[{"ref":"pkg:golang/steward@v0?type=module","dependsOn":["pkg:golang/modernc.org/sqlite@v1"]},{"ref":"pkg:golang/modernc.org/sqlite@v1"}]}`

func TestJoin(t *testing.T) {
	lock, err := os.ReadFile("../../frontend/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := join("1.2.3", []byte(modules), lock)
	if err != nil {
		t.Fatal(err)
	}
	var l list
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, c := range l.Components {
		ref := c["bom-ref"].(string)
		if has[ref] {
			t.Errorf("%s is there twice", ref)
		}
		has[ref] = true
		if name := c["name"]; name == "vite" || name == "typescript" {
			t.Errorf("%s is not in the page", name)
		}
	}
	var svelte, root string
	for _, d := range l.Dependencies {
		if d.Ref == "pkg:golang/steward@1.2.3" {
			root = strings.Join(d.DependsOn, " ")
		}
		for _, on := range d.DependsOn {
			if !has[on] {
				t.Errorf("%s needs %s, which is not in the list", d.Ref, on)
			}
		}
		if strings.HasPrefix(d.Ref, "pkg:npm/svelte@") {
			svelte = d.Ref
		}
	}
	if svelte == "" || !has[svelte] || !strings.Contains(root, svelte) || !strings.Contains(root, "modernc.org/sqlite") {
		t.Errorf("steward is made of %q; want Svelte and SQLite", root)
	}
	if again, err := join("1.2.3", []byte(modules), lock); err != nil || string(again) != string(out) {
		t.Errorf("another list the second time: %v", err)
	}
	for name, bad := range map[string][2]string{
		"no list":  {`{}`, string(lock)},
		"no sum":   {modules, `{"packages":{"node_modules/a":{"version":"1"}}}`},
		"two of a": {modules, `{"packages":{"node_modules/b/node_modules/a":{"version":"1"}}}`},
	} {
		if _, err := join("1", []byte(bad[0]), []byte(bad[1])); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
}

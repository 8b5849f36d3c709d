// Sbom joins what a program of Go modules is made of with what of npm is in the
// page that it carries:
//
//	go run ./build/sbom VERSION MODULES package-lock.json
//
// MODULES is a CycloneDX list in JSON. The joined one goes to the standard output,
// sorted, so that the same two files give the same bytes.
package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION MODULES LOCK")
		os.Exit(2)
	}
	out, err := read(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func read(version, modules, lock string) ([]byte, error) {
	m, err := os.ReadFile(modules)
	if err != nil {
		return nil, err
	}
	l, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	return join(version, m, l)
}

// list is a CycloneDX list, of which only what is changed here is looked at.
type list struct {
	Schema       string           `json:"$schema,omitempty"`
	Format       string           `json:"bomFormat"`
	Spec         string           `json:"specVersion"`
	Version      int              `json:"version"`
	Metadata     map[string]any   `json:"metadata"`
	Components   []map[string]any `json:"components"`
	Dependencies []dependency     `json:"dependencies"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// locked is a package in package-lock.json.
type locked struct {
	Version      string
	Integrity    string // "sha512-" and base64
	License      string
	Dev          bool
	Optional     bool
	Dependencies map[string]string
}

// join adds the packages of lock that are not for development alone to modules.
func join(version string, modules, lock []byte) ([]byte, error) {
	var l list
	if err := json.Unmarshal(modules, &l); err != nil {
		return nil, fmt.Errorf("the modules: %w", err)
	}
	var npm struct{ Packages map[string]locked }
	if err := json.Unmarshal(lock, &npm); err != nil {
		return nil, fmt.Errorf("the lock: %w", err)
	}
	root, ok := l.Metadata["component"].(map[string]any)
	if l.Format != "CycloneDX" || !ok {
		return nil, fmt.Errorf("the modules: no CycloneDX list of a program")
	}
	old, _ := root["bom-ref"].(string)
	purl := "pkg:golang/steward@" + version
	root["name"], root["version"], root["purl"], root["bom-ref"] = "steward", version, purl, purl
	root["licenses"] = []any{map[string]any{"license": map[string]any{"id": "AGPL-3.0-only"}}}
	delete(root, "hashes")
	if tools, ok := l.Metadata["tools"].([]any); ok {
		for _, t := range tools { // whose bytes are those of the machine it was built on
			if tool, ok := t.(map[string]any); ok {
				delete(tool, "hashes")
			}
		}
	}

	const folder = "node_modules/"
	refs := map[string]string{}
	for path, p := range npm.Packages {
		if name, found := strings.CutPrefix(path, folder); found && !p.Dev && !p.Optional {
			if strings.Contains(name, folder) {
				return nil, fmt.Errorf("%s: two versions of a package in the page are not provided for", path)
			}
			refs[name] = "pkg:npm/" + strings.ReplaceAll(name, "@", "%40") + "@" + p.Version
		}
	}
	page := npm.Packages[""]
	for name, ref := range refs {
		p := npm.Packages[folder+name]
		c := map[string]any{"bom-ref": ref, "type": "library", "name": name, "version": p.Version, "purl": ref, "scope": "required"}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
		if err != nil || len(raw) != 64 {
			return nil, fmt.Errorf("%s: no SHA-512 sum in the lock", name)
		}
		c["hashes"] = []any{map[string]any{"alg": "SHA-512", "content": hex.EncodeToString(raw)}}
		if p.License != "" {
			c["licenses"] = []any{map[string]any{"license": map[string]any{"id": p.License}}}
		}
		l.Components = append(l.Components, c)
		l.Dependencies = append(l.Dependencies, dependency{ref, known(p.Dependencies, refs)})
	}
	for i := range l.Dependencies {
		if d := &l.Dependencies[i]; d.Ref == old {
			d.Ref, d.DependsOn = purl, append(d.DependsOn, known(page.Dependencies, refs)...)
			slices.Sort(d.DependsOn)
		}
	}
	slices.SortFunc(l.Components, func(a, b map[string]any) int { return cmp.Compare(fmt.Sprint(a["bom-ref"]), fmt.Sprint(b["bom-ref"])) })
	slices.SortFunc(l.Dependencies, func(a, b dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	out, err := json.MarshalIndent(l, "", "  ")
	return append(out, '\n'), err
}

// known are the references of those wanted that are in the page.
func known(wanted, refs map[string]string) (out []string) {
	for name := range wanted {
		if ref, ok := refs[name]; ok {
			out = append(out, ref)
		}
	}
	slices.Sort(out)
	return out
}

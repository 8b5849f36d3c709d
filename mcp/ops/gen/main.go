// Gen writes what is made from the operations: the definitions that the bridge
// embeds, the types of the front end, and the tables of tools in the two READMEs. Run it from anywhere in
// the repository:
//
//	go run ./mcp/ops/gen
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"steward/mcp/ops"
)

const definitionsFile = "mcp/local/tools.gen.json"

func main() {
	root, err := moduleRoot()
	if err == nil {
		err = write(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write brings every generated file in root up to date and says what it did.
func write(root string) error {
	for _, t := range targets() {
		path := filepath.Join(root, filepath.FromSlash(t.file))
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text, skipped := t.render(old, err == nil)
		switch {
		case skipped != "":
			fmt.Printf("%s: skipped: %s\n", t.file, skipped)
		case bytes.Equal(old, text):
			fmt.Printf("%s: current\n", t.file)
		default:
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
			fmt.Printf("%s: written\n", t.file)
		}
	}
	return nil
}

// target is one generated file, or one with a generated part. render gets the
// present text, if there is any, and returns the right one or why it cannot.
type target struct {
	file   string
	render func(old []byte, exists bool) (text []byte, skipped string)
}

func targets() []target {
	return []target{
		{definitionsFile, func([]byte, bool) ([]byte, string) { return append(ops.Definitions(ops.All()), '\n'), "" }},
		{typesFile, func([]byte, bool) ([]byte, string) { return []byte(typescript(ops.All())), "" }},
		{"README.md", between(table(english))},
		{"README.zh-CN.md", between(table(chinese))},
	}
}

// moduleRoot returns the folder of the nearest go.mod above the working folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod in this folder or above it")
		}
		dir = up
	}
}

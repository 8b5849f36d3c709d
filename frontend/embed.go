// Package frontend holds the page that people see: the same bundle for the
// window and for the browser. `make build` writes it to dist; a program built
// without Node holds a page that says so instead.
package frontend

import (
	"embed"
	"io/fs"
)

// dist always holds .keep, so that it can be embedded before it was ever built.
//
//go:embed all:dist placeholder
var files embed.FS

const index = "index.html"

// Built tells whether the page was built before this program was.
func Built() bool {
	_, err := fs.Stat(files, "dist/"+index)
	return err == nil
}

// Page returns the page's files, index.html at the top: what `make build` wrote,
// or the placeholder.
func Page() fs.FS {
	dir := "dist"
	if !Built() {
		dir = "placeholder"
	}
	page, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only for an invalid name, and both are constants
	}
	return page
}

//go:build desktop && !bindings && inspect

package app

import (
	"io/fs"
	"os"

	"steward/frontend"
)

// page is what the window shows: in a build for tests, what they want it to.
func page() fs.FS {
	if dir := os.Getenv("INSPECT_PAGE"); dir != "" {
		return os.DirFS(dir)
	}
	return frontend.Page()
}

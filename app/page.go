//go:build desktop && !bindings && !inspect

package app

import (
	"io/fs"

	"steward/frontend"
)

// page is what the window shows.
func page() fs.FS { return frontend.Page() }

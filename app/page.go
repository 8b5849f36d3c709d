//go:build desktop && !bindings && !inspect

package app

import "io/fs"

// page is what the window shows.
func page() fs.FS { return dist }

//go:build desktop && !bindings

package app

import (
	"embed"
	"io/fs"
)

//go:embed windowtest/page
var embedded_ embed.FS

var dist, _ = fs.Sub(embedded_, "windowtest/page")

//go:build desktop && !bindings

package app

import _ "embed"

// icon is frontend/public/icon.svg at 128 pixels, for where a system lists its
// windows.
//
//go:embed icon.png
var icon []byte

package daemon

import (
	"path/filepath"

	"steward/mcp/ops"
)

// dataFolder is where macOS puts a program's own data.
func dataFolder(env Env) (string, error) {
	if v := env["HOME"]; filepath.IsAbs(v) {
		return filepath.Join(v, "Library", "Application Support", "Steward"), nil
	}
	return "", &ops.Error{Code: ops.Unavailable, Message: "HOME is not set, so there is no place for the ledger", Hint: "set STEWARD_HOME to a folder of your own"}
}

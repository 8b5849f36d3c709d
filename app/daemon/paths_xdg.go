//go:build unix && !darwin

package daemon

import (
	"path/filepath"

	"steward/mcp/ops"
)

// dataFolder is where the freedesktop rules put a program's own data.
func dataFolder(env Env) (string, error) {
	if v := env["XDG_DATA_HOME"]; filepath.IsAbs(v) { // the rules say: a relative one is to be ignored
		return filepath.Join(v, "steward"), nil
	}
	if v := env["HOME"]; filepath.IsAbs(v) {
		return filepath.Join(v, ".local", "share", "steward"), nil
	}
	return "", &ops.Error{Code: ops.Unavailable, Message: "HOME is not set, so there is no place for the ledger", Hint: "set STEWARD_HOME to a folder of your own"}
}

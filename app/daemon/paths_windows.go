package daemon

import (
	"path/filepath"
	"strings"

	"steward/mcp/ops"
)

// dataFolder is where Windows puts a program's own data.
func dataFolder(env Env) (string, error) {
	if v := env["LOCALAPPDATA"]; filepath.IsAbs(v) {
		return filepath.Join(v, "Steward"), nil
	}
	if v := env["USERPROFILE"]; filepath.IsAbs(v) {
		return filepath.Join(v, "AppData", "Local", "Steward"), nil
	}
	return "", &ops.Error{Code: ops.Unavailable, Message: "LOCALAPPDATA is not set, so there is no place for the ledger", Hint: "set STEWARD_HOME to a folder of your own"}
}

const pipePrefix = `\\.\pipe\`

// socketAddress is STEWARD_SOCKET, else a pipe named after the ledger's real
// path, which is another one for each user.
func socketAddress(env Env, p Paths) (string, error) {
	v, name := env.First("STEWARD_SOCKET")
	if v == "" {
		return pipePrefix + "steward-" + p.Key[:8], nil
	}
	if !strings.HasPrefix(strings.ToLower(v), pipePrefix) || len(v) > 256 {
		return "", &ops.Error{Code: ops.Invalid, Field: name, Message: name + `: the name of a pipe, \\.\pipe\NAME, of at most 256 characters; got ` + v}
	}
	return v, nil
}

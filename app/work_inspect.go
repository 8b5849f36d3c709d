//go:build desktop && !bindings && inspect

package app

import (
	"os"

	"steward/app/daemon"
)

// standIn stands for a task in a build for tests: it is active while the file is
// there that INSPECT_ACTIVE names.
func standIn(env daemon.Env) daemon.Work { return fileWork(env["INSPECT_ACTIVE"]) }

type fileWork string

func (f fileWork) Active() bool {
	_, err := os.Stat(string(f))
	return f != "" && err == nil
}

func (fileWork) Wanted() bool { return false }

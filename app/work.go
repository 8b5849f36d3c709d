//go:build desktop && !bindings && !inspect

package app

import (
	"os"

	"steward/app/daemon"
)

func init() {
	// The web view's inspector would be a door to everything the person may do.
	for _, name := range []string{"WEBKIT_INSPECTOR_SERVER", "WEBKIT_INSPECTOR_HTTP_SERVER"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
}

// standIn is nothing: there are no tasks yet that could be active.
func standIn(daemon.Env) daemon.Work { return nil }

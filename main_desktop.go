//go:build desktop && !bindings

// Steward keeps one durable record of what agents and scripts report, and the
// work they hand to each other. This build has the window.
package main

import (
	"os"
	"runtime"

	"steward/app"
	"steward/app/cli"
)

func init() { runtime.LockOSThread() } // the window belongs to the main thread

func main() {
	if len(os.Args) > 1 {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(app.Main(cli.Version(), os.Stderr, os.Environ()))
}

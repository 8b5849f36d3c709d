//go:build !desktop && !bindings

// Steward keeps one durable record of what agents and scripts report, and the
// work they hand to each other.
package main

import (
	"os"

	"steward/app/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

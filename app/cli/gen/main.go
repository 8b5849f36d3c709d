// Gen writes what a package holds besides the program: the page for man and the
// completions for three shells, made of the program's own commands.
//
//	go run -ldflags '-X steward/app/cli.version=1.2.3' ./app/cli/gen FOLDER
//
// SOURCE_DATE_EPOCH, seconds since 1970, is the day that the page for man names.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"steward/app/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write puts the four files into folder, under the names that their readers
// look for.
func write(folder, epoch string) error {
	at := time.Now()
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: seconds since 1970; got %q", epoch)
		}
		at = time.Unix(seconds, 0)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, render := range map[string]func(io.Writer) error{
		"steward.1":    func(w io.Writer) error { return cli.Manual(w, at) },
		"steward.bash": func(w io.Writer) error { return cli.Completion(w, "bash") },
		"_steward":     func(w io.Writer) error { return cli.Completion(w, "zsh") },
		"steward.fish": func(w io.Writer) error { return cli.Completion(w, "fish") },
	} {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := render(file); err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

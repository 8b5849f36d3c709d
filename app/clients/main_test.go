//go:build unix

package clients_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	// folderVar names the folder whose node_modules holds the clients.
	folderVar = "STEWARD_CLIENTS"
	// programVar names the Steward to try; without it one is built.
	programVar = "STEWARD_CLIENTS_PROGRAM"
	// isolatedVar is set for the second run of this binary, which has no
	// network but its own.
	isolatedVar = "STEWARD_CLIENTS_ISOLATED"
)

// program is the path of the Steward under test.
var program = os.Getenv(programVar)

func TestMain(m *testing.M) {
	if os.Getenv(folderVar) == "" {
		os.Exit(m.Run()) // every test says why it is skipped
	}
	if os.Getenv(isolatedVar) != "" {
		if err := loopback(); err != nil {
			os.Exit(noNetworkOfOurOwn)
		}
		fmt.Println("The clients have no network but the loopback interface.")
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// noNetworkOfOurOwn is the exit code of a second run that cannot have the
// loopback interface of its own network.
const noNetworkOfOurOwn = 99

// run builds the program, if need be, and runs the tests in a second process
// without a network; in this one, if the system does not allow that.
func run(m *testing.M) (int, error) {
	if program == "" {
		dir, err := os.MkdirTemp("", "steward-clients")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up too
		program = filepath.Join(dir, "steward")
		build := exec.Command("go", "build", "-o", program, "steward")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if !filepath.IsAbs(program) {
		return 0, fmt.Errorf("%s: an absolute path, as the clients run elsewhere; got %s", programVar, program)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	again := exec.Command(self, os.Args[1:]...)
	again.Env = append(os.Environ(), programVar+"="+program, isolatedVar+"=1")
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = isolated(again)
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case ended && exit.ExitCode() != noNetworkOfOurOwn:
		return exit.ExitCode(), nil
	}
	fmt.Fprintf(os.Stderr, "the clients are not cut off from the network, only asked not to use it: %v\n", err)
	return m.Run(), nil
}

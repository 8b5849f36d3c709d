package mcp

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// children are what the test binary can be instead of the tests: a process of
// its own, given one argument.
var children = make(map[string]func(arg string) error)

const (
	childRole = "STEWARD_TEST_CHILD"
	childArg  = "STEWARD_TEST_ARG"
)

// child is the command that makes the test binary one of the children.
func child(binary, role, arg string) *exec.Cmd {
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childRole+"="+role, childArg+"="+arg)
	return cmd
}

func TestMain(m *testing.M) {
	if run := children[os.Getenv(childRole)]; run != nil {
		if err := run(os.Getenv(childArg)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

package mcp

import (
	"fmt"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// Listen listens on the named pipe at path (\\.\pipe\…), which only this user
// can open. A pipe that another process serves is an error.
func Listen(path string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("named pipe: cannot tell who runs this process: %w", err)
	}
	// D: access list, P: nothing inherited; A: allow, GA: everything, to one user.
	return winio.ListenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")",
		InputBufferSize:    readBuffer,
		OutputBufferSize:   readBuffer,
	})
}

package daemon

import (
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

func openURL(url string) *exec.Cmd {
	return exec.Command(system("rundll32.exe"), "url.dll,FileProtocolHandler", url)
}

func openFile(file string) *exec.Cmd { return explorer(`"` + file + `"`) }
func showFile(path string) *exec.Cmd { return explorer(`/select,"` + path + `"`) }

// explorer is given its command line as it reads it, which is not as other
// programs do. No path holds a quotation mark.
func explorer(rest string) *exec.Cmd {
	folder, err := windows.GetWindowsDirectory()
	if err != nil {
		folder = `C:\Windows`
	}
	cmd := exec.Command(filepath.Join(folder, "explorer.exe"))
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `explorer.exe ` + rest}
	return cmd
}

// system is the path of one of the system's own programs: the search path is not
// asked.
func system(name string) string {
	folder, err := windows.GetSystemDirectory()
	if err != nil {
		folder = `C:\Windows\System32`
	}
	return filepath.Join(folder, name)
}

// reachable tells whether there is a desktop.
func reachable(Env) bool { return true }

// ignored tells whether an exit code says nothing: explorer ends with 1 when all
// went well.
func ignored(name string, code int) bool { return name == "explorer.exe" && code == 1 }

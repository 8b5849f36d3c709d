//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"steward/mcp/ops"
)

// longestSocket is how many bytes the path of a socket may have. Systems take a
// few more, Linux 107 and macOS 103; what works on one should work on the other.
const longestSocket = 100

// socketAddress is STEWARD_SOCKET, else a name derived from the ledger's real
// path, in the first folder whose path is short enough: run in the state folder,
// for a ledger elsewhere its own folder if that is private, else a private folder
// of this user in /tmp. None depends on the environment, nor on the mode of the
// state folder, which the user may mend while the service runs: Codex and every client on the TypeScript SDK start their
// servers with a few variables of their own choice, among them neither
// XDG_RUNTIME_DIR nor TMPDIR, and all of them must meet at one socket.
func socketAddress(env Env, p Paths) (string, error) {
	if v, name := env.First("STEWARD_SOCKET"); v != "" {
		if !filepath.IsAbs(v) {
			return "", notAbsolute(name, v)
		}
		if len(v) > longestSocket {
			return "", &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: at most %d bytes; got %d", name, longestSocket, len(v)),
				Hint: "the system allows no longer path for a socket: choose a shorter one"}
		}
		return filepath.Clean(v), nil
	}
	file := p.Key[:8] + ".sock"
	if isDefault(env, p.Ledger) {
		file = "steward.sock"
	}
	for _, dir := range socketFolders(p) {
		if path := filepath.Join(dir, file); len(path) <= longestSocket {
			return path, nil
		}
	}
	return "", &ops.Error{Code: ops.Unavailable, Message: "no folder for the socket has a short enough path", Hint: "set STEWARD_SOCKET to a path of at most " + strconv.Itoa(longestSocket) + " bytes"}
}

func socketFolders(p Paths) []string {
	var dirs []string
	dir := filepath.Dir(p.Ledger)
	if sameFolder(dir, p.Home) {
		run := filepath.Join(dir, "run")
		_, err := os.Lstat(run)
		if owned(run, 0o077) || errors.Is(err, fs.ErrNotExist) && canMake(run) {
			dirs = append(dirs, run)
		}
	} else if owned(dir, 0o077) && writable(dir) {
		dirs = append(dirs, dir)
	}
	return append(dirs, filepath.Join("/tmp", "steward-"+strconv.Itoa(os.Geteuid())))
}

// canMake tells whether the nearest folder above path that exists takes a new
// one.
func canMake(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return writable(dir)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func writable(dir string) bool { return syscall.Access(dir, 2) == nil }

// sameFolder compares a real path with a path that may run over links, when
// neither has to exist.
func sameFolder(real, path string) bool {
	for p, rest := path, ""; ; {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(r, rest) == real
		}
		parent := filepath.Dir(p)
		if parent == p {
			return false
		}
		p, rest = parent, filepath.Join(filepath.Base(p), rest)
	}
}

// owned tells whether path is a folder, not a link, of this user, with none of
// the mode bits in deny.
func owned(path string, deny fs.FileMode) bool {
	fi, err := os.Lstat(path)
	if err != nil || !fi.IsDir() || fi.Mode().Perm()&deny != 0 {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

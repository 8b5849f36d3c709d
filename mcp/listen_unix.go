//go:build linux || darwin

package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"steward/mcp/local"
)

// maxSocketPath is the longest socket path in bytes. Linux takes 107 and macOS
// 103; a path that works on one should work on the other.
const maxSocketPath = 100

// Listen listens on the socket at path, which becomes 0600, in a folder that
// belongs to this user alone (made 0700 when it is missing). A socket that
// nobody listens on any more is removed first: the caller holds the ledger's
// lock, so it is a predecessor's. One on which somebody listens is left alone
// and is an error.
//
// Connections of other users are refused before they are accepted. Close does
// not remove the path, which may be the successor's by then.
func Listen(path string) (net.Listener, error) {
	if n := len(path); n > maxSocketPath {
		return nil, fmt.Errorf("socket path: at most %d bytes; got %d (%s): name a shorter one in STEWARD_SOCKET", maxSocketPath, n, path)
	}
	if err := ownFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &ownListener{l, os.Geteuid()}, nil
}

// ownFolder makes sure that dir is a folder of this user that no other can
// enter. It is looked at itself, not at what a link points to.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("socket folder %s: must be a folder, not a link or a file", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("socket folder %s: must belong to user %d; belongs to user %d", dir, os.Geteuid(), st.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("socket folder %s: nobody else may enter, mode 0700; got %#o", dir, mode)
	}
	return nil
}

// removeStale removes the socket at path if nobody listens on it.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("socket path %s: something else is there (%s); move it away", path, info.Mode().Type())
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("socket path %s: another process listens there", path)
	}
	switch {
	case errors.Is(err, syscall.ENOENT):
		return nil
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("socket path %s: cannot tell whether another process listens there: %w", path, err)
}

// ownListener accepts connections of one user.
type ownListener struct {
	*net.UnixListener
	uid int
}

// Accept returns the next connection of the listener's own user. Others get a
// refusal.
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peerUID(c); err == nil && uid == l.uid {
			return c, nil
		}
		_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // fits the socket's buffer anyway
		_ = local.WriteLine(c, local.Line{Refused: &local.Refused{
			Code: local.RefusedForbidden, Message: "this Steward belongs to another user", Hint: "each user runs their own: unset STEWARD_SOCKET",
		}})
		_ = c.Close()
	}
}

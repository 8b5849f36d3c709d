//go:build unix

package local

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Whoever listens on a socket is told everything, so one that another user made
// is not spoken to.
func TestAStrangersSocketIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a socket to another user")
	}
	dir, err := os.MkdirTemp("", "st")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatalf("one's own: %v", err)
	}
	c.Close()
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	c, err = Dial(t.Context(), path)
	var refused *Refused
	if !errors.As(err, &refused) || refused.Code != RefusedForbidden {
		if err == nil {
			c.Close()
		}
		t.Errorf("another user's: %v; want a refusal as forbidden", err)
	}
}

package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"modernc.org/sqlite"
)

// posixLocks makes this process one whose locks are POSIX's, as on other systems.
const posixLocks = "STEWARD_TEST_POSIX_LOCKS"

func init() {
	if os.Getenv(posixLocks) != "" {
		ownLocks = func() {}
	}
}

// TestNobodyDropsTheFilesLocks: a POSIX lock is gone once any descriptor of its
// file is closed in the process, and with it SQLite's word to other processes
// that the ledger is open; one of them could then take the write-ahead log away.
func TestNobodyDropsTheFilesLocks(t *testing.T) {
	l, err := Open(context.Background(), Options{Path: filepath.Join(t.TempDir(), "ledger.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Update(context.Background(), nil, [32]byte{}, func(tx *Tx) ([]byte, error) {
		_, err := tx.Append(Event{Actor: "a", Type: "done"})
		return nil, err
	}); err != nil {
		t.Fatal(err)
	}
	outside, err := os.OpenFile(l.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close() // at the end, since closing it is what this is about
	locked := func() bool {
		t.Helper()
		const sharedFirst, sharedSize, getOFD = 0x40000002, 510, 36 // SQLite's shared range; F_OFD_GETLK: an owner that is not this process
		ask := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedFirst, Len: sharedSize}
		if err := syscall.FcntlFlock(outside.Fd(), getOFD, &ask); err != nil {
			t.Fatal(err)
		}
		return ask.Type != syscall.F_UNLCK
	}
	if !locked() {
		t.Fatal("SQLite holds no lock to begin with")
	}
	cases := []struct {
		name string
		do   func() error
	}{
		{"Verify", func() error {
			r, err := l.Verify(context.Background())
			if err == nil && !r.OK() {
				err = errors.New(r.Problem)
			}
			return err
		}},
		{"Backup", func() error { return l.Backup(context.Background(), filepath.Join(t.TempDir(), "copy.db")) }},
		{"Import of itself", func() error {
			if _, err := l.Import(context.Background(), l.Path(), nil); !errors.Is(err, ErrInvalid) {
				return errors.New("it was taken")
			}
			return nil
		}},
		{"VerifyFile", func() error { _, err := VerifyFile(context.Background(), l.Path(), nil); return err }},
		{"a stranger in the process", func() error {
			f, err := os.Open(l.Path())
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, f)
			return errors.Join(err, f.Close())
		}},
	}
	if os.Getenv(posixLocks) != "" {
		cases = cases[:3] // nothing can be done about the others
	} else if !sqlite.OFDLockingEnabled() {
		t.Skip("this kernel or file system has no locks of open files")
	}
	for _, c := range cases {
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !locked() {
			t.Errorf("%s dropped the lock", c.name)
		}
	}
}

func TestNobodyDropsPosixLocks(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestNobodyDropsTheFilesLocks$", "-test.v")
	cmd.Env = append(os.Environ(), posixLocks+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestNobodyDropsTheFilesLocks")) {
		t.Errorf("%v\n%s", err, out)
	}
}

//go:build unix

package ledger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// soon fails the test when fn does not return: something waits for the other
// end of a pipe.
func soon(t *testing.T, what string, fn func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not return", what)
		return nil
	}
}

// odd are things that are no plain file, by name.
func odd(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{"pipe": filepath.Join(dir, "pipe"), "folder": filepath.Join(dir, "folder"), "link": filepath.Join(dir, "link")}
	for _, err := range []error{syscall.Mkfifo(paths["pipe"], 0o600), os.Mkdir(paths["folder"], 0o700), os.Symlink("pipe", paths["link"])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestNothingButAPlainFileIsOpened(t *testing.T) {
	ctx := context.Background()
	l := ledgertest.Open(t, nil)
	for name, path := range odd(t) {
		for what, fn := range map[string]func() error{
			"verify":  func() error { _, err := ledger.VerifyFile(ctx, path, nil); return err },
			"read":    func() error { return ledger.ReadFile(ctx, path, ledger.Selection{}, nil) },
			"behind":  func() error { _, err := ledger.SearchBehind(path); return err },
			"open":    func() error { _, err := ledger.Open(ctx, ledger.Options{Path: path}); return err },
			"import":  func() error { _, err := l.Import(ctx, path, nil); return err },
			"isolder": func() error { _, err := ledger.IsOlder(path); return err },
		} {
			if err := soon(t, what+" of a "+name, fn); !errors.Is(err, ledger.ErrNotPlain) {
				t.Errorf("%s of a %s: %v; want ErrNotPlain", what, name, err)
			}
		}
	}
}

func TestNothingButAPlainFileIsALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := syscall.Mkfifo(path+".lock", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := soon(t, "Holder", func() error { _, _, err := ledger.Holder(path); return err }); !errors.Is(err, ledger.ErrNotPlain) {
		t.Errorf("Holder: %v", err)
	}
	if err := soon(t, "Lock", func() error { _, err := ledger.Lock(path, "me"); return err }); !errors.Is(err, ledger.ErrNotPlain) {
		t.Errorf("Lock: %v", err)
	}
}

func TestNothingButPlainFilesBesideALedger(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
		if err == nil {
			err = l.Close()
		}
		if err == nil {
			err = syscall.Mkfifo(path+suffix, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = soon(t, "Open", func() error { _, err := ledger.Open(context.Background(), ledger.Options{Path: path}); return err })
		if !errors.Is(err, ledger.ErrNotPlain) {
			t.Errorf("%s: %v", suffix, err)
		}
	}
}

func TestReadPlainIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ledger.ReadPlain(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ledger.ReadPlain(path, 4); err == nil {
		t.Error("five bytes where four are the most")
	}
}

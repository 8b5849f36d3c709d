//go:build unix

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"steward/ledger"
)

// readOnlyCheck is what the child below prints: what each way of opening says in
// a folder that it may not write.
func readOnlyCheck(path string) {
	r, err := ledger.VerifyFile(context.Background(), path, nil)
	fmt.Printf("verify: %d %q %v\n", r.Events, r.Problem, err)
	n := 0
	err = ledger.ReadFile(context.Background(), path, ledger.Selection{}, func(ledger.Event) error { n++; return nil })
	fmt.Printf("read: %d %v\n", n, err)
	_, err = ledger.Open(context.Background(), ledger.Options{Path: path})
	fmt.Printf("open: %v\n", err)
	_, err = ledger.Open(context.Background(), ledger.Options{Path: path + ".none"})
	fmt.Printf("create: %v\n", err)
}

// Root may write everywhere, so the check runs as another user.
func TestAFolderThatCannotBeWritten(t *testing.T) {
	path := made(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become another user; run this test as root")
	}
	dir := filepath.Dir(path)
	self := filepath.Join(dir, "check")
	if err := copyTest(os.Args[0], self); err != nil {
		t.Fatal(err)
	}
	for p := dir; strings.HasPrefix(p, os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			break
		}
	}
	os.Chmod(path, 0o644)
	cmd := exec.Command(self)
	cmd.Dir = "/"
	cmd.Env = []string{"LEDGER_TEST_READONLY=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, want := range []string{`verify: 60 "" <nil>`, `read: 60 <nil>`, ledger.ErrReadOnly.Error(), ledger.ErrReadOnly.Error()} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d of %q: want %q", i, lines, want)
		}
	}
}

func copyTest(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

func TestAFileWithTwoNamesIsRefused(t *testing.T) {
	path := made(t)
	if err := os.Link(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(context.Background(), ledger.Options{Path: path}); !errors.Is(err, ledger.ErrLinked) {
		t.Errorf("two names have two locks: %v", err)
	}
	if err := os.Remove(path + ".other"); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), ledger.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcp/ops"
)

func socketFor(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "steward.sock")
}

func TestInstanceAddress(t *testing.T) {
	for socket, want := range map[string]string{
		"/home/a/run/steward.sock": "/home/a/run/steward.win",
		"/tmp/s":                   "/tmp/s.win",
	} {
		if got, _ := instanceAddress(socket); filepath.Separator == '/' && got != want {
			t.Errorf("beside %s: %s, want %s", socket, got, want)
		}
	}
}

func TestSecondInstance(t *testing.T) {
	socket := socketFor(t)
	var asked atomic.Pointer[string]
	first, err := claim(t.Context(), socket, "", func(_ context.Context, startup string) error { asked.Store(&startup); return nil }, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := claim(t.Context(), socket, "id_TIME1", nil, quiet)
	if err != nil || second != nil {
		t.Fatalf("the second: %v, %v", second, err)
	}
	if got := asked.Load(); got == nil || *got != "id_TIME1" {
		t.Errorf("the first was asked %v", got)
	}
	first.Close()
	third, err := claim(t.Context(), socket, "", nil, quiet)
	if err != nil || third == nil {
		t.Fatalf("after the first has gone: %v, %v", third, err)
	}
	third.Close()
}

// A second start waits for one that is just leaving, and takes its place.
func TestInstanceThatLeaves(t *testing.T) {
	socket := socketFor(t)
	asked := make(chan struct{}, 100)
	first, err := claim(t.Context(), socket, "", func(context.Context, string) error { asked <- struct{}{}; return errLeaving }, quiet)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		first.Close()
	}()
	second, err := claim(t.Context(), socket, "", nil, quiet)
	if err != nil || second == nil {
		t.Fatalf("the second: %v, %v", second, err)
	}
	second.Close()
}

// One that hangs is named, with what can be done.
func TestInstanceThatHangs(t *testing.T) {
	socket := socketFor(t)
	first, err := claim(t.Context(), socket, "", func(ctx context.Context, _ string) error { <-ctx.Done(); return errors.New("it is busy") }, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	second, err := claim(ctx, socket, "", nil, quiet)
	e, ok := errors.AsType[*ops.Error](err)
	if second != nil || !ok || e.Code != ops.Unavailable || !strings.Contains(e.Message, "pid ") || e.Hint == "" {
		t.Errorf("the second: %v, %v", second, err)
	}
}

func TestInstanceWithoutAPlace(t *testing.T) {
	dir := filepath.Dir(socketFor(t))
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	if i, err := claim(t.Context(), filepath.Join(dir, "steward.sock"), "", nil, quiet); i != nil || ops.CodeOf(err) != ops.Unavailable {
		t.Errorf("%v, %v", i, err)
	}
}

//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// copyTo puts the program of a version at a path as a package manager does: a
// new file takes the name of the one that is in use.
func copyTo(t *testing.T, version, path string) {
	t.Helper()
	from, err := os.Open(filepath.Join(program(t, version), "steward"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// swapped is a house whose programs run from one file that is exchanged under them.
type swapped struct {
	*house
	exe string
}

func newSwapped(t *testing.T) *swapped {
	s := &swapped{house: newHouse(t)}
	folder := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.exe = filepath.Join(folder, "steward")
	copyTo(t, thisVersion, s.exe)
	return s
}

// command runs what is at the path now.
func (s *swapped) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.exe, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// work lets bridges report until the returned function is called, which checks
// that each call was answered with an event of its own.
func (s *swapped) work(bridges int) (answered *atomic.Int64, end func()) {
	stop := make(chan struct{})
	answered = new(atomic.Int64)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[int64]string{}
	for i := range bridges {
		b := s.bridgeOf(s.command("mcp"))
		all.Go(func() {
			defer b.close()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				outcome := fmt.Sprintf("%d of bridge %d", n, i)
				r, err := b.report("worker", outcome)
				mu.Lock()
				if other, twice := ids[r.EventID]; err != nil || r.Spooled || r.EventID == 0 || twice {
					s.t.Errorf("%s: %+v, %v; that event is %q", outcome, r, err, other)
					mu.Unlock()
					return
				}
				ids[r.EventID] = outcome
				mu.Unlock()
				answered.Add(1)
			}
		})
	}
	return answered, func() {
		close(stop)
		all.Wait()
		events := s.events()
		if len(events) != len(ids) {
			s.t.Errorf("%d events for %d answered calls", len(events), len(ids))
		}
		for _, e := range events {
			if ids[e.ID] != e.Outcome {
				s.t.Errorf("event %d is %q; the answer said %q", e.ID, e.Outcome, ids[e.ID])
			}
		}
	}
}

// more waits until n further calls have been answered.
func (s *swapped) more(answered *atomic.Int64, n int64) {
	s.t.Helper()
	want := answered.Load() + n
	eventually(s.t, "further calls", func() bool { return answered.Load() >= want || s.t.Failed() })
}

// The file of a running Steward is exchanged and the service asked to stop, as an
// installer does: bridges that were started from the old one stay, start the new
// one with their next call, and lose nothing.
func TestBridgesOutliveTheSwapOfTheirProgram(t *testing.T) {
	s := newSwapped(t)
	answered, end := s.work(3)
	s.more(answered, 30)
	if i := s.info(); i.Version != thisVersion || i.Role != "auto" {
		t.Errorf("%+v; want an auto of %s", i, thisVersion)
	}
	copyTo(t, newerVersion, s.exe)
	s.more(answered, 30) // the old one serves on until it is asked to stop
	if out, err := s.command("stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	eventually(t, "the newer one serving", func() bool { return s.info().Version == newerVersion })
	s.more(answered, 30)
	// And a program that is gone for a while, as between two packages.
	away := s.exe + ".away"
	if err := os.Rename(s.exe, away); err != nil {
		t.Fatal(err)
	}
	s.more(answered, 30)
	if err := os.Rename(away, s.exe); err != nil {
		t.Fatal(err)
	}
	end()
}

// The same where each version has a folder and a link leads to the present one:
// the older folder may be gone before a bridge looks for the program.
func TestBridgesFollowTheLinkTheyWereStartedBy(t *testing.T) {
	s := newSwapped(t)
	folder := func(version string) string {
		f := filepath.Join(s.dir, "opt", version)
		if err := os.MkdirAll(f, 0o755); err != nil {
			t.Fatal(err)
		}
		copyTo(t, version, filepath.Join(f, "steward"))
		return f
	}
	lead := func(to string) {
		if err := os.Symlink(filepath.Join(to, "steward"), s.exe+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(s.exe+".new", s.exe); err != nil {
			t.Fatal(err)
		}
	}
	older := folder(thisVersion)
	lead(older)
	answered, end := s.work(2)
	s.more(answered, 30)
	lead(folder(newerVersion))
	if err := os.RemoveAll(older); err != nil {
		t.Fatal(err)
	}
	if out, err := s.command("stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	eventually(t, "the newer one serving", func() bool { return s.info().Version == newerVersion || t.Failed() })
	s.more(answered, 30)
	end()
}

// A service that somebody keeps running is started anew from the new file, beside
// the old one, which yields; or in its place.
func TestServeIsSwapped(t *testing.T) {
	s := newSwapped(t)
	older := s.start(s.house.command(thisVersion, "serve"))
	eventually(t, "the older one serving", func() bool { return s.info().PID == older.cmd.Process.Pid && s.info().State == "serving" })
	answered, end := s.work(2)
	s.more(answered, 30)
	copyTo(t, newerVersion, s.exe)
	newer := s.start(s.command("serve"))
	if code := older.exits(); code != 0 {
		t.Errorf("the older one ended with %d", code)
	}
	eventually(t, "the newer one serving", func() bool { return s.info().PID == newer.cmd.Process.Pid && s.info().Version == newerVersion })
	s.more(answered, 30)
	newer.signal(syscall.SIGTERM)
	newer.exits()
	s.more(answered, 30) // by an auto of the new file
	if i := s.info(); i.Version != newerVersion || i.Role != "auto" {
		t.Errorf("%+v; want an auto of %s", i, newerVersion)
	}
	end()
}

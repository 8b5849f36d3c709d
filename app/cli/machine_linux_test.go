package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"steward/app/daemon"
)

// insight is a process's environment and folder.
func insight(t *testing.T, pid int) (env []string, cwd string) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	cwd, err = os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), cwd
}

// small mounts a file system of that many bytes at the house's state folder.
func (h *house) small(bytes int) {
	h.t.Helper()
	home := h.paths().Home
	if err := os.Mkdir(home, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := syscall.Mount("steward-test", home, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", bytes)); err != nil {
		h.t.Skipf("mounting a small disk is not possible here: %v", err)
	}
	h.t.Cleanup(func() {
		h.end()
		// A process that has let go of the ledger may not have ended yet.
		eventually(h.t, "unmounting "+home, func() bool { return syscall.Unmount(home, 0) == nil })
	})
}

// fill writes a file until the disk is full, and returns its path.
func (h *house) fill() string {
	h.t.Helper()
	path := filepath.Join(h.paths().Home, "filler")
	f, err := os.Create(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is meant to run out of room
	for _, size := range []int{64 << 10, 4 << 10, 1} {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	return path
}

// A full disk: what cannot be kept is refused, nothing acknowledged is lost,
// and with room again it goes on by itself.
func TestDiskFull(t *testing.T) {
	h := newHouse(t)
	h.small(4 << 20)
	b := h.bridge()
	acknowledged := map[string]bool{}
	for i := range 20 {
		outcome := fmt.Sprint("before ", i)
		b.mustReport("me", outcome)
		acknowledged[outcome] = true
	}
	filler := h.fill()
	refused := 0
	for i := range 400 { // what is left in the last pages may still take some
		outcome := fmt.Sprint("full ", i)
		r, err := b.report("me", outcome)
		switch {
		case err == nil && r.EventID > 0:
			acknowledged[outcome] = true
		case err == nil:
			t.Fatalf("%s: %+v", outcome, r)
		case !strings.Contains(err.Error(), "the disk is full"):
			t.Fatalf("refused with %v", err)
		default:
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("the disk was never full")
	}
	if a := h.run("emit", "x", "--actor", "me"); a.code != 6 || !strings.Contains(a.err, "full") || a.out != "" {
		t.Errorf("emit: exit %d, %q, %q; want 6 and why", a.code, a.out, a.err)
	}
	h.ok("status") // reading goes on

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		outcome := fmt.Sprint("after ", i)
		b.mustReport("me", outcome)
		acknowledged[outcome] = true
	}
	h.ok("verify")
	have := map[string]int{}
	for _, e := range h.events() {
		have[e.Outcome]++
	}
	for outcome := range acknowledged {
		if have[outcome] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", outcome, have[outcome])
		}
	}
	if len(have) != len(acknowledged) {
		t.Errorf("%d events; %d were acknowledged", len(have), len(acknowledged))
	}
}

// A disk that is full from the start: the reason is told, and with room again
// the next start serves.
func TestDiskFullAtTheStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.small(256 << 10)
	filler := h.fill()
	p := h.start(h.command(thisVersion, "serve"))
	p.says("full")
	if a := h.run("status"); a.code != 6 || !strings.Contains(a.err, "full") || !strings.Contains(a.err, "free some space") {
		t.Errorf("status: exit %d, %q; want 6 and what to do", a.code, a.err)
	}
	if a := h.run("emit", "x", "--actor", "me"); a.code != 6 || a.out != "" {
		t.Errorf("emit: exit %d, %q, %q; want 6: it cannot be kept either", a.code, a.out, a.err)
	}
	p.signal(syscall.SIGTERM)
	p.exits()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if out := h.ok("emit", "hello", "--actor", "me"); !strings.Contains(out, "event 1") {
		t.Errorf("with room again: %s", out)
	}
}

func TestSpawnedServiceIsDetached(t *testing.T) {
	h := newHouse(t, "STEWARD_TOKEN=secret", "STEWARD_AGENT_TOKEN=secret", "READYROOM_TOKEN=secret", "OTHER_SECRET=secret", "STEWARD_LOG_LEVEL=debug")
	b := h.bridge()
	b.mustReport("me", "hello")
	pid := h.holder()
	sid, err := unix.Getsid(pid)
	if err != nil || sid != pid {
		t.Errorf("session %d, %v; want its own, %d", sid, err, pid)
	}
	kill(t, b.cmd.Process.Pid)
	b.exits()
	if i := h.info(); i.PID != pid {
		t.Errorf("with its client it went too: %+v", i)
	}
	env, cwd := insight(t, pid)
	for _, kv := range env {
		if strings.Contains(kv, "secret") {
			t.Errorf("its environment holds %s", kv)
		}
	}
	child := daemon.NewEnv(env)
	if child["STEWARD_LOG_LEVEL"] != "debug" || child["STEWARD_HOME"] != h.paths().Home {
		t.Errorf("its environment is %q", env)
	}
	if cwd != h.paths().Home {
		t.Errorf("it runs in %s; want the state folder", cwd)
	}
}

func TestDoctorSaysThatTheDiskIsNearlyFull(t *testing.T) {
	h := newHouse(t)
	h.small(4 << 20)
	h.ok("emit", "hello", "--actor", "me")
	if out := h.ok("doctor"); !strings.Contains(out, "!   disk") || !strings.Contains(out, "receipts are refused when it is full") {
		t.Errorf("doctor:\n%s", out)
	}
	var d struct {
		Disk struct {
			Free int64 `json:"free_bytes"`
		} `json:"disk"`
	}
	if err := json.Unmarshal([]byte(h.ok("doctor", "--json")), &d); err != nil || d.Disk.Free <= 0 || d.Disk.Free > 4<<20 {
		t.Errorf("%+v, %v", d, err)
	}
}

//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/local"
)

func TestThreeBridgesMakeOneService(t *testing.T) {
	h := newHouse(t)
	var bridges [3]*bridge
	for i := range bridges {
		bridges[i] = h.bridge()
	}
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i, b := range bridges {
		all.Go(func() {
			<-begin
			if r, err := b.report("bridge", strconv.Itoa(i)); err != nil || r.EventID == 0 {
				t.Errorf("bridge %d: %+v, %v", i, r, err)
			}
		})
	}
	close(begin)
	all.Wait()
	log, err := os.ReadFile(h.paths().Log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "msg=serving"); n != 1 {
		t.Errorf("%d services served; want one", n)
	}
	if i := h.info(); i.Role != "auto" || i.Connections != 3 {
		t.Errorf("%+v; want one auto with three connections", i)
	}
	for _, b := range bridges {
		b.close()
	}
	if all := h.events(); len(all) != 3 {
		t.Errorf("%d events; want 3", len(all))
	}
}

func TestServeTakesOverFromAuto(t *testing.T) {
	h := newHouse(t)
	b := h.bridge()
	b.mustReport("me", "to the auto")
	auto := h.holder()
	s := h.serve(thisVersion)
	if h.holder() == auto {
		t.Error("the auto still holds the ledger")
	}
	if r := b.mustReport("me", "to the serve"); r.EventID != 2 {
		t.Errorf("%+v; want event 2", r)
	}
	s.signal(syscall.SIGTERM)
	if code := s.exits(); code != 0 {
		t.Errorf("after SIGTERM it ended with %d; want 0", code)
	}
	if r := b.mustReport("me", "to the next auto"); r.EventID != 3 {
		t.Errorf("%+v; want event 3", r)
	}
}

func TestServeStandsByAndSaysWhoHolds(t *testing.T) {
	h := newHouse(t)
	first := h.serve(thisVersion)
	second := h.start(h.command(thisVersion, "serve"))
	second.says("steward: waiting, the ledger is held by another process: pid " + strconv.Itoa(first.cmd.Process.Pid) + ", serve, version " + thisVersion)
	b := h.bridge()
	b.mustReport("me", "to the first")
	kill(t, first.cmd.Process.Pid)
	eventually(t, "the second serving, or an auto", func() bool { return h.info().State == "serving" })
	if r := b.mustReport("me", "after the kill"); r.EventID != 2 {
		t.Errorf("%+v; want event 2", r)
	}
	eventually(t, "the second serving", func() bool { return h.holder() == second.cmd.Process.Pid })
	if r := b.mustReport("me", "to the second"); r.EventID != 3 {
		t.Errorf("%+v; want event 3", r)
	}
}

func TestNewerTakesOverOlder(t *testing.T) {
	h := newHouse(t)
	older := h.serve(thisVersion)
	b := h.bridge()
	b.mustReport("me", "to the older")
	newer := h.serve(newerVersion)
	if code := older.exits(); code != 0 {
		t.Errorf("the older ended with %d; want 0", code)
	}
	again := h.start(h.command(thisVersion, "serve"))
	again.says("held by another process: pid " + strconv.Itoa(newer.cmd.Process.Pid))
	if r := b.mustReport("me", "to the newer"); r.EventID != 2 {
		t.Errorf("%+v; want event 2", r)
	}
}

func TestNewerClientsReplaceAnOlderAuto(t *testing.T) {
	for name, call := range map[string]func(h *house){
		"bridge": func(h *house) {
			h.bridgeOf(h.command(newerVersion, "mcp")).mustReport("me", "to the older, or the newer")
		},
		"call": func(h *house) {
			if out, err := h.command(newerVersion, "call", "report_done", "--actor", "me", "--outcome", "the same").CombinedOutput(); err != nil {
				h.t.Fatalf("%v\n%s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			b := h.bridge()
			b.mustReport("me", "to the older")
			call(h)
			eventually(t, "the newer serving", func() bool { i := h.info(); return i.Version == newerVersion && i.State == local.StateServing })
			newer := h.holder()
			if r := b.mustReport("me", "from an older bridge, to the newer"); r.EventID != 3 {
				t.Errorf("%+v; want event 3", r)
			}
			h.ok("status")
			if i := h.info(); i.PID != newer || i.Role != "auto" {
				t.Errorf("%+v; want the newer, process %d", i, newer)
			}
		})
	}
}

func TestNewerClientsLeaveAServeAlone(t *testing.T) {
	h := newHouse(t)
	s := h.serve(thisVersion)
	h.bridgeOf(h.command(newerVersion, "mcp")).mustReport("me", "to the older")
	time.Sleep(time.Second) // as long as a service that is not needed tries
	if i := h.info(); i.PID != s.cmd.Process.Pid {
		t.Errorf("%+v; want process %d", i, s.cmd.Process.Pid)
	}
}

func TestKilledServiceComesBack(t *testing.T) {
	h := newHouse(t)
	b := h.bridge()
	b.mustReport("me", "before")
	socket := h.paths().Socket
	killed := h.holder()
	kill(t, killed)
	eventually(t, "the lock's release", func() bool { return h.holder() != killed })
	if r := b.mustReport("me", "after"); r.EventID != 2 { // a stale socket stands at the path until then
		t.Errorf("%+v; want event 2", r)
	}
	if fi, err := os.Lstat(socket); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want mode 0600", fi, err)
	}
	h.ok("verify")
}

func TestSignalDrains(t *testing.T) {
	h := newHouse(t)
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		p := h.serve(thisVersion)
		p.signal(s)
		if code := p.exits(); code != 0 {
			t.Errorf("%v: ended with %d; want 0", s, code)
		}
		if h.holder() != 0 {
			t.Errorf("%v: the ledger is still held", s)
		}
		if _, err := os.Lstat(h.paths().Socket); !os.IsNotExist(err) {
			t.Errorf("%v: the socket's path stays: %v", s, err)
		}
	}
}

func TestTwoHomesOnOneLedger(t *testing.T) {
	a := newHouse(t)
	file := filepath.Join(a.dir, "shared.db")
	a.env = append(a.env, "STEWARD_DB="+file)
	b := &house{t: t, dir: a.dir, env: append(a.env[:len(a.env):len(a.env)], "STEWARD_HOME="+filepath.Join(a.dir, "second"))}
	first := a.serve(thisVersion)
	second := b.start(b.command(thisVersion, "serve"))
	second.says("held by another process: pid " + strconv.Itoa(first.cmd.Process.Pid))
	a.ok("emit", "from a", "--actor", "a")
	b.ok("emit", "from b", "--actor", "b")
	if out := b.ok("doctor"); !strings.Contains(out, "held by pid "+strconv.Itoa(first.cmd.Process.Pid)) {
		t.Errorf("doctor does not name the holder:\n%s", out)
	}
	first.signal(syscall.SIGTERM)
	first.exits()
	eventually(t, "the second's turn", func() bool { return b.holder() == second.cmd.Process.Pid })
	a.ok("emit", "from a again", "--actor", "a")
	second.signal(syscall.SIGTERM)
	second.exits()
	if all := a.events(); len(all) != 3 {
		t.Errorf("%d events; want 3 in the one ledger", len(all))
	}
}

func TestAnotherSocketForTheSameLedger(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.serve(thisVersion)
	other := &house{t: t, dir: h.dir, env: append(h.env[:len(h.env):len(h.env)], "STEWARD_SOCKET="+filepath.Join(h.dir, "run", "other.sock"))}
	t.Cleanup(func() { // a service the other one has started may still be trying
		s.signal(syscall.SIGTERM)
		s.exits()
		for limit := time.Now().Add(1500 * time.Millisecond); time.Now().Before(limit); {
			other.end()
		}
	})
	a := other.run("status")
	if a.code != 6 || !strings.Contains(a.err, "pid "+strconv.Itoa(s.cmd.Process.Pid)) {
		t.Errorf("exit %d, %q; want 6, naming the holder", a.code, a.err)
	}
	if a := other.run("doctor"); a.code != 6 || !strings.Contains(a.out, "the service listens on "+h.paths().Socket) {
		t.Errorf("doctor: exit %d\n%s", a.code, a.out)
	}
	if a := other.run("stop"); a.code != 6 || !strings.Contains(a.err, "end process "+strconv.Itoa(s.cmd.Process.Pid)+" yourself") {
		t.Errorf("stop: exit %d, %q", a.code, a.err)
	}
}

func TestLongPaths(t *testing.T) {
	h := newHouse(t)
	deep := filepath.Join(h.dir, strings.Repeat("deep/", 30), "home")
	h.env = append(h.env, "STEWARD_HOME="+deep, "XDG_RUNTIME_DIR=")
	h.ok("emit", "from a deep folder", "--actor", "me")
	if s := h.paths().Socket; len(s) > 100 || strings.HasPrefix(s, h.dir) {
		t.Errorf("socket %s", s)
	}
	if out := h.ok("status"); !strings.Contains(out, "from a deep folder") {
		t.Errorf("status:\n%s", out)
	}
}

func TestEmitIsKeptWhenNobodyAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.paths()
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := ledger.Lock(p.Ledger, "pid 1, a process that does not answer")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out := h.ok("emit", "kept", "--actor", "me")
	if took := time.Since(begin); took < 4*time.Second || took > 8*time.Second {
		t.Errorf("gave up after %s; want about 5 s", took)
	}
	if !strings.HasPrefix(out, "kept on disk, because ") {
		t.Errorf("said %q", out)
	}
	if a := h.run("status"); a.code != 6 || !strings.Contains(a.err, "a process that does not answer") {
		t.Errorf("status: exit %d, %q; want 6, naming the holder", a.code, a.err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if out := h.ok("status"); !strings.Contains(out, "kept") {
		t.Errorf("after the next start:\n%s", out)
	}
	all := h.events()
	if len(all) != 1 || all[0].SaidAt == 0 || all[0].SaidAt.Time().Before(begin.Add(-time.Second)) {
		t.Errorf("%+v; want it once, with when it was said", all)
	}
}

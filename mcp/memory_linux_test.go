package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

func init() { children["service"] = serviceProcess }

// serviceProcess serves at the address until its standard input ends.
func serviceProcess(address string) error {
	ctx := context.Background()
	log, err := ledger.Open(ctx, ledger.Options{Path: filepath.Join(filepath.Dir(address), "ledger.db")})
	if err != nil {
		return err
	}
	s := NewSocket(SocketConfig{Version: "1.2.3"})
	s.Ready(NewServer("1.2.3", ops.NewSet(&ops.Env{Log: log}, append(ops.All(), echo())...), nil))
	l, err := Listen(address)
	if err != nil {
		return err
	}
	go s.Serve(l)
	fmt.Println("serving")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(s.Drain(ctx), log.Close())
}

func TestIdleConnections(t *testing.T) {
	const connections = 1000
	most := 40 << 20 // bytes
	if raceDetector {
		most *= 3 // it takes several times the memory: there the limit finds a leak only
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, address: filepath.Join(dir, "s.sock")}
	cmd := child(os.Args[0], "service", f.address)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the service: %v", err)
		}
	}()
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); line != "serving\n" {
		t.Fatalf("the service says %q, %v", line, err)
	}

	active := f.hello(t, local.Hello{})
	for i := range 100 {
		active.text(i, "report_done", `{"actor":"ada"}`)
	}
	before := residentMemory(t, cmd.Process.Pid)
	for range connections {
		// Each has done something, so that it keeps what a used one keeps.
		f.hello(t, local.Hello{Client: "codex 0.50"}).text(1, "test_echo", `{"text":"then idle"}`)
	}
	cost := residentMemory(t, cmd.Process.Pid) - before
	t.Logf("%d idle connections cost %.1f MB (%.1f MB before)", connections, float64(cost)/(1<<20), float64(before)/(1<<20))
	if cost > most {
		t.Errorf("%d idle connections cost %d bytes; at most %d", connections, cost, most)
	}
	active.text("1000", "report_done", `{"actor":"ada"}`)
}

// residentMemory is what a process has in memory, in bytes.
func residentMemory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.Fields(kb)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

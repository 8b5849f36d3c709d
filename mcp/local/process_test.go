//go:build unix

package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the processes that get killed: run with this
// variable it is a bridge on its stdio, or a service with a journal.
const childEnv = "LOCAL_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "bridge":
		Light()
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err := RunBridge(ctx, BridgeConfig{Address: os.Getenv("ADDRESS"), Spool: os.Getenv("SPOOL"), Hello: Hello{Version: "1"}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "service":
		if err := serveJournal(os.Getenv("ADDRESS"), os.Getenv("SPOOL"), os.Getenv("JOURNAL")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

func child(t testing.TB, kind string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+kind, "GORACE=atexit_sleep_ms=0")...)
	cmd.Stderr = os.Stderr
	return cmd
}

// until polls, for what another process does.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// bridgeProcess is a bridge in a process of its own.
type bridgeProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startBridge(t *testing.T, address, spool string) *bridgeProcess {
	t.Helper()
	cmd := child(t, "bridge", "ADDRESS="+address, "SPOOL="+spool)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bridgeProcess{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return b
}

func (b *bridgeProcess) send(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bridgeProcess) reply() reply {
	b.t.Helper()
	line, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatal(err)
	}
	return parseReply(b.t, line)
}

func (b *bridgeProcess) kill() {
	b.t.Helper()
	if err := b.cmd.Process.Kill(); err != nil {
		b.t.Fatal(err)
	}
	b.cmd.Wait()
}

const ping9 = `{"jsonrpc":"2.0","id":9,"method":"ping"}`

func TestBareListIsOneLineAndNoService(t *testing.T) {
	cmd := child(t, "bridge", "ADDRESS="+socketPath(t), "SPOOL="+t.TempDir())
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("\n")); n != 1 || !bytes.HasPrefix(out, []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`)) {
		t.Errorf("%d lines: %.200s", n, out)
	}
}

func TestBridgeKilledBeforeItSends(t *testing.T) {
	dir, address := t.TempDir(), socketPath(t)
	b := startBridge(t, address, dir)
	b.send(report(1, "one")) // nobody there to send it to
	b.send(ping9)
	b.reply()
	b.kill()
	f := newFake(t)
	f.spool = dir
	f.drain()
	f.check(t) // the client was told nothing, so nothing is owed
}

func TestBridgeKilledAfterItSent(t *testing.T) {
	dir, address := t.TempDir(), socketPath(t)
	f := newFake(t)
	f.spool = dir
	got, killed := make(chan struct{}), make(chan struct{})
	f.handle = func(q *fakeRequest) {
		if q.c.n == 1 {
			close(got)
			<-killed
		}
		q.answer(q.run())
	}
	f.listen(address)
	defer f.kill()
	b := startBridge(t, address, dir)
	b.send(report(1, "one"))
	<-got
	b.kill()
	close(killed)
	// The next bridge has slots of its own.
	b = startBridge(t, address, dir)
	b.send(report(1, "two"))
	if r := b.reply(); r.Result.Structured.EventID == 0 {
		t.Errorf("%+v", r)
	}
	until(t, "both calls", func() bool { return len(f.outcomes()) == 2 })
}

// Killed when the call is in the spool and the client has not been told: it
// takes effect, once.
func TestBridgeKilledAfterItSpooled(t *testing.T) {
	dir, address := t.TempDir(), socketPath(t)
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outR.Close()
	defer outW.Close()
	fill(t, outW) // the answer has no place to go to
	cmd := child(t, "bridge", "ADDRESS="+address, "SPOOL="+dir)
	cmd.Stdout = outW
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()

	f := newFake(t)
	seen := make(chan struct{})
	f.handle = func(q *fakeRequest) { q.run(); close(seen) } // takes effect; nobody is told
	f.listen(address)
	if _, err := io.WriteString(in, report(1, "one")+"\n"); err != nil {
		t.Fatal(err)
	}
	<-seen
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "the spool file", func() bool { return len(spoolFiles(t, dir)) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	f.kill()
	f.spool = dir
	f.drain()
	f.drain()
	f.check(t, "one")
	if left := spoolFiles(t, dir); len(left) != 0 {
		t.Errorf("left in the spool: %v", left)
	}
}

// fill writes to a pipe until nothing more fits.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		syscall.SetNonblock(int(fd), true)
		for size := 4096; size > 0; {
			if _, err := syscall.Write(int(fd), bytes.Repeat([]byte{'\n'}, size)); errors.Is(err, syscall.EAGAIN) {
				size /= 2
			}
		}
		syscall.SetNonblock(int(fd), false)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// SIGTERM with receipts under way: in the spool, and an orderly end.
func TestBridgeTerminated(t *testing.T) {
	dir := t.TempDir()
	b := startBridge(t, socketPath(t), dir)
	b.send(report(1, "one"))
	b.send(ping9)
	b.reply()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if r := b.reply(); !r.Result.Structured.Spooled {
		t.Errorf("%+v", r)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if files := spoolFiles(t, dir); len(files) != 1 {
		t.Errorf("spooled: %v", files)
	}
}

// serveJournal is a service that writes what takes effect to a file, synced,
// before it answers, and knows it again when it is started anew.
func serveJournal(address, spool, path string) error {
	f := newFake(onStderr{})
	f.spool = spool
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	for line := range strings.Lines(string(b[:whole])) {
		var bridge, outcome string
		var slot int
		var seq uint64
		if _, err := fmt.Sscan(line, &bridge, &slot, &seq, &outcome); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		f.apply(bridge, slot, seq, outcome)
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Truncate(int64(whole)), seekEnd(w)); err != nil {
		return err
	}
	f.journal = func(bridge string, slot int, seq uint64, outcome string) {
		if _, err := fmt.Fprintln(w, bridge, slot, seq, outcome); err != nil || w.Sync() != nil {
			os.Exit(1)
		}
	}
	os.Remove(address)
	ln, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go f.serve(c)
	}
}

// onStderr is where a fake in a process of its own complains.
type onStderr struct{}

func (onStderr) Helper()                         {}
func (onStderr) Error(args ...any)               { fmt.Fprintln(os.Stderr, args...) }
func (onStderr) Errorf(form string, args ...any) { fmt.Fprintf(os.Stderr, form+"\n", args...) }
func (onStderr) Fatal(args ...any)               { fmt.Fprintln(os.Stderr, args...); os.Exit(1) }

func seekEnd(w *os.File) error {
	_, err := w.Seek(0, io.SeekEnd)
	return err
}

// A service that is killed again and again while bridges report through it:
// every call is answered, and takes effect once.
func TestServiceKilled(t *testing.T) {
	const kills, bridges = 15, 3
	dir := t.TempDir()
	address, spool, journal := filepath.Join(dir, "s"), filepath.Join(dir, "spool"), filepath.Join(dir, "journal")
	service := func() *exec.Cmd {
		cmd := child(t, "service", "ADDRESS="+address, "SPOOL="+spool, "JOURNAL="+journal)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	stop := make(chan struct{})
	var said sync.Map
	var live atomic.Int64
	var wg sync.WaitGroup
	for i := range bridges {
		p := start(t, t.Context(), BridgeConfig{Address: address, Spool: spool, Hello: Hello{Version: "1"}})
		wg.Go(func() {
			defer p.close()
			for n := 0; ; n += 4 {
				select {
				case <-stop:
					return
				default:
				}
				for k := range 4 { // a few at once
					p.send(report(n+k, fmt.Sprintf("%d.%d", i, n+k)))
				}
				for range 4 {
					r := p.reply()
					if r.Error.Code != 0 || r.Result.IsError {
						t.Errorf("%+v", r)
					}
					if !r.Result.Structured.Spooled {
						live.Add(1)
					}
					said.Store(fmt.Sprintf("%d.%v", i, r.ID), true)
				}
			}
		})
	}
	var cmd *exec.Cmd
	for range kills {
		cmd = service()
		before := live.Load()
		until(t, "calls of this service", func() bool { return live.Load() > before })
		time.Sleep(rand.N(20 * time.Millisecond)) // any moment will do, and a real process knows no other clock
		cmd.Process.Kill()
		cmd.Wait()
	}
	cmd = service()
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	before := live.Load()
	until(t, "calls after the last start", func() bool { return live.Load() > before })
	close(stop)
	wg.Wait()
	// One more hello, for what is left in the spool.
	c, err := Connect(t.Context(), ConnectConfig{Address: address, Hello: Hello{Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()

	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for line := range strings.Lines(string(b)) {
		times[line[strings.LastIndexByte(strings.TrimSpace(line), ' ')+1:len(line)-1]]++
	}
	n := 0
	said.Range(func(k, _ any) bool {
		if n++; times[k.(string)] != 1 {
			t.Errorf("%s took effect %d times", k, times[k.(string)])
		}
		delete(times, k.(string))
		return true
	})
	if len(times) > 0 {
		t.Errorf("took effect and was never answered: %v", times)
	}
	t.Logf("%d calls over %d kills", n, kills)
}

//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
)

// patience is how long a test waits for what other processes must do soon.
const patience = 30 * time.Second

// house is one user's Steward: a state folder and the processes on it.
type house struct {
	t   *testing.T
	dir string // holds the state folder `home` and the runtime folder `run`
	env []string
	uid int // of the processes; 0: of the test
}

// newHouse makes an empty one with a short path and empties it after the test.
// extra are NAME=value pairs.
func newHouse(t *testing.T, extra ...string) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: dir}
	h.env = append([]string{"HOME=" + dir, "LOCALAPPDATA=" + dir, "STEWARD_HOME=" + filepath.Join(dir, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, extra...)
	t.Cleanup(func() {
		h.end()
		if t.Failed() {
			log, _ := os.ReadFile(h.paths().Log) // there may be none
			t.Logf("the log:\n%s", log)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *house) paths() daemon.Paths {
	h.t.Helper()
	env := h.env
	last := daemon.Env{} // of a repeated name the last counts, as for a child of os/exec
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		last[name] = value
	}
	p, err := daemon.Find(last)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// command is `steward ARGS` of that version in this house.
func (h *house) command(version string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(program(h.t, version), "steward"), args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	h.become(cmd)
	return cmd
}

// answer is what a command has said.
type answer struct {
	code     int
	out, err string
}

// run runs a command to its end.
func (h *house) run(args ...string) answer {
	h.t.Helper()
	cmd := h.command(thisVersion, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	err := cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		h.t.Fatal(err)
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// ok is run for a command that must succeed; it returns its output.
func (h *house) ok(args ...string) string {
	h.t.Helper()
	a := h.run(args...)
	if a.code != 0 {
		h.t.Fatalf("steward %s: exit %d\n%s%s", strings.Join(args, " "), a.code, a.out, a.err)
	}
	return a.out
}

// end stops the house's service.
func (h *house) end() {
	if a := h.run("stop"); a.code != 0 {
		h.t.Logf("stop: exit %d %s%s", a.code, a.out, a.err)
	}
}

// holder is the process that holds the ledger, 0 if none does.
func (h *house) holder() int {
	h.t.Helper()
	text, held, err := ledger.Holder(h.paths().Ledger)
	if err != nil {
		h.t.Fatal(err)
	}
	if !held {
		return 0
	}
	return daemon.HolderPID(text)
}

// info is what the service says about itself; zero while none answers.
func (h *house) info() local.Info {
	ctx, cancel := context.WithTimeout(context.Background(), local.HelloTimeout)
	defer cancel()
	i, err := local.AskInfo(ctx, h.paths().Socket)
	if err != nil {
		return local.Info{}
	}
	return i
}

// eventually polls other processes until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s did not happen within %s", what, patience)
		}
	}
}

// events reads every event of a ledger whose service has stopped.
func (h *house) events() (all []ledger.Event) {
	h.t.Helper()
	h.end()
	p := h.paths()
	lock, err := ledger.Lock(p.Ledger, "a test")
	if err != nil {
		h.t.Fatal(err)
	}
	defer lock.Release() //nolint:errcheck // the process ends soon
	log, err := ledger.Open(context.Background(), ledger.Options{Path: p.Ledger})
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // only read
	for more := true; more; {
		err := log.View(context.Background(), func(v *ledger.View) error {
			var since int64
			if len(all) > 0 {
				since = all[len(all)-1].ID
			}
			var page []ledger.Event
			page, more, err = v.Events(since, 200)
			all = append(all, page...)
			return err
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return all
}

// process is a child that runs until it is ended.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	said *buffer // on its standard error
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (h *house) start(cmd *exec.Cmd) *process {
	h.t.Helper()
	p := &process{t: h.t, cmd: cmd, done: make(chan struct{}), said: &buffer{}}
	cmd.Stderr = p.said
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // its state says how it ended
	}()
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-p.done
	})
	return p
}

// serve starts an explicit service and waits until it serves.
func (h *house) serve(version string) *process {
	h.t.Helper()
	p := h.start(h.command(version, "serve"))
	eventually(h.t, "serving", func() bool {
		i := h.info()
		return i.PID == p.cmd.Process.Pid && i.State == local.StateServing
	})
	return p
}

// exits waits for the process's end and returns its exit code.
func (p *process) exits() int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("process %d did not end; it said\n%s", p.cmd.Process.Pid, p.said)
		return -1
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) says(text string) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("saying %q", text), func() bool { return strings.Contains(p.said.String(), text) })
}

// bridge is a `steward mcp` process with an MCP client at its other end.
type bridge struct {
	*process
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

func (h *house) bridge() *bridge { return h.bridgeOf(h.command(thisVersion, "mcp")) }

// bridgeOf starts cmd, which is a bridge.
func (h *house) bridgeOf(cmd *exec.Cmd) *bridge {
	h.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	b := &bridge{process: h.start(cmd), in: in, out: bufio.NewReaderSize(out, 1<<20)}
	if _, err := b.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`); err != nil {
		h.t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		h.t.Fatal(err)
	}
	return b
}

// ask sends one request and returns its result.
func (b *bridge) ask(method, params string) (json.RawMessage, error) {
	b.n++
	if _, err := fmt.Fprintf(b.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", b.n, method, params); err != nil {
		return nil, err
	}
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var a struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("%w: %s", err, line)
	}
	if a.ID != b.n || a.Error != nil {
		return nil, fmt.Errorf("request %d: %s", b.n, line)
	}
	return a.Result, nil
}

// receipt is the answer to report_done.
type receipt struct {
	EventID int64 `json:"event_id"`
	Spooled bool  `json:"spooled"`
}

// report leaves one receipt.
func (b *bridge) report(actor, outcome string) (receipt, error) {
	raw, err := b.ask("tools/call", fmt.Sprintf(`{"name":"report_done","arguments":{"actor":%q,"outcome":%q}}`, actor, outcome))
	if err != nil {
		return receipt{}, err
	}
	var r struct {
		Structured receipt `json:"structuredContent"`
		IsError    bool    `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.IsError {
		return receipt{}, fmt.Errorf("report_done: %s", raw)
	}
	return r.Structured, nil
}

func (b *bridge) mustReport(actor, outcome string) receipt {
	b.t.Helper()
	r, err := b.report(actor, outcome)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// close ends the client; the bridge follows.
func (b *bridge) close() {
	b.t.Helper()
	if err := b.in.Close(); err != nil {
		b.t.Error(err)
	}
	if code := b.exits(); code != 0 {
		b.t.Errorf("the bridge ended with %d: %s", code, b.said)
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.SIGKILL)
	}
	if err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

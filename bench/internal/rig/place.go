// Package rig sets up what the benchmarks measure: real processes in folders of
// their own, MCP conversations with them, the receipts they are sent and the
// load they are put under.
package rig

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp/local"
)

// Binary is the flag that names the steward to measure; Build makes one when it
// is empty.
var Binary = flag.String("steward", "", "the steward binary to measure (default: build one)")

// Build returns the absolute path of the steward to measure: the one the flag
// names, else one built into dir, without cgo and without the race detector.
func Build(ctx context.Context, dir string) (string, error) {
	if *Binary != "" {
		return filepath.Abs(*Binary)
	}
	path := filepath.Join(dir, "steward")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "steward")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Place is a state folder with nothing in it, and the processes that use it.
type Place struct {
	Dir    string // real path of the folder; holds everything
	Ledger string // the ledger file
	Socket string // where its owner listens

	binary string
}

// NewPlace makes a state folder for the steward at binary.
func NewPlace(binary string) (*Place, error) {
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	return &Place{Dir: dir, Ledger: filepath.Join(dir, "ledger.db"), Socket: address(dir), binary: binary}, nil
}

// address is where a service in folder dir listens: a socket's path, on Windows
// a pipe's name.
func address(dir string) string {
	if runtime.GOOS == "windows" {
		return `\\.\pipe\` + filepath.Base(dir)
	}
	return filepath.Join(dir, "s.sock")
}

// Key is the ledger's name in a hello.
func (p *Place) Key() string {
	sum := sha256.Sum256([]byte(p.Ledger))
	return hex.EncodeToString(sum[:])
}

// Command is a steward command in this place, in an environment that holds
// nothing else of the caller's.
func (p *Place) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, args...)
	cmd.Dir = p.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir, "STEWARD_HOME=" + p.Dir, "STEWARD_BACKUP_DAILY=false", "STEWARD_SOCKET=" + p.Socket}
	for _, name := range []string{"SystemRoot", "TEMP"} { // Windows starts nothing without them
		if v := os.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

// Bridge starts `steward mcp` for a workspace.
func (p *Place) Bridge(stream string) (*Process, error) {
	cmd := p.Command("mcp")
	cmd.Env = append(cmd.Env, "STEWARD_STREAM="+stream)
	return Start(cmd)
}

// Serve starts `steward serve` and waits until it answers.
func (p *Place) Serve(ctx context.Context) (*exec.Cmd, error) {
	cmd := p.Command("serve")
	log, err := os.Create(filepath.Join(p.Dir, "serve.out"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.wait(ctx, 30*time.Second); err != nil {
		said, _ := os.ReadFile(log.Name())
		return nil, errors.Join(err, cmd.Process.Kill(), fmt.Errorf("it said: %s", said))
	}
	return cmd, nil
}

// wait dials until the place's owner serves.
func (p *Place) wait(ctx context.Context, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := Dial(ctx, p.Socket, p.Key(), "bench", false)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no service at %s: %w", p.Socket, err)
		case <-tick.C:
		}
	}
}

// Owner asks whoever listens at the place's socket for its process id.
func (p *Place) Owner(ctx context.Context) (pid int, err error) {
	nc, err := local.Dial(ctx, p.Socket)
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := nc.SetDeadline(deadline); err != nil {
			return 0, err
		}
	}
	if err := local.WriteLine(nc, local.Line{Info: &local.Info{}}); err != nil {
		return 0, err
	}
	line, err := local.ReadLine(bufio.NewReader(nc))
	if err != nil {
		return 0, err
	}
	if line.Info == nil || line.Info.PID == 0 {
		return 0, fmt.Errorf("%s does not say who it is", p.Socket)
	}
	return line.Info.PID, nil
}

// Close ends the owner of the ledger and removes the folder.
func (p *Place) Close() error {
	if _, held, err := ledger.Holder(p.Ledger); err == nil && held {
		if out, err := p.Command("stop").CombinedOutput(); err != nil {
			return fmt.Errorf("steward stop: %w\n%s", err, out)
		}
	}
	return os.RemoveAll(p.Dir)
}

// Process is a program that speaks MCP on its standard input and output.
type Process struct {
	*Conn
	Cmd *exec.Cmd
}

// Start starts cmd as an MCP server on pipes. What it writes to standard error
// is kept and is part of Stop's error.
func Start(cmd *exec.Cmd) (*Process, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if cmd.Stderr == nil {
		cmd.Stderr = new(strings.Builder)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{Conn: newConn(out, in, in), Cmd: cmd}, nil
}

// Stop ends the conversation by closing its input and waits for the process.
func (p *Process) Stop() error {
	p.Close()
	if err := p.Cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %v", filepath.Base(p.Cmd.Path), err, p.Cmd.Stderr)
	}
	return nil
}

// Resident returns how many bytes of memory a process holds (VmRSS). It reads
// /proc, so it works on Linux alone.
func Resident(pid int) (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("process %d: no VmRSS in its status", pid)
}

// Python returns the interpreter itself: a wrapper that picks a version would be
// timed with it.
func Python() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "", fmt.Errorf("python3: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

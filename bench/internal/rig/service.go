package rig

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp"
	"steward/mcp/ops"
)

// Version is what services and clients of a benchmark call themselves.
const Version = "0.0.0-bench"

// serveWord is the first argument that makes a benchmark's own binary a service.
const serveWord = "serve-for-bench"

// echoArgs are report_done's own: the same fields, limits and words.
type echoArgs struct {
	Actor      string      `json:"actor" arg:"required,line,max=128" doc:"Who did it"`
	Type       string      `json:"type" arg:"line,max=64,default=done" doc:"What kind of thing happened"`
	Object     string      `json:"object_id" arg:"line,max=128" doc:"What it is about"`
	Outcome    string      `json:"outcome" arg:"line,max=512" doc:"What came of it"`
	File       string      `json:"file" arg:"line,max=4096" doc:"Where to look"`
	Metrics    ops.Ordered `json:"metrics" arg:"max=256" doc:"Numbers"`
	Injectable *bool       `json:"injectable" doc:"Whether others' reports show it"`
}

// echo is a tool that does nothing: what it costs is the transport, the protocol
// and the validation of its arguments. It answers as much as report_done does,
// through the same encoder.
func echo() ops.Op {
	spec := ops.Spec{Name: "echo", Title: "Echo", Text: "Answers at once.", Surfaces: ops.Agent}
	return ops.Act(spec, func(_ context.Context, _ *ops.Env, _ ops.Caller, in echoArgs) (ops.Receipt, error) {
		return ops.Receipt{EventID: int64(len(in.Outcome)), RecordedAt: ledger.At(time.Now())}, nil
	})
}

// ServeIfAsked turns the process into a service when its arguments ask for one,
// and then does not return. A benchmark that uses StartService calls it first.
func ServeIfAsked() {
	if len(os.Args) < 2 || os.Args[1] != serveWord {
		return
	}
	if err := serve(os.Args[2:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(args []string, in io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet(serveWord, flag.ContinueOnError)
	path := flags.String("ledger", "", "the ledger file")
	address := flags.String("socket", "", "where to listen")
	batch := flags.Int("batch", 0, "most updates in one commit; 0: the default")
	profile := flags.String("profile", "", "write a CPU profile to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	lock, err := ledger.Lock(*path, "pid "+strconv.Itoa(os.Getpid())+" bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log, err := ledger.Open(ctx, ledger.Options{Path: *path, MaxBatch: *batch})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	quiet := slog.New(slog.DiscardHandler)
	env := &ops.Env{Log: log, Targets: func() []string { return []string{"studio", "dj", "library"} }, Logger: quiet}
	server := mcp.NewServer(Version, ops.NewSet(env, append(ops.All(), echo())...), quiet)
	listener, err := mcp.Listen(*address)
	if err != nil {
		return err
	}
	socket := mcp.NewSocket(mcp.SocketConfig{Logger: quiet, Version: Version, Schema: ledger.SchemaVersion})
	go socket.Serve(listener)
	socket.Ready(server)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() { pprof.StopCPUProfile(); err = errors.Join(err, f.Close()) }()
	}
	fmt.Fprintln(out, "ready")
	// The parent holds the other end: when it is gone, so is the work.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	return socket.Drain(ctx)
}

// Service is a child process that serves a new ledger over a socket, with an
// echo tool beside Steward's own.
type Service struct {
	dir     string
	address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

// ServiceOptions say how the child runs.
type ServiceOptions struct {
	Batch   int      // most updates in one commit; 0: the default
	Under   []string // a command and its arguments to run it under
	Profile string   // where it writes a CPU profile; "": none
}

// StartService starts one and waits until it is ready.
func StartService(o ServiceOptions) (*Service, error) {
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Service{dir: dir, address: address(dir)}
	argv := append(o.Under[:len(o.Under):len(o.Under)], self, serveWord, "-ledger", filepath.Join(dir, "ledger.db"), "-socket", s.address,
		"-batch", strconv.Itoa(o.Batch), "-profile", o.Profile)
	s.cmd = exec.Command(argv[0], argv[1:]...)
	var said strings.Builder
	s.cmd.Stderr = &said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		s.stdin.Close()
		return nil, errors.Join(fmt.Errorf("the service did not get ready: %q %w", line, err), s.cmd.Wait(), errors.New(said.String()))
	}
	return s, nil
}

// Dial connects n stamped clients, as many bridges do.
func (s *Service) Dial(ctx context.Context, n int) ([]*Conn, error) {
	all := make([]*Conn, n)
	for i := range all {
		var err error
		if all[i], err = Dial(ctx, s.address, "", Workspace(i), true); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Stop ends the service and removes its ledger.
func (s *Service) Stop() error {
	s.stdin.Close()
	return errors.Join(s.cmd.Wait(), os.RemoveAll(s.dir))
}

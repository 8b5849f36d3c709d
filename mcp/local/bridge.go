package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// BridgeConfig is what a bridge needs of its process.
type BridgeConfig struct {
	In      io.Reader    // the MCP client's requests; default os.Stdin
	Out     io.Writer    // the answers; default os.Stdout
	Address string       // of the service
	Spool   string       // folder for what could not be told, made when needed
	Hello   Hello        // ID, Role, PID and Tools are filled in if empty
	Spawn   func() error // starts a service and returns at once; nil: never
	Dial    DialFunc     // default Dial
	Logger  *slog.Logger // default discards; messages never hold payloads

	// Met is told the version of each service that serves, and "" of one that is too
	// old for its ledger. It returns whether it has started another in its place.
	// Answers wait for it; it may be nil.
	Met func(version string) (replaced bool)
}

// stampRoom is more than any stamp, or the time of a wait, adds to a line.
const stampRoom = 128

// A bridge is the stdio side: it reads the client's lines, answers what it
// knows itself, and leaves the rest to the engine.
type bridge struct {
	engine  *engine
	version string
	log     *slog.Logger

	outMu sync.Mutex
	out   io.Writer
	gone  chan struct{} // closed when out takes no more
	once  sync.Once

	lastClient []byte // raw clientInfo last looked at
}

// Light makes the Go runtime of a process that is nothing but a bridge keep its
// heap to a few megabytes: what lives in it is small, and one bridge runs for
// each open workspace. It belongs before RunBridge.
func Light() { debug.SetGCPercent(10) }

// RunBridge serves one MCP client over In and Out until In ends, Out takes no
// more, or ctx ends. Then what is in flight has five seconds (none, if ctx
// ended) to be answered; receipts that are not go into the spool. It returns
// nil, or the error with which reading In failed. A reader blocked in In may
// outlive it.
func RunBridge(ctx context.Context, cfg BridgeConfig) error {
	if cfg.In == nil {
		cfg.In = os.Stdin
	}
	if cfg.Out == nil {
		cfg.Out = os.Stdout
	}
	if cfg.Dial == nil {
		cfg.Dial = Dial
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Hello.ID == "" {
		cfg.Hello.ID = NewID()
	}
	if cfg.Hello.Role == "" {
		cfg.Hello.Role = RoleBridge
	}
	in, restoreIn := pollable(cfg.In)
	defer restoreIn()
	out, restoreOut := pollable(cfg.Out)
	defer restoreOut()

	b := &bridge{
		engine:  newEngine(cfg.Hello, dialer{address: cfg.Address, dial: cfg.Dial, spawn: cfg.Spawn, met: cfg.Met}, cfg.Spool, cfg.Logger),
		version: cfg.Hello.Version,
		log:     cfg.Logger,
		out:     out,
		gone:    make(chan struct{}),
	}
	b.engine.notify = b.write

	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	var worker sync.WaitGroup
	worker.Go(func() { b.engine.run(running) })

	ended := make(chan error, 1)
	go func() { ended <- b.readAll(in) }()
	var err error
	by := lossPatience
	select {
	case err = <-ended:
	case <-b.gone:
	case <-ctx.Done():
		by = 0
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		hurry := context.AfterFunc(ctx, func() { b.engine.finish(time.Now()) })
		b.engine.finish(time.Now().Add(by))
		hurry()
		stop()
		worker.Wait()
	}()
	// A client that has stopped reading holds a write for ever; the process must
	// end all the same, and takes that write with it.
	patience := time.NewTimer(by + 2*takerPatience)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		stop()
	}
	return err
}

// readAll takes the client's lines until they end.
func (b *bridge) readAll(in io.Reader) error {
	l := lines{r: bufio.NewReaderSize(in, 16<<10), max: MaxMessage}
	for {
		b.engine.room()
		line, err := l.next()
		switch {
		case err == nil:
			b.take(trimEnd(line))
		case errors.Is(err, errLongLine):
			b.reject(rejection{code: codeInvalid, text: fmt.Sprintf("a message is a line of at most %d bytes (8 MiB); this longer one was skipped", MaxMessage)})
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// take handles one line, which is only valid during the call.
func (b *bridge) take(line []byte) {
	m, bad := parse(line)
	if bad != nil {
		b.reject(*bad)
		return
	}
	if m == nil {
		return
	}
	switch m.kind {
	case request:
		b.request(m, line)
	case notification:
		b.notification(m, line)
	}
	// A response answers nothing: neither bridge nor service asks.
}

func (b *bridge) request(m *message, line []byte) {
	m.id = slices.Clone(m.id)
	if answer, ok := b.local(m, line); ok {
		if b.engine.unanswered(m.id) {
			answer = duplicate(m)
		}
		b.write(answer)
		return
	}
	if !m.client.absent() {
		b.clientIs(m.client.of(line), m.version)
	}
	if m.tool != "" && len(line) > MaxMessage-stampRoom {
		b.reject(rejection{id: m.id, code: codeInvalid, text: fmt.Sprintf("a tools/call is a line of at most %d bytes; got %d", MaxMessage-stampRoom, len(line))})
		return
	}
	// With room for the line end alone: a stamp comes with a copy.
	kept := append(make([]byte, 0, len(line)+1), line...)
	if !b.engine.submit(m, kept, b.write) {
		b.write(duplicate(m))
	}
}

func duplicate(m *message) []byte {
	// With that id the refusal would be taken for the first one's answer.
	r := rejection{code: codeInvalid, text: "id: a request with " + string(m.id) + " is still unanswered"}
	return r.line()
}

func (b *bridge) notification(m *message, line []byte) {
	switch m.method {
	case "notifications/initialized":
		// Between client and bridge; the service had a hello instead.
	case "notifications/cancelled":
		if !m.cancels.absent() {
			b.engine.cancel(slices.Clone(m.cancels.of(line)), slices.Clone(line))
		}
	default:
		b.engine.pass(slices.Clone(line))
	}
}

func (b *bridge) reject(r rejection) { b.write(r.line()) }

// write sends one line to the client.
func (b *bridge) write(line []byte) {
	b.outMu.Lock()
	defer b.outMu.Unlock()
	if _, err := b.out.Write(line); err != nil {
		b.once.Do(func() {
			b.log.Info("the client takes no more answers", "err", err)
			close(b.gone)
		})
	}
}

package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"steward/ledger"
	"steward/mcp"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// How long a second start waits for the window that runs, in which that one may
// still be starting or just leaving, and how often it looks.
const (
	showPatience = 5 * time.Second
	showAgain    = 50 * time.Millisecond
	maxShowLine  = 4096 // bytes
)

// errLeaving is the answer of a window that is on its way out.
var errLeaving = errors.New("the window is closing")

// Instance is the right to be the window of a ledger. Windows of one ledger find
// each other by its socket's path, from which theirs is made.
type Instance struct {
	lock   *ledger.FileLock
	l      net.Listener
	path   string
	show   func(ctx context.Context, startup string) error
	logger *slog.Logger
	once   sync.Once
}

// showLine is what a second start says, and what the first one answers.
type showLine struct {
	Window  int    `json:"steward_window"` // 1
	Show    bool   `json:"show,omitempty"`
	Startup string `json:"startup,omitempty"` // of the desktop, which tells it that a person has asked
	Shown   bool   `json:"shown,omitempty"`
	Leaving bool   `json:"leaving,omitempty"`
	Error   string `json:"error,omitempty"`
}

// instanceAddress is where the window of the ledger behind socket listens.
func instanceAddress(socket string) (address, lock string) {
	if runtime.GOOS == "windows" {
		address = socket + "-window"
		return address, filepath.Join(os.TempDir(), strings.TrimLeft(filepath.Base(address), `\.`))
	}
	// As long as the socket's own path, which is as long as paths of sockets may be.
	address = strings.TrimSuffix(socket, ".sock") + ".win"
	return address, address
}

// claim makes this process the window of the ledger behind socket. When there is
// one already, that one is asked to show itself, and claim returns nil without an
// error. show shows this one when another start asks for it. The error is an
// *ops.Error.
func claim(ctx context.Context, socket, startup string, show func(ctx context.Context, startup string) error, logger *slog.Logger) (*Instance, error) {
	address, lockPath := instanceAddress(socket)
	if err := os.MkdirAll(filepath.Dir(lockPath), 0o700); err != nil {
		return nil, cannotClaim(err)
	}
	ctx, cancel := context.WithTimeout(ctx, showPatience)
	defer cancel()
	for {
		lock, err := ledger.Lock(lockPath, fmt.Sprintf("pid %d", os.Getpid()))
		if err == nil {
			return newInstance(lock, address, show, logger)
		}
		if !errors.Is(err, ledger.ErrLocked) {
			return nil, cannotClaim(err)
		}
		err = askShow(ctx, address, startup)
		if err == nil {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			holder, _, _ := ledger.Holder(lockPath)
			if holder == "" {
				holder = "another process"
			}
			return nil, &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("Steward's window runs already (%s) but does not answer: %v", holder, err),
				Hint: "end that process, then start it again", Err: err}
		case <-time.After(showAgain):
		}
	}
}

func cannotClaim(err error) error {
	return &ops.Error{Code: ops.Unavailable, Message: "cannot make sure that this is the only window: " + err.Error(),
		Hint: "STEWARD_SOCKET names another place for sockets", Err: err}
}

func newInstance(lock *ledger.FileLock, address string, show func(context.Context, string) error, logger *slog.Logger) (*Instance, error) {
	l, err := mcp.Listen(address)
	if err != nil {
		_ = lock.Release() // the process ends
		return nil, cannotClaim(err)
	}
	i := &Instance{lock: lock, l: l, path: address, show: show, logger: logger}
	go i.serve()
	return i, nil
}

func (i *Instance) serve() {
	for {
		c, err := i.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			i.logger.Warn("a second start cannot ask to be shown the window", "error", err)
			return
		}
		go i.answer(c)
	}
}

func (i *Instance) answer(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(showPatience)) // a connection that takes none is closed already
	ask, err := readShow(c)
	if err != nil || !ask.Show {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), showPatience)
	defer cancel()
	reply := showLine{Shown: true}
	switch err := i.show(ctx, ask.Startup); {
	case errors.Is(err, errLeaving):
		reply = showLine{Leaving: true}
	case err != nil:
		reply = showLine{Error: err.Error()}
	}
	if err := writeShow(c, reply); err != nil {
		i.logger.Debug("a second start did not wait for its answer", "error", err)
	}
}

// Close lets another process be the window.
func (i *Instance) Close() {
	i.once.Do(func() {
		if runtime.GOOS != "windows" { // a pipe is no file
			_ = os.Remove(i.path) // while the lock is held, it is this process's own
		}
		i.l.Close()
		if err := i.lock.Release(); err != nil {
			i.logger.Warn("the window's lock was not given back in order; it goes with the process", "error", err)
		}
	})
}

// askShow asks the window at address to show itself.
func askShow(ctx context.Context, address, startup string) error {
	c, err := local.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := writeShow(c, showLine{Show: true, Startup: startup}); err != nil {
		return err
	}
	reply, err := readShow(c)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("no answer within %v", showPatience)
	case err != nil:
		return err
	case reply.Leaving:
		return errLeaving
	case !reply.Shown:
		return errors.New(reply.Error)
	}
	return nil
}

func writeShow(c net.Conn, l showLine) error {
	l.Window = 1
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = c.Write(append(b, '\n'))
	return err
}

func readShow(c net.Conn) (l showLine, err error) {
	b, err := bufio.NewReaderSize(c, maxShowLine).ReadSlice('\n')
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(bytes.TrimSpace(b), &l); err != nil {
		return l, err
	}
	if l.Window != 1 {
		return l, errors.New("it is not Steward's window")
	}
	return l, nil
}

package windowtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Window is a running Steward with its window on a Desktop.
type Window struct {
	*Inspector // nil unless asked for
	Cmd        *exec.Cmd
	House      *House
	Desktop    *Desktop

	said  output
	ended chan struct{}
	err   error
}

// output collects what a process says, for whoever asks meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Start starts the window of a house. inspect opens the inspector; env is added
// to the environment.
func (d *Desktop) Start(program string, h *House, inspected bool, env ...string) (*Window, error) {
	w := &Window{Cmd: h.Command(program), House: h, Desktop: d, ended: make(chan struct{})}
	w.Cmd.Env = append(w.Cmd.Env, append(env, "DISPLAY="+d.Name)...)
	address := ""
	if inspected {
		var err error
		if address, err = freePort(); err != nil {
			return nil, err
		}
		w.Cmd.Env = append(w.Cmd.Env, "WEBKIT_INSPECTOR_HTTP_SERVER="+address)
	}
	w.Cmd.Stdout, w.Cmd.Stderr = &w.said, &w.said
	w.Cmd.SysProcAttr = endsWithUs()
	if err := w.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		w.err = w.Cmd.Wait()
		close(w.ended)
	}()
	if !inspected {
		return w, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-w.ended:
			cancel()
		case <-stop:
		}
	}()
	var err error
	if w.Inspector, err = inspect(ctx, address); err == nil {
		err = w.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.Kill(), errors.New(w.Said()))
	}
	return w, nil
}

// ready waits until the page is up. Asked too early, it is still the empty one
// before it.
func (w *Window) ready(ctx context.Context) error {
	for {
		var up bool
		err := w.Eval(ctx, `!!(window.runtime && window.go && document.readyState==='complete' && document.querySelector('button'))`, &up)
		if err == nil && up {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the page does not come up: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Said is everything the process has written to its terminal.
func (w *Window) Said() string { return w.said.String() }

// ID is the window, 0 while there is none.
func (w *Window) ID() (XID, error) { return w.Desktop.Find("Steward") }

// Bounds is where the window is.
func (w *Window) Bounds() (image.Rectangle, error) {
	id, err := w.ID()
	if err == nil && id == 0 {
		err = errors.New("there is no window")
	}
	if err != nil {
		return image.Rectangle{}, err
	}
	return w.Desktop.Bounds(id)
}

// Sized waits until the window has a size, and returns where it is.
func (w *Window) Sized(width, height int) (r image.Rectangle, err error) {
	err = Until(patience, func() error {
		if r, err = w.Bounds(); err == nil && (r.Dx() != width || r.Dy() != height) {
			err = fmt.Errorf("the window is %v, %d x %d; want %d x %d", r, r.Dx(), r.Dy(), width, height)
		}
		return err
	})
	return r, err
}

// Signal asks the process to end, as a session's end does.
func (w *Window) Signal() error { return w.Cmd.Process.Signal(os.Interrupt) }

// Wait waits for the process to end.
func (w *Window) Wait(most time.Duration) error {
	select {
	case <-w.ended:
		return w.err
	case <-time.After(most):
		return fmt.Errorf("the process still runs after %v", most)
	}
}

// Kill ends the process at once.
func (w *Window) Kill() error {
	if w.Inspector != nil {
		w.Inspector.Close()
	}
	select {
	case <-w.ended:
		return nil
	default:
	}
	err := w.Cmd.Process.Kill()
	<-w.ended
	return err
}

// Log is the service's log file.
func (h *House) Log() string {
	b, err := os.ReadFile(filepath.Join(h.Home, "logs", "steward.log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

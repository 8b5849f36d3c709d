//go:build linux

package windowtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/app/windowtest"
	"steward/mcp/local"
)

// info asks whoever owns the ledger of a house what it is.
func info(t *testing.T, h *windowtest.House) (local.Info, error) {
	sockets, err := filepath.Glob(filepath.Join(h.Home, "run", "*.sock"))
	if err == nil && len(sockets) != 1 {
		err = fmt.Errorf("%d sockets", len(sockets))
	}
	if err != nil {
		return local.Info{}, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return local.AskInfo(ctx, sockets[0])
}

// owned waits until a process owns the ledger, in a role.
func owned(t *testing.T, h *windowtest.House, pid int, role string) {
	t.Helper()
	if err := windowtest.Until(patience, func() error {
		i, err := info(t, h)
		if err == nil && (i.PID != pid || i.Role != role || i.State != "serving") {
			err = fmt.Errorf("the owner is %d, %s, %s; want %d, %s", i.PID, i.Role, i.State, pid, role)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A drag is remembered over a restart, and what the person did last before a
// signal is not lost.
func TestPlaceIsRemembered(t *testing.T) {
	d, h := desktop(t, true), house(t)
	w := show(t, d, h)
	to := w.drag(image.Pt(-700, -300))
	w.must(kept(h, to)) // the window manager tells the program a little later than the screen shows it
	w.must(w.Signal())
	if err := w.Wait(patience); err != nil {
		t.Fatalf("it ended with %v\n%s", err, w.Said())
	}
	w = show(t, d, h)
	if r := w.orb(); r != to {
		t.Errorf("the orb is at %v, was put at %v", r, to)
	}
}

// kept waits until the file of places holds where the orb is.
func kept(h *windowtest.House, at image.Rectangle) error {
	return windowtest.Until(patience, func() error {
		b, err := os.ReadFile(filepath.Join(h.Home, "window.json"))
		if err == nil && (!json.Valid(b) || !strings.Contains(string(b), fmt.Sprint(at.Min.X))) {
			err = fmt.Errorf("the file holds %s", b)
		}
		return err
	})
}

// A place that no display has any more, and a file that makes no sense, are no
// reason not to be seen.
func TestRescue(t *testing.T) {
	d := desktop(t, true)
	for name, file := range map[string]string{
		"far away":    `{"places":[{"display":"screen","x":5000,"y":-300,"width":8000,"height":900}]}`,
		"half out":    `{"places":[{"display":"screen","x":1240,"y":850,"width":1280,"height":900}]}`,
		"not JSON":    `{"places":[`,
		"of no shape": `[1,2,3]`,
	} {
		t.Run(name, func(t *testing.T) {
			h := house(t)
			path := filepath.Join(h.Home, "window.json")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			w := show(t, d, h)
			r := w.orb()
			if !r.In(screen(d)) {
				t.Errorf("the orb is at %v", r)
			}
			w.must(shows(d, middle(r), disc))
			to := w.drag(image.Pt(600, 400).Sub(middle(r)))
			w.must(kept(h, to))
			w.must(w.Kill())
		})
	}
}

// Without a compositor nothing can be seen through, and nothing breaks; when one
// comes later, the window changes.
func TestWithoutCompositor(t *testing.T) {
	d := desktop(t, false)
	w := show(t, d, house(t))
	r := w.orb()
	w.until(`document.body.classList.contains('plain')`)
	w.must(shows(d, middle(r), disc))
	w.must(striped(d, image.Rectangle{Min: r.Min, Max: r.Min.Add(image.Pt(6, 6))})) // the corner is cut off
	p := w.open()
	w.must(shows(d, p.Min.Add(image.Pt(200, 300)), paper))
	w.fold()
	w.must(windowtest.Until(patience, func() error { return striped(d, screen(d), r) }))
	w.must(d.Compose())
	w.until(`document.body.classList.contains('clear')`)
	w.must(windowtest.Until(patience, func() error { return striped(d, screen(d), r.Inset(8)) }))
	w.open()
	w.fold()
}

func TestSecondStart(t *testing.T) {
	d, h := desktop(t, true), house(t)
	w := show(t, d, h)
	w.orb()
	again := func() (string, error) {
		cmd := h.Command(program(t, programVar))
		cmd.Env = append(cmd.Env, "DISPLAY="+d.Name)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := again(); err != nil {
		t.Fatalf("the second start: %v\n%s", err, out)
	}
	w.panel() // the first shows itself
	w.must(active(d, must(w.ID())))
	w.until(`document.body.classList.contains('panel')`)
	w.fold()

	// One that hangs is said to.
	w.must(w.Cmd.Process.Signal(syscall.SIGSTOP))
	out, err := again()
	w.must(w.Cmd.Process.Signal(syscall.SIGCONT))
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 6 || !strings.Contains(out, fmt.Sprintf("pid %d", w.Cmd.Process.Pid)) {
		t.Errorf("while the first hangs: %v\n%s", err, out)
	}
	w.fold() // what it was asked meanwhile
}

// Of several starts at one time one becomes the window, and all end well.
func TestStartsAtOnce(t *testing.T) {
	d, h := desktop(t, true), house(t)
	var all []*windowtest.Window
	for range 4 {
		w, err := d.Start(program(t, programVar), h, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := w.Kill(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, w)
	}
	if err := windowtest.Until(patience, func() error {
		left := 0
		for _, w := range all {
			switch err := w.Wait(0); {
			case err == nil:
			case strings.Contains(err.Error(), "still runs"):
				left++
			default:
				return fmt.Errorf("%w\n%s", err, w.Said())
			}
		}
		if left != 1 {
			return fmt.Errorf("%d run", left)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// bridge is a client of the service as agents have one.
type bridge struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

func newBridge(t *testing.T, h *windowtest.House) *bridge {
	t.Helper()
	cmd := h.Command(program(t, programVar), "mcp")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	b := &bridge{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the bridge: %v", err)
		}
		if out, err := h.Run(program(t, programVar), "stop"); err != nil && !strings.Contains(out, "no service") {
			t.Logf("stop: %s", out)
		}
	})
	return b
}

// report sends a receipt and returns the id of its event.
func (b *bridge) report() (int64, error) {
	b.n++
	if _, err := fmt.Fprintf(b.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"report_done","arguments":{"actor":"ada","object_id":"o%d"}}}`+"\n", b.n, b.n); err != nil {
		return 0, err
	}
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		return 0, err
	}
	var answer struct {
		Result struct {
			Structured struct {
				EventID int64 `json:"event_id"`
				Spooled bool  `json:"spooled"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Result.Structured.EventID == 0 {
		return 0, fmt.Errorf("receipt %d: %s", b.n, line)
	}
	return answer.Result.Structured.EventID, nil
}

// A window takes over from the service that a bridge has started, while that one
// reports; when it is closed, the bridge starts another. No receipt is lost.
func TestTakeOver(t *testing.T) {
	d, h := desktop(t, true), house(t)
	b := newBridge(t, h)
	if _, err := b.report(); err != nil {
		t.Fatal(err)
	}
	if i, err := info(t, h); err != nil || i.Role != "auto" {
		t.Fatalf("the service is %v, %v", i, err)
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for want := int64(2); ; want++ {
			id, err := b.report()
			if err == nil && id != want {
				err = fmt.Errorf("a receipt is event %d; want %d", id, want)
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil {
				ended <- err
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	w := show(t, d, h)
	w.orb()
	owned(t, h, w.Cmd.Process.Pid, "window")
	w.until(`window.seen.news.some(n => n.type === 'ledger')`)
	var attached bool
	w.eval(`window.ready.attached`, &attached)
	w.must(w.Signal())
	w.must(w.Wait(patience))
	select {
	case err := <-ended:
		t.Fatal(err)
	default:
	}
	if err := windowtest.Until(patience, func() error {
		if i, err := info(t, h); err != nil || i.Role != "auto" {
			return fmt.Errorf("the service is %v, %w", i, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// While an explicit service runs, the window is its client; when that leaves, the
// window serves, and misses nothing.
func TestAttaches(t *testing.T) {
	d, h := desktop(t, true), house(t)
	serve := h.Command(program(t, programVar), "serve")
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = serve.Process.Kill() // it has ended, if all is well
		_ = serve.Wait()
	}()
	owned(t, h, serve.Process.Pid, "serve")
	w := show(t, d, h)
	w.orb()
	w.until(`window.seen.links.at(-1)?.state === 'live'`)
	emit := func(text string) {
		t.Helper()
		if _, err := h.Run(program(t, programVar), "emit", text, "--actor", "ada"); err != nil {
			t.Fatal(err)
		}
	}
	var ready struct{ Result struct{ Attached bool } }
	w.eval(`call('window.ready')`, &ready)
	if !ready.Result.Attached {
		t.Error("the page is not told that another process serves")
	}
	emit("one")
	w.until(`window.seen.news.at(-1)?.data.last_id === 1`)
	var made struct {
		Result struct {
			Handoff struct{ ID, Status string }
		}
	}
	w.eval(`call('handoff_create', {target: 'studio', instruction: 'x', idempotency_key: 'k'})`, &made)
	var settled struct {
		Result struct{ Handoff struct{ Status string } }
		Error  json.RawMessage
	}
	w.eval(fmt.Sprintf(`call('handoff_settle', {handoff_id: %q, status: 'cancelled'})`, made.Result.Handoff.ID), &settled)
	if settled.Error != nil || settled.Result.Handoff.Status != "cancelled" {
		t.Errorf("the person may not settle through the other process: %+v", settled)
	}

	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Fatal(err)
	}
	owned(t, h, w.Cmd.Process.Pid, "window")
	emit("two")
	w.until(`window.seen.links.at(-1)?.state === 'live'`)
	w.until(`window.seen.news.at(-1)?.data.last_id === 4`)
	var gaps bool
	w.eval(`(() => { let last = 0, gap = false; for (const n of window.seen.news) if (n.type === 'ledger') for (const e of n.data.events) { gap ||= e.id !== last + 1; last = e.id } return gap })()`, &gaps)
	if gaps {
		t.Error("the page was not told of every event once and in order")
	}
}

// A task that runs outlives the window.
func TestQuitWithATask(t *testing.T) {
	d, h := desktop(t, true), house(t)
	task := filepath.Join(h.Dir, "task")
	if err := os.WriteFile(task, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := show(t, d, h, "INSPECT_ACTIVE="+task)
	w.orb()
	owned(t, h, w.Cmd.Process.Pid, "window")
	w.must(d.Click(3, middle(w.orb())))
	w.sized(208, 132)
	w.click(`#quit`)
	owned(t, h, w.Cmd.Process.Pid, "auto")
	w.must(windowtest.Until(patience, func() error {
		if id, err := w.ID(); err != nil || id != 0 {
			return fmt.Errorf("the window is %#x: %w", id, err)
		}
		return striped(d, screen(d))
	}))
	// With it goes what it was shown with.
	w.must(windowtest.Until(patience, func() error {
		if pids := children(w); len(pids) > 0 {
			return fmt.Errorf("processes of the web view are left: %v", pids)
		}
		return nil
	}))
	if out, err := h.Run(program(t, programVar), "emit", "still here", "--actor", "ada"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The next start has a window again, as a client of the process that has the task.
	next := show(t, d, h)
	next.orb()
	next.until(`window.seen.links.at(-1)?.state === 'live'`)
	if err := w.Wait(0); err == nil {
		t.Fatal("the process of the task has ended")
	}
	if err := os.Remove(task); err != nil {
		t.Fatal(err)
	}
	w.must(w.Wait(patience))
	owned(t, h, next.Cmd.Process.Pid, "window")
}

// `steward stop` closes the window that serves.
func TestStopClosesTheWindow(t *testing.T) {
	d, h := desktop(t, true), house(t)
	w := show(t, d, h)
	w.orb()
	owned(t, h, w.Cmd.Process.Pid, "window")
	if _, err := h.Run(program(t, programVar), "stop"); err != nil {
		t.Fatal(err)
	}
	w.must(w.Wait(patience))
}

// A ledger that cannot be read leaves the orb up, which says why, and is read as
// soon as it can be.
func TestLedgerThatCannotBeRead(t *testing.T) {
	d, h := desktop(t, true), house(t)
	path := filepath.Join(h.Home, "ledger.db")
	if err := os.WriteFile(path, []byte("this is no ledger"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := show(t, d, h)
	w.must(shows(d, middle(w.orb()), disc))
	w.until(`window.seen.links.at(-1)?.state === 'lost' && window.seen.links.at(-1).code && window.seen.links.at(-1).reason.includes('ledger.db')`)
	var refused struct{ Error struct{ Code string } }
	w.eval(`call('handoff_list')`, &refused)
	if refused.Error.Code == "" {
		t.Error("a call is not refused")
	}
	w.open()
	w.fold()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Run(program(t, programVar), "status"); err != nil {
		t.Logf("status: %v", err) // it may come before the window has tried again
	}
	w.must(windowtest.Until(90*time.Second, func() error {
		var live bool
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		err := w.Eval(ctx, `window.seen.links.at(-1)?.state === 'live'`, &live)
		if err == nil && !live {
			err = errors.New("the ledger is not read again")
		}
		return err
	}))
}

// A port that another program has keeps HTTP off, not the window.
func TestPortTaken(t *testing.T) {
	d, h := desktop(t, true), house(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w := show(t, d, h, "STEWARD_PORT="+port)
	w.orb()
	w.until(`window.seen.links.at(-1)?.state === 'live'`)
	if said := w.Said(); !strings.Contains(said, "running without HTTP") || !strings.Contains(said, port) {
		t.Errorf("it does not say that it runs without HTTP:\n%s", said)
	}
}

// children are the processes that show the window's page.
func children(w *win) (pids []int) {
	w.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	w.must(err)
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		var pid, parent int
		var name, state string
		if n, _ := fmt.Sscanf(string(b), "%d %s %s %d", &pid, &name, &state, &parent); n == 4 && parent == w.Cmd.Process.Pid && state != "Z" && strings.HasPrefix(name, "(WebKitWeb") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A page whose process dies comes up again.
func TestPageDies(t *testing.T) {
	d, h := desktop(t, true), house(t)
	w := show(t, d, h)
	r := w.orb()
	w.must(shows(d, middle(r), disc))
	for _, pid := range children(w) {
		w.must(syscall.Kill(pid, syscall.SIGKILL))
	}
	w.must(windowtest.Until(patience, func() error {
		if !strings.Contains(w.Said(), "the page's process has ended") {
			return errors.New("it does not say that the page's process has ended")
		}
		return nil
	}))
	w.must(shows(d, middle(r), disc))
	w.must(windowtest.Until(patience, func() error {
		if err := d.Click(1, middle(r)); err != nil {
			return err
		}
		if b, err := w.Bounds(); err != nil || b.Dx() != 448 {
			return fmt.Errorf("the window is %v, %w", b, err)
		}
		return nil
	}))
}

// As released, the inspector stays shut.
func TestReleaseHasNoInspector(t *testing.T) {
	d, h := desktop(t, true), house(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	w, err := d.Start(program(t, releaseVar), h, false, "WEBKIT_INSPECTOR_HTTP_SERVER="+address, "WEBKIT_INSPECTOR_SERVER="+address, standIn(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Kill(); err != nil {
			t.Error(err)
		}
	})
	r, err := w.Sized(80, 80)
	if err != nil {
		t.Fatal(err)
	}
	if err := windowtest.Until(patience, func() error {
		if striped(d, r.Inset(30)) == nil {
			return errors.New("the orb is not seen")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the inspector's door is open")
	}
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// chromium is a browser without a screen, driven over the two pipes that it is
// given as files 3 and 4: JSON, each message ended by NUL.
type chromium struct {
	cmd     *exec.Cmd
	dir     string
	in      io.Closer
	session string
	said    chan call // what the page said through its binding

	mu      sync.Mutex
	out     io.Writer
	next    int
	waiting map[int]chan message
	err     error // why nothing more is read
	done    chan struct{}
}

// call is what the page handed to say(…), and when it arrived.
type call struct {
	text string
	at   time.Time
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// patience bounds one command to the browser.
const patience = 30 * time.Second

// startChromium starts the program and opens a page with nothing on it, as wide
// as the panel, in which say(text) speaks to us.
func startChromium(ctx context.Context, program string) (b *chromium, err error) {
	dir, err := os.MkdirTemp("", "steward-bench-chromium-")
	if err != nil {
		return nil, err
	}
	toIn, toOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromIn, fromOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--disable-sync", "--window-size=448,700"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // it starts for no root otherwise
	}
	cmd := exec.CommandContext(ctx, program, append(args, "about:blank")...)
	cmd.ExtraFiles = []*os.File{toIn, fromOut}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	toIn.Close()
	fromOut.Close()
	b = &chromium{cmd: cmd, dir: dir, in: toOut, out: toOut, said: make(chan call, 64), waiting: map[int]chan message{}, done: make(chan struct{})}
	go b.read(fromIn)
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	var target struct {
		ID string `json:"targetId"`
	}
	if err := b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	var attached struct {
		ID string `json:"sessionId"`
	}
	if err := b.do("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	b.session = attached.ID
	for _, domain := range []string{"Page.enable", "Runtime.enable"} {
		if err := b.do(domain, nil, nil); err != nil {
			return nil, err
		}
	}
	return b, b.do("Runtime.addBinding", map[string]any{"name": "say"}, nil)
}

// read hands out what the browser sends until it ends.
func (b *chromium) read(from io.ReadCloser) {
	defer from.Close()
	r := bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := r.ReadBytes(0)
		at := time.Now()
		if err != nil {
			b.mu.Lock()
			b.err = fmt.Errorf("the browser has gone: %w", err)
			b.mu.Unlock()
			close(b.done)
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		if m.Method == "Runtime.bindingCalled" {
			var p struct {
				Payload string `json:"payload"`
			}
			if json.Unmarshal(m.Params, &p) == nil {
				select {
				case b.said <- call{p.Payload, at}:
				default: // nobody listens for so much
				}
			}
			continue
		}
		b.mu.Lock()
		answer := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// do sends a command and reads its result into result, which may be nil.
func (b *chromium) do(method string, params, result any) error {
	answer := make(chan message, 1)
	b.mu.Lock()
	b.next++
	id := b.next
	b.waiting[id] = answer
	request := map[string]any{"id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	line, err := json.Marshal(request)
	if err == nil {
		_, err = b.out.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-b.done:
		return fmt.Errorf("%s: %w", method, b.err)
	case <-late.C:
		return fmt.Errorf("%s: no answer within %s", method, patience)
	}
}

// run runs a script in the page and waits for the promise it may return.
func (b *chromium) run(script string) error {
	var r struct {
		Thrown *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := b.do("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true}, &r); err != nil {
		return err
	}
	if r.Thrown != nil {
		return fmt.Errorf("the page threw %s %s", r.Thrown.Text, r.Thrown.Exception.Description)
	}
	return nil
}

// hear waits until the page says text, and returns when that arrived.
func (b *chromium) hear(text string, most time.Duration) (time.Time, error) {
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		select {
		case c := <-b.said:
			if c.text == text {
				return c.at, nil
			}
		case <-b.done:
			return time.Time{}, b.err
		case <-late.C:
			return time.Time{}, fmt.Errorf("the page did not show %q within %s", text, most)
		}
	}
}

// close ends the browser and removes its profile.
func (b *chromium) close() error {
	b.session = ""
	_ = b.do("Browser.close", nil, nil) // it may be gone
	b.in.Close()
	_ = b.cmd.Wait() // its exit code says nothing of ours
	return os.RemoveAll(b.dir)
}

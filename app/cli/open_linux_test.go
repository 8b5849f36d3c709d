package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pair of files: what a person types and reads, and what a program
// takes for its terminal.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// typed runs a command as a person does who types it, with further variables.
func (h *house) typed(env []string, args ...string) answer {
	h.t.Helper()
	person, program := terminal(h.t)
	cmd := h.command(thisVersion, args...)
	cmd.Env = append(append([]string{}, cmd.Env...), env...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, &errs
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&shown, person) }) // ends with an error when the last program has gone
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
	program.Close()
	reading.Wait()
	return answer{cmd.ProcessState.ExitCode(), shown.String(), errs.String()}
}

// browser puts a program in the place of xdg-open that notes what it was given.
func browser(t *testing.T, h *house, exit int) (env []string, given func() string) {
	t.Helper()
	dir := t.TempDir()
	note := filepath.Join(dir, "given")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" \"token=$STEWARD_TOKEN\" >%s.new && mv %s.new %s\nexit %d\n", note, note, note, exit)
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"DISPLAY=:99", "PATH=" + dir + ":" + os.Getenv("PATH")}, func() string {
		b, err := os.ReadFile(note)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
}

var linkForm = regexp.MustCompile(`(http://127\.0\.0\.1:\d+/)#code=([A-Za-z0-9_-]{43})\r?\n`)

// signIn brings a code and returns the status and the token.
func signIn(t *testing.T, page, code string) (int, string) {
	t.Helper()
	r, err := http.Post(page+"api/signin", "application/json", strings.NewReader(fmt.Sprintf(`{"code":%q}`, code)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var got struct{ Token string }
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, got.Token
}

func TestOpen(t *testing.T) {
	h := newHouse(t)
	address := free(t)
	p := h.start(h.command(thisVersion, "serve", "--listen", address))
	p.says("steward: HTTP is on at http://" + address)
	p.says("steward open")
	with, given := browser(t, h, 0)

	for _, args := range [][]string{{"open"}, {"open", "--print"}, {"open", "--json"}} {
		a := h.typed(append(with, "STEWARD_TOKEN=a person's"), args...)
		if args[len(args)-1] == "--json" {
			var j struct {
				URL    string
				Opened bool
			}
			if err := json.Unmarshal([]byte(a.out), &j); err != nil || !j.Opened {
				t.Errorf("%v: %v in %s", args, err, a.out)
			}
			a.out = j.URL + "\n"
		}
		m := linkForm.FindStringSubmatch(a.out)
		if a.code != 0 || m == nil || m[1] != "http://"+address+"/" {
			t.Fatalf("%v: exit %d\n%s%s", args, a.code, a.out, a.err)
		}
		if args[len(args)-1] == "--print" {
			if strings.Contains(given(), m[2]) {
				t.Error("--print has opened a browser")
			}
		} else if got := given(); got != strings.TrimSpace(m[0])+"\ntoken=\n" {
			t.Errorf("%v: the browser was given %q", args, got)
		}
		if status, token := signIn(t, m[1], m[2]); status != 200 || token != h.secret("token") {
			t.Errorf("%v: the code is answered %d", args, status)
		}
		if status, token := signIn(t, m[1], m[2]); status != 401 || token != "" {
			t.Errorf("%v: the second time the code is answered %d", args, status)
		}
	}
	// A browser that cannot be started is no reason not to have the link.
	fails, _ := browser(t, h, 3)
	for why, env := range map[string][]string{"there is no desktop": nil, "xdg-open could not": fails} {
		if a := h.typed(env, "open"); a.code != 0 || !linkForm.MatchString(a.out) || !strings.Contains(a.out, why) {
			t.Errorf("%s: exit %d\n%s%s", why, a.code, a.out, a.err)
		}
	}
	log, err := os.ReadFile(h.paths().Log)
	if err != nil || strings.Contains(string(log), "code=") || strings.Contains(string(log), h.secret("token")) {
		t.Errorf("%v, or the log holds a code or the token:\n%s", err, log)
	}
}

func TestOpenIsForPeople(t *testing.T) {
	h := newHouse(t)
	h.ok("emit", "hello", "--actor", "me") // a service without HTTP: the refusals come before that matters
	if a := h.run("open"); a.code != 5 || !strings.Contains(a.err, "its input is none") {
		t.Errorf("without a terminal: exit %d\n%s", a.code, a.err)
	}
	for _, mark := range []string{"CLAUDECODE=1", "CODEX_SANDBOX=seatbelt", "GEMINI_CLI=1", "OPENCODE=1", "CURSOR_AGENT=1"} {
		name, _, _ := strings.Cut(mark, "=")
		if a := h.typed([]string{mark}, "open", "--print"); a.code != 5 || !strings.Contains(a.err, name+" is set") || strings.Contains(a.out, "code=") {
			t.Errorf("%s: exit %d\n%s%s", mark, a.code, a.out, a.err)
		}
	}
	_, program := terminal(t)
	cmd := h.command(thisVersion, "open")
	cmd.Stdin = program
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "its output is none") {
		t.Errorf("into a pipe: %v\n%s", err, out)
	}
}

func TestOpenWithoutHTTP(t *testing.T) {
	h := newHouse(t)
	wants := []string{"--listen", "STEWARD_BIND", "STEWARD_PORT", "config.json"}
	a := h.typed(nil, "open")
	for _, want := range append(wants, "HTTP is off") {
		if a.code != 6 || !strings.Contains(a.err, want) {
			t.Errorf("nothing runs: exit %d, want %q in\n%s", a.code, want, a.err)
		}
	}
	if h.holder() != 0 {
		t.Error("a service was started for a page that it does not serve")
	}
	if _, err := os.Stat(h.paths().Token); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a token was made for nothing: %v", err)
	}
	h.ok("emit", "hello", "--actor", "me")
	a = h.typed(nil, "open")
	for _, want := range append(wants, "the running service serves no HTTP", "steward stop") {
		if a.code != 6 || !strings.Contains(a.err, want) {
			t.Errorf("a service without HTTP: exit %d, want %q in\n%s", a.code, want, a.err)
		}
	}
	h.end()
	// Where HTTP is to be on, a service is started.
	address := free(t)
	if err := os.WriteFile(h.paths().Config, fmt.Appendf(nil, `{"listen":%q}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	a = h.typed(nil, "open", "--print")
	m := linkForm.FindStringSubmatch(a.out)
	if a.code != 0 || m == nil {
		t.Fatalf("with listen in the config: exit %d\n%s%s", a.code, a.out, a.err)
	}
	if status, token := signIn(t, m[1], m[2]); status != 200 || token != h.secret("token") {
		t.Errorf("the code is answered %d", status)
	}
}

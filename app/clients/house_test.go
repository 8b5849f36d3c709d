//go:build unix

package clients_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long one run of a client may take; the slowest needs 10 s on
// an idle machine of two cores.
const patience = 2 * time.Minute

// pinned is the list of clients by exact version.
//
//go:embed testdata/package.json
var pinned []byte

// clients returns the folder of installed clients, once pkg is there in its
// pinned version. It skips the test when that is not installed.
func clients(t *testing.T, pkg string) string {
	t.Helper()
	dir := os.Getenv(folderVar)
	if dir == "" {
		t.Skipf("%s is not set; it names the folder that .ci/clients-install has made", folderVar)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("%s runs on Node, which is not installed", pkg)
	}
	var pins, has struct {
		Version      string            `json:"version"`
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(pinned, &pins); err != nil {
		t.Fatal(err)
	}
	want, ok := pins.Dependencies[pkg]
	if !ok {
		t.Fatalf("testdata/package.json pins no version of %s", pkg)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", pkg, "package.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s@%s is not installed in %s", pkg, want, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &has); err != nil {
		t.Fatal(err)
	}
	if has.Version != want {
		t.Fatalf("%s holds %s@%s; pinned is %s: run .ci/clients-install again", dir, pkg, has.Version, want)
	}
	t.Logf("%s@%s", pkg, want)
	return dir
}

// workspace is the base name of the folder the clients work in.
const workspace = "studio-north"

// house is one user with an empty home, a client and a Steward.
type house struct {
	t    *testing.T
	dir  string // holds all of it; short, as sockets live below it
	home string
	work string // the working folder of the client; its base name is workspace
	env  []string
}

// newHouse makes one for clients of these npm packages, and at the end of the
// test stops the service they have started.
func newHouse(t *testing.T, pkgs ...string) *house {
	t.Helper()
	var installed string
	for _, pkg := range pkgs {
		installed = clients(t, pkg)
	}
	dir, err := os.MkdirTemp("", "st")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: dir, home: filepath.Join(dir, "user"), work: filepath.Join(dir, "user", workspace)}
	if err := os.MkdirAll(h.work, 0o700); err != nil {
		t.Fatal(err)
	}
	// Everything of Steward's is below HOME: the only variable of these that
	// every client hands to the servers it starts.
	h.env = []string{
		"HOME=" + h.home,
		"PATH=" + filepath.Join(installed, "node_modules", ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		"TMPDIR=" + dir,
		// Where there is no namespace to keep the clients from the network, a
		// proxy that is not there does.
		"HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "NO_COLOR=1",
	}
	t.Cleanup(func() {
		defer h.leave()
		if t.Failed() {
			out, _ := h.last("doctor")                                             // its exit code tells of faults
			log, _ := os.ReadFile(filepath.Join(h.state(), "logs", "steward.log")) // there may be none
			t.Logf("steward doctor:\n%s\nthe service's log:\n%s", out, log)
		}
	})
	return h
}

// state is Steward's state folder.
func (h *house) state() string {
	if runtime.GOOS == "darwin" {
		return filepath.Join(h.home, "Library", "Application Support", "Steward")
	}
	return filepath.Join(h.home, ".local", "share", "steward")
}

// leave stops the service and empties the house.
func (h *house) leave() {
	if out, err := h.last("stop"); err != nil {
		h.t.Errorf("steward stop: %v\n%s", err, out)
	}
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Error(err)
	}
}

// last runs `steward VERB` when the test is over.
func (h *house) last(verb string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return h.command(ctx, program, verb).CombinedOutput()
}

// command is a program in the working folder, ended with all its children when
// ctx is.
func (h *house) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) { // looked up in the house's PATH, not in the test's
		if path := filepath.Join(os.Getenv(folderVar), "node_modules", ".bin", name); executable(path) {
			name = path
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = h.work, h.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// output is what a program has said.
type output struct{ out, err string }

// ask is one run of a program.
type ask struct {
	name string
	args []string
	in   string   // for its standard input
	env  []string // more than the house has
}

// run runs a program to its end, which must come in time and with exit code 0.
func (h *house) run(a ask) output {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := h.command(ctx, a.name, a.args...)
	cmd.Env = append(cmd.Env, a.env...)
	cmd.Stdin = strings.NewReader(a.in)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, errors.New("it was given "+patience.String()))
	}
	said := fmt.Sprintf("%s %s", filepath.Base(a.name), strings.Join(a.args, " "))
	if err != nil {
		h.t.Fatalf("%s: %v\nits standard output:\n%s\nits standard error:\n%s", said, err, &out, &errs)
	}
	h.t.Logf("%s (%s)", said, time.Since(began).Round(10*time.Millisecond))
	return output{out.String(), errs.String()}
}

// steward runs a command that must succeed and print one line of JSON, and
// decodes that.
func (h *house) steward(into any, args ...string) {
	h.t.Helper()
	out := h.run(ask{name: program, args: append(args, "--json")}).out
	if err := json.Unmarshal([]byte(out), into); err != nil {
		h.t.Fatalf("steward %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// write puts a file into the house and returns its path.
func (h *house) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

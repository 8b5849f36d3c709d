//go:build unix

package cli_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"steward/ledger"
)

// shelf is a server of releases with a key of its own, and the flags with which
// a program knows both. There is one for all tests, so that one program knows it.
type shelf struct {
	key   ed25519.PrivateKey
	files atomic.Pointer[map[string][]byte]
	asked atomic.Int64
	flags string
}

var theShelf = sync.OnceValue(func() *shelf {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	s := &shelf{key: key}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		files := s.files.Load()
		if files == nil {
			panic(http.ErrAbortHandler)
		}
		b, ok := (*files)[strings.TrimPrefix(r.URL.Path, "/r/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(b) // the client sees what is missing
	}))
	s.flags = " -X steward/app/update.address=" + server.URL + "/r -X steward/app/update.publicKey=" + base64.StdEncoding.EncodeToString(public) +
		" -X steward/app/update.notes=https://example.org/news"
	return s
})

// newShelf is the shelf with nobody at it.
func newShelf() *shelf {
	s := theShelf()
	s.files.Store(nil)
	s.asked.Store(0)
	return s
}

// tarball is the file of a release for this system.
func tarball(version string) string {
	return fmt.Sprintf("steward_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
}

// put makes a release the newest, signed with key.
func (s *shelf) put(version string, key ed25519.PrivateKey) {
	content := []byte("the bytes of " + version)
	list := fmt.Sprintf("%x  %s\n", sha256.Sum256(content), tarball(version))
	s.files.Store(&map[string][]byte{
		tarball(version): content, "SHA256SUMS": []byte(list),
		"SHA256SUMS.sig": []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(list)))),
	})
}

// update runs `steward update` of a program that knows the shelf.
func (s *shelf) update(h *house, args ...string) answer {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(programWith(h.t, thisVersion, s.flags), "steward"), append([]string{"update"}, args...)...)
	cmd.Env, cmd.Dir = h.env, h.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if _, exited := errors.AsType[*exec.ExitError](cmd.Run()); cmd.ProcessState == nil && !exited {
		h.t.Fatal("it did not run")
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestUpdateWithoutAnAddress(t *testing.T) {
	h := newHouse(t)
	for _, args := range [][]string{{"update", "--check"}, {"update"}, {"update", "--check", "--json"}} {
		if a := h.run(args...); a.code != 6 || a.out != "" || !strings.Contains(a.err, "this build knows no address for updates") {
			t.Errorf("%v: %+v", args, a)
		}
	}
}

func TestUpdate(t *testing.T) {
	h := newHouse(t)
	s := newShelf()
	h.ok("emit", "hello", "--actor", "me") // a state folder, and a service
	s.put(newerVersion, s.key)

	a := s.update(h, "--check")
	if a.code != 0 || a.err != "" || a.out != "Steward 1.1.0 is there; this is 1.0.0.\nWhat is new: https://example.org/news\n`steward update` fetches it.\n" {
		t.Errorf("--check: %+v", a)
	}
	if a = s.update(h, "--check", "--json"); a.code != 0 || a.out != `{"version":"1.0.0","newest":"1.1.0","newer":true,"notes":"https://example.org/news"}`+"\n" {
		t.Errorf("--check --json: %+v", a)
	}
	if a = s.update(h, "--check", "--to", h.dir); a.code != 2 {
		t.Errorf("--check --to: %+v", a)
	}
	if a = s.update(h, "--to", filepath.Join(h.dir, "absent")); a.code != 2 || !strings.Contains(a.err, "--to: a folder") {
		t.Errorf("into no folder: %+v", a)
	}
	if a = s.update(h); a.code != 3 || !strings.Contains(a.err, "no Downloads folder") || !strings.Contains(a.err, "--to FOLDER") {
		t.Errorf("without Downloads: %+v", a)
	}
	folder := filepath.Join(h.dir, "Downloads")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, tarball(newerVersion))
	if a = s.update(h); a.code != 0 || !strings.Contains(a.out, "\n"+file+"\n") || !strings.Contains(a.out, "tar -xzf "+file) || !strings.Contains(a.out, "steward stop") {
		t.Errorf("it says %+v", a)
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != "the bytes of "+newerVersion {
		t.Errorf("%q, %v", b, err)
	}
	var r struct {
		Kind, File, SHA256 string
		Install            []string
	}
	if a = s.update(h, "--to", folder, "--json"); a.code != 0 || json.Unmarshal([]byte(a.out), &r) != nil || r.Kind != "tarball" || r.File != file || r.SHA256 != fmt.Sprintf("%x", sha256.Sum256(b)) || len(r.Install) != 2 {
		t.Errorf("again, for a program: %+v, %+v", a, r)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a = s.update(h); a.code != 4 || !strings.Contains(a.err, file) {
		t.Errorf("over another file: %+v", a)
	}

	// What is not newer is not offered, nor fetched.
	for _, v := range []string{newerVersion, thisVersion, "0.9.0"} {
		if err := os.Remove(filepath.Join(h.paths().Home, "update.json")); err != nil {
			t.Fatal(err)
		}
		s.put(v, s.key)
		a = s.update(h, "--check", "--json")
		if want := fmt.Sprintf(`"newest":%q,"newer":%v`, v, v == newerVersion); a.code != 0 || !strings.Contains(a.out, want) {
			t.Errorf("at %s: %+v; want %s", v, a, want)
		}
	}
	if a = s.update(h); a.code != 0 || !strings.Contains(a.out, "which is not newer") {
		t.Errorf("an older one: %+v", a)
	}
	s.put("1.3.0", s.key)
	s.update(h, "--check")
	s.put("1.2.0", s.key) // newer than this, older than what was there
	if a = s.update(h, "--check"); a.code != 5 || !strings.Contains(a.err, "1.2.0") || !strings.Contains(a.err, "1.3.0 was there before") {
		t.Errorf("a step back: %+v", a)
	}

	// A stranger's signature, and nobody there.
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.put("2.0.0", stranger)
	for _, args := range [][]string{{"--check"}, {}} {
		if a = s.update(h, args...); a.code != 5 || a.out != "" || !strings.Contains(a.err, "the signature of the release does not fit") {
			t.Errorf("a stranger's: %+v", a)
		}
	}
	s.files.Store(nil)
	if a = s.update(h, "--check"); a.code != 6 || !strings.Contains(a.err, "no release can be had: ") {
		t.Errorf("nobody there: %+v", a)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
		t.Errorf("Downloads holds %v, %v", list, err)
	}
}

// A state folder is not made for it.
func TestUpdateLeavesNoTrace(t *testing.T) {
	h := newHouse(t)
	s := newShelf()
	s.put(newerVersion, s.key)
	if a := s.update(h, "--check"); a.code != 0 {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(h.paths().Home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a state folder: %v", err)
	}
}

// A service asks by itself only once the person has turned that on, and then once.
func TestServiceAsksForUpdatesOnlyWhenTurnedOn(t *testing.T) {
	h := newHouse(t)
	s := newShelf()
	s.put(newerVersion, s.key)
	serve := exec.Command(filepath.Join(programWith(t, thisVersion, s.flags), "steward"), "serve")
	serve.Env, serve.Dir = h.env, h.dir
	h.start(serve)
	eventually(t, "serving", func() bool { return h.info().State == "serving" })
	for i := range 3 {
		h.ok("emit", fmt.Sprint("work ", i), "--actor", "me")
	}
	mark := filepath.Join(h.paths().Home, "update.json")
	if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) || s.asked.Load() != 0 {
		t.Fatalf("turned off, it asked %d times; %v", s.asked.Load(), err)
	}
	if err := os.WriteFile(h.paths().Config, []byte(`{"update_check":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the look", func() bool { // each new connection is a look at the settings
		h.ok("emit", "more work", "--actor", "me")
		_, err := os.Stat(mark)
		return err == nil
	})
	for range 3 {
		h.ok("emit", "more work", "--actor", "me")
	}
	if n := s.asked.Load(); n != 2 {
		t.Errorf("%d requests; want one for the list and one for its signature", n)
	}
	if b, err := os.ReadFile(mark); err != nil || !strings.Contains(string(b), `"newest":"1.1.0"`) {
		t.Errorf("%s, %v", b, err)
	}
	// A service that starts anew does not ask again.
	h.end()
	again := exec.Command(serve.Path, "serve")
	again.Env, again.Dir = h.env, h.dir
	h.start(again)
	eventually(t, "serving", func() bool { return h.info().PID == again.Process.Pid && h.info().State == "serving" })
	h.ok("emit", "and more", "--actor", "me")
	if n := s.asked.Load(); n != 2 {
		t.Errorf("%d requests after a new start", n)
	}
	log, err := os.ReadFile(h.paths().Log)
	if err != nil || strings.Count(string(log), "asked whether there is a newer version") != 1 {
		t.Errorf("the log: %v", err)
	}
	if all := h.events(); len(all) == 0 || all[0].Source == ledger.System { // it is nobody's event
		t.Errorf("%+v", all)
	}
}

package update

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// shelf is a server with one release on it.
type shelf struct {
	*httptest.Server
	key   ed25519.PrivateKey
	files map[string][]byte

	mu    sync.Mutex
	asked []*http.Request
	other http.HandlerFunc // answers instead, if it is not nil
}

func newShelf(t *testing.T, version string) *shelf {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{key: key, files: map[string][]byte{}}
	for _, n := range packages(version) {
		s.files[n] = []byte("the bytes of " + n)
	}
	s.sign()
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// sign writes the list and its signature anew.
func (s *shelf) sign() {
	delete(s.files, sumsName)
	delete(s.files, signatureName)
	var b strings.Builder
	for n, content := range s.files {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), n)
	}
	s.files[sumsName] = []byte(b.String())
	s.files[signatureName] = []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, []byte(b.String()))) + "\n")
}

// answer puts another handler in the place of the files.
func (s *shelf) answer(other http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = other
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Clone(context.Background()))
	other := s.other
	s.mu.Unlock()
	if other != nil {
		other(w, r)
		return
	}
	s.mu.Lock()
	content, ok := s.files[strings.TrimPrefix(r.URL.Path, "/releases/")]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(content) // the client sees what is missing
}

func (s *shelf) source(t *testing.T, own string) *Source {
	t.Helper()
	src, err := New(s.URL+"/releases", base64.StdEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey)), "", own)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestNewest(t *testing.T) {
	s := newShelf(t, "1.2.3")
	for own, want := range map[string]bool{"1.2.2": true, "0.9.9": true, "1.2.3-rc.1": true, "1.2.3": false, "1.2.4": false, "1.2.4-dev.5.gabc1234": false, "2.0.0": false} {
		r, newer, err := s.source(t, own).Newest(context.Background())
		if err != nil || r.Version != "1.2.3" || newer != want {
			t.Errorf("for %s: %s, newer %v, %v; want %v", own, r.Version, newer, err, want)
		}
	}
}

// What is asked says nothing of who asks.
func TestAsksForNothingElse(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	r, _, err := src.Newest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.For(Tarball, "linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Fetch(context.Background(), f, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	want := []string{"/releases/SHA256SUMS", "/releases/SHA256SUMS.sig", "/releases/" + f.Name}
	if len(s.asked) != len(want) {
		t.Fatalf("%d requests; want %d", len(s.asked), len(want))
	}
	for i, r := range s.asked {
		if r.Method != http.MethodGet || r.URL.String() != want[i] || r.ContentLength > 0 {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		for name, values := range r.Header {
			switch name {
			case "Connection":
			case "User-Agent":
				if values[0] != "steward" {
					t.Errorf("User-Agent: %q", values)
				}
			default:
				t.Errorf("%s: %q", name, values)
			}
		}
	}
}

func TestNothingUnsignedIsBelieved(t *testing.T) {
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*shelf){
		"a version set higher": func(s *shelf) {
			s.files[sumsName] = []byte(strings.ReplaceAll(string(s.files[sumsName]), "1.2.3", "9.9.9"))
		},
		"a line more": func(s *shelf) { s.files[sumsName] = append(s.files[sumsName], sums("more.txt")...) },
		"a stranger's signature": func(s *shelf) {
			s.files[signatureName] = []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(stranger, s.files[sumsName])))
		},
		"no base64":         func(s *shelf) { s.files[signatureName] = []byte("<html>") },
		"a short signature": func(s *shelf) { s.files[signatureName] = s.files[signatureName][:40] },
		"an empty one":      func(s *shelf) { s.files[signatureName] = nil },
		"no list but nonsense, not read before it is believed": func(s *shelf) { s.files[sumsName] = []byte("nonsense") },
	} {
		s := newShelf(t, "1.2.3")
		change(s)
		if r, newer, err := s.source(t, "1.0.0").Newest(context.Background()); !errors.Is(err, ErrSignature) || newer || r.Version != "" {
			t.Errorf("%s: %+v, %v, %v", name, r, newer, err)
		}
	}
	s := newShelf(t, "1.2.3")
	s.files["steward_1.2.4_linux_amd64.tar.gz"] = nil
	s.sign()
	if r, newer, err := s.source(t, "1.0.0").Newest(context.Background()); !errors.Is(err, ErrMalformed) || newer || r.Version != "" {
		t.Errorf("signed, of two versions: %+v, %v, %v", r, newer, err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<16); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	announced := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "999999999999") }
	for name, answer := range map[string]http.HandlerFunc{
		"an endless list": endless, "an announced size": announced,
		"nothing there":  http.NotFound,
		"a part of it":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) },
		"a sudden close": func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
	} {
		s.answer(answer)
		if r, newer, err := src.Newest(context.Background()); err == nil || newer {
			t.Errorf("%s: %+v", name, r)
		} else if strings.Contains(err.Error(), "http://") {
			t.Errorf("%s: %v names the address again", name, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	secure := httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(secure.Close)
	to := func(target string) {
		s.answer(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/moved/") {
				_, _ = w.Write(s.files[strings.TrimPrefix(r.URL.Path, "/moved/")])
				return
			}
			http.Redirect(w, r, target+filepath.Base(r.URL.Path), http.StatusFound)
		})
	}
	to("/moved/")
	if r, _, err := src.Newest(context.Background()); err != nil || r.Version != "1.2.3" {
		t.Errorf("to another folder: %+v, %v", r, err)
	}
	for _, r := range s.asked {
		if r.Header.Get("Referer") != "" {
			t.Errorf("it says where it comes from: %v", r.Header)
		}
	}
	for _, target := range []string{secure.URL + "/releases/", "http://example.com/", "ftp://127.0.0.1/", "/releases/"} {
		to(target)
		if r, _, err := src.Newest(context.Background()); err == nil {
			t.Errorf("to %s: %+v", target, r)
		}
	}
	from, err := New(secure.URL, base64.StdEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey)), "", "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{secure.URL: true, "https://example.com/x": true, "http://127.0.0.1/x": false, "https://a:b@example.com/": false} {
		next, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := from.redirect(next, make([]*http.Request, 1)); (err == nil) != want {
			t.Errorf("from https to %s: %v", target, err)
		}
	}
}

func TestSource(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize))
	for _, a := range []string{"https://example.com/releases", "https://example.com/a/b/", "http://127.0.0.1:8000/", "http://[::1]/x", "http://localhost:1"} {
		src, err := New(a, key, "", "1.0.0")
		if err != nil || src.Notes != strings.TrimSuffix(a, "/")+"/" {
			t.Errorf("%s: %+v, %v", a, src, err)
		}
	}
	for _, a := range []string{"http://example.com/", "http://127.0.0.1.example.com/", "ftp://example.com/", "example.com", "https://", "https://user:word@example.com/", "file:///tmp/", ":"} {
		if src, err := New(a, key, "", "1.0.0"); !errors.Is(err, ErrNoSource) {
			t.Errorf("%s: %+v, %v", a, src, err)
		}
	}
	for _, k := range []string{"x", base64.StdEncoding.EncodeToString([]byte("short")), key + key} {
		if src, err := New("https://example.com/", k, "", "1.0.0"); !errors.Is(err, ErrNoSource) {
			t.Errorf("key %s: %+v, %v", k, src, err)
		}
	}
	if src, err := Here("1.0.0"); !errors.Is(err, ErrNoSource) { // this test was built without
		t.Errorf("%+v, %v", src, err)
	}
	if src, err := New("https://example.com/x", key, "https://example.com/news", "1.0.0"); err != nil || src.Notes != "https://example.com/news" {
		t.Errorf("%+v, %v", src, err)
	}
}

// Whoever sits behind a proxy must see that none was asked: a service that a client
// has started is told of none.
func TestNobodyThere(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	s.Close()
	if _, _, err := src.Newest(context.Background()); err == nil || !strings.HasSuffix(err.Error(), " (asked without a proxy)") {
		t.Errorf("%v", err)
	}
}

// deb is a file of the newest release.
func deb(t *testing.T, src *Source) File {
	t.Helper()
	r, _, err := src.Newest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.For(Deb, "linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFetch(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	f := deb(t, src)
	folder := t.TempDir()
	path, err := src.Fetch(context.Background(), f, folder)
	if err != nil || path != filepath.Join(folder, f.Name) {
		t.Fatalf("%s, %v", path, err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != "the bytes of "+f.Name {
		t.Errorf("%q, %v", b, err)
	}
	if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", fi, err)
	}
	// There already: nothing is asked again.
	before := len(s.asked)
	if again, err := src.Fetch(context.Background(), f, folder); err != nil || again != path || len(s.asked) != before {
		t.Errorf("again: %s, %v, %d requests", again, err, len(s.asked)-before)
	}
	// Something else of that name is the person's.
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Fetch(context.Background(), f, folder); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	holds(t, folder, f.Name)
}

// Fetches at one time bring one file, and each is told where it is.
func TestFetchTogether(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	f := deb(t, src)
	folder := t.TempDir()
	errs := make(chan error)
	for range 8 {
		go func() {
			_, err := src.Fetch(context.Background(), f, folder)
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	holds(t, folder, f.Name)
}

// What was not signed leaves nothing behind, under no name.
func TestFetchLeavesNothingUnsigned(t *testing.T) {
	for name, change := range map[string]func(*shelf, File){
		"a flipped byte": func(s *shelf, f File) { s.files[f.Name][0] ^= 1 },
		"a byte more":    func(s *shelf, f File) { s.files[f.Name] = append(s.files[f.Name], 0) },
		"a byte less":    func(s *shelf, f File) { s.files[f.Name] = s.files[f.Name][1:] },
		"gone":           func(s *shelf, f File) { delete(s.files, f.Name) },
		"cut off": func(s *shelf, f File) {
			s.answer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(s.files[f.Name])))
				_, _ = w.Write(s.files[f.Name][:5])
			})
		},
	} {
		s := newShelf(t, "1.2.3")
		src := s.source(t, "1.0.0")
		r, _, err := src.Newest(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.For(Setup, "windows", "amd64")
		if err != nil {
			t.Fatal(err)
		}
		change(s, f)
		folder := t.TempDir()
		if path, err := src.Fetch(context.Background(), f, folder); err == nil {
			t.Errorf("%s: taken as %s", name, path)
		}
		holds(t, folder)
	}
}

func TestFetchGivenUp(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	r, _, err := src.Newest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.For(DMG, "darwin", "arm64")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("the "))
		w.(http.Flusher).Flush()
		cancel(errors.New("a signal has come")) // as os/signal gives a reason
		<-r.Context().Done()
	})
	folder := t.TempDir()
	if path, err := src.Fetch(ctx, f, folder); !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", path, err)
	}
	holds(t, folder)
	if _, err := src.Fetch(context.Background(), f, filepath.Join(folder, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
}

// A fetch that is killed leaves its part, which a later one clears; never that of
// one that runs, nor what is no part of Steward's.
func TestFetchClearsOldParts(t *testing.T) {
	s := newShelf(t, "1.2.3")
	src := s.source(t, "1.0.0")
	f := deb(t, src)
	folder := t.TempDir()
	put := func(name string, age time.Duration) string {
		path, then := filepath.Join(folder, name), time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return name
	}
	put("."+f.Name+".part-1", 2*time.Hour)
	put(".steward-0.9.0-windows-amd64-setup.exe.part-2", 100*24*time.Hour)
	kept := []string{
		put("."+f.Name+".part-3", 50*time.Minute),
		put(".movie.mkv.part-4", 2*time.Hour),
		put(f.Name+".part-5", 2*time.Hour),
		f.Name,
	}
	if _, err := src.Fetch(context.Background(), f, folder); err != nil {
		t.Fatal(err)
	}
	slices.Sort(kept)
	holds(t, folder, kept...)
}

// holds checks what is in a folder.
func holds(t *testing.T, folder string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %v; want %v", got, names)
	}
}

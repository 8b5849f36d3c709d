package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
	"steward/mcp/ops"
)

// patience is how long a test waits for what must happen at once.
const patience = time.Minute

// fixture is the page's surface on a real ledger behind a real listener. Who
// sends X-Owner is the owner: the guard that knows tokens is another package's.
type fixture struct {
	*Web
	t        *testing.T
	url      string
	log      *ledger.Log
	set      *ops.Set
	stopping chan struct{}
	wrong    atomic.Int64 // wrong codes
	tooMany  atomic.Bool
	text     *strings.Builder // of the log; read it when nothing runs any more
}

type ownerKey struct{}

// built is a page as the build leaves it.
var built = fstest.MapFS{
	"index.html":                    {Data: []byte("<!doctype html><title>built</title>")},
	"assets/index-B0dc8_-x.js":      {Data: []byte("export {}")},
	"assets/index-Cz3k0a1B.css":     {Data: []byte("a{}")},
	"assets/plain.js":               {Data: []byte("1")},
	"favicon.svg":                   {Data: []byte("<svg/>")},
	"font.woff2":                    {Data: []byte("font")},
	"strange.bin":                   {Data: []byte("?")},
	"folder/inside.txt":             {Data: []byte("inside")},
	"name with space & 音.txt":       {Data: []byte("odd")},
	"assets/deep/er/x-AAAAAAAA.png": {Data: []byte("png")},
}

func newFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, log: ledgertest.Open(t, nil), stopping: make(chan struct{}), text: &strings.Builder{}}
	f.set = ops.NewSet(&ops.Env{Log: f.log, Targets: func() []string { return []string{"dj"} }}, ops.All()...)
	cfg := Config{
		Set: f.set, Log: f.log, Version: "1.2.3", Page: built, Logger: slog.New(slog.NewTextHandler(f.text, nil)), Stopping: f.stopping,
		Owner: func(ctx context.Context) bool { return ctx.Value(ownerKey{}) != nil },
		Token: func() string { return "the-owner's-token" },
		Wrong: func(context.Context) bool { f.wrong.Add(1); return f.tooMany.Load() },
	}
	if change != nil {
		change(&cfg)
	}
	f.Web = New(cfg)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Owner") != "" {
			r = r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
		}
		switch path := r.URL.Path; { // nothing here cleans paths
		case path == EventsPath:
			f.Events().ServeHTTP(w, r)
		case path == SignInPath:
			f.SignIn().ServeHTTP(w, r)
		case path == TicketsPath:
			f.Tickets().ServeHTTP(w, r)
		case path == AnswerPath:
			f.Answer().ServeHTTP(w, r)
		case path == UndoPath:
			f.Undo().ServeHTTP(w, r)
		case strings.HasPrefix(path, CallPath):
			f.Call().ServeHTTP(w, r)
		default:
			f.Page().ServeHTTP(w, r)
		}
	}))
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(16 << 10) // so that a client that does not read is noticed soon
		return ctx
	}
	s.Start()
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

// got is an answer read to its end.
type got struct {
	*http.Response
	body string
}

func (f *fixture) ask(method, path, body string, header ...string) got {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return got{a, string(b)}
}

// code is that of an error in the answer.
func (g got) code() string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(g.body), &e) // what is no error has none
	return e.Error.Code
}

func (f *fixture) report(n int) {
	f.t.Helper()
	for range n {
		if _, err := f.set.Call(context.Background(), ops.Caller{Surface: ops.Agent}, "report_done", json.RawMessage(`{"actor":"a","outcome":"x"}`)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// fill appends events in one commit.
func (f *fixture) fill(n int, e ledger.Event) {
	f.t.Helper()
	if _, err := f.log.Update(f.t.Context(), nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		for range n {
			if _, err := tx.Append(e); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		f.t.Fatal(err)
	}
}

// heard is one event of a stream, or a comment: then its name is ":".
type heard struct {
	name, id, data string
}

// listener reads one stream.
type listener struct {
	t     *testing.T
	r     *bufio.Reader
	close func()
}

func (f *fixture) listen(after string) *listener {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	f.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+EventsPath, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("X-Owner", "1")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { a.Body.Close() })
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" || !strings.Contains(a.Header.Get("Cache-Control"), "no-cache") {
		f.t.Fatalf("%s %v", a.Status, a.Header)
	}
	return &listener{f.t, bufio.NewReader(a.Body), cancel}
}

// next reads one event; io.EOF at the stream's end.
func (l *listener) next() (h heard, err error) {
	for {
		line, err := l.r.ReadString('\n')
		if err != nil {
			return h, err
		}
		line = strings.TrimSuffix(line, "\n")
		switch field, value, _ := strings.Cut(line, ": "); {
		case line == "":
			return h, nil
		case field == "" || line[0] == ':':
			h.name = ":"
		case field == "event":
			h.name = value
		case field == "id":
			h.id = value
		case field == "data":
			h.data = value
		default:
			return h, fmt.Errorf("a strange line: %q", line)
		}
	}
}

func (l *listener) must() heard {
	l.t.Helper()
	h, err := l.next()
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

func (l *listener) want(want heard) {
	l.t.Helper()
	if h := l.must(); h != want {
		l.t.Fatalf("got %+v, want %+v", h, want)
	}
}

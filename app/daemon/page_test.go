package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

var page = fstest.MapFS{
	"index.html":               {Data: []byte("<!doctype html><title>the page</title>")},
	"assets/index-AAAAAAAA.js": {Data: []byte("export {}")},
}

// as sends a request with a token, which may be "", and reads the answer.
func (w *wire) as(token, method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := w.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(a.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return a, string(b)
}

func secret(t *testing.T, file string) string {
	t.Helper()
	value, _, err := readToken(file)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestPageGuard goes through every route, token and method of the page.
func TestPageGuard(t *testing.T) {
	p, address := place(t), free(t)
	start(t, Options{Paths: p, Listen: address, Page: page}).reaches(Serving)
	w := newWire(t, address, "")
	owner, agent := secret(t, p.Token), secret(t, p.AgentToken)
	const anybody, ownersOnly = "anybody", "owner"
	routes := []struct{ path, who, methods string }{
		{"/", anybody, "GET HEAD"}, {"/assets/index-AAAAAAAA.js", anybody, "GET HEAD"},
		{"/api/signin", anybody, "POST"}, {"/api/call/brief_get", ownersOnly, "POST"}, {"/api/call/", ownersOnly, "POST"}, {"/api/events", ownersOnly, "GET HEAD"},
		{"/nothing", anybody, "GET HEAD"}, {"/api", anybody, "GET HEAD"}, {"/api/tickets", ownersOnly, "GET HEAD"}, {"/api/answer", ownersOnly, "POST"}, {"/api/undo", ownersOnly, "POST"}, {"/assets/", anybody, "GET HEAD"},
	}
	missing := map[string]bool{"/nothing": true, "/api": true, "/assets/": true, "/api/call/": true}
	for _, r := range routes {
		for name, token := range map[string]string{"no": "", "the agents'": agent, "the owner's": owner} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
				if r.path == "/api/events" && method == "GET" && token == owner {
					continue // it has no end; TestPageStream reads it
				}
				want := 200
				switch {
				case r.who == ownersOnly && token == "":
					want = 401
				case r.who == ownersOnly && token == agent:
					want = 403
				case !strings.Contains(" "+r.methods+" ", " "+method+" "):
					want = 405
				case missing[r.path]:
					want = 404
				case r.path == "/api/answer", r.path == "/api/undo":
					want = 400 // {} holds no id
				case r.path == "/api/signin":
					want = 401 // {} holds no code
				}
				a, body := w.as(token, method, r.path, map[bool]string{true: "{}"}[method == "POST"])
				if a.StatusCode != want {
					t.Errorf("%s %s with %s token: %s %s; want %d", method, r.path, name, a.Status, body, want)
				}
				if allow := a.Header.Get("Allow"); want == 405 && allow != strings.ReplaceAll(r.methods, " ", ", ") {
					t.Errorf("%s %s: Allow: %q", method, r.path, allow)
				}
			}
		}
	}
	for _, path := range []string{"/../token", "/assets/../../token", "//etc/passwd", "/assets/%2e%2e/index.html", "/%2e%2e/token", "/..%2ftoken", "/index.html/../token"} {
		if a, body := w.as("", "GET", path, ""); a.StatusCode != 404 {
			t.Errorf("%s: %s %s", path, a.Status, body)
		}
	}
	for _, path := range []string{"/", "/api/call/brief_get"} {
		if a, _ := w.as(owner, "POST", path, "{}", "Origin", "https://evil.example"); a.StatusCode != 403 {
			t.Errorf("%s for a page of another site: %s", path, a.Status)
		}
	}
	if a, body := w.as(owner, "POST", "/api/call/report_done", `{"actor":"`+strings.Repeat("x", 9<<20)+`"}`); a.StatusCode != 413 {
		t.Errorf("nine megabytes: %s %s", a.Status, body)
	}
	if a, body := w.as(owner, "POST", "/api/call/report_done", `{"actor":"`+strings.Repeat("x", 2<<20)+`"}`); a.StatusCode != 413 {
		t.Errorf("two megabytes: %s %s", a.Status, body)
	}
	if a, body := w.as("", "GET", "/", ""); !strings.Contains(body, "the page") || a.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s %v", body, a.Header)
	}
}

// What the page does is the person's doing, and the agents' token never gets there.
func TestPageDecides(t *testing.T) {
	p, address := place(t), free(t)
	start(t, Options{Paths: p, Listen: address}).reaches(Serving)
	w := newWire(t, address, "")
	owner := secret(t, p.Token)
	if a, body := w.as("", "GET", "/", ""); a.StatusCode != 200 || !strings.HasPrefix(body, "<!doctype html>") { // this program's own page
		t.Errorf("%s %.60s", a.Status, body)
	}
	connect(t, p).call("handoff_create", map[string]any{"target": "dj", "instruction": "mix", "idempotency_key": "k"})
	_, list := w.as(owner, "POST", "/api/call/handoff_list", "")
	var l ops.HandoffList
	if err := json.Unmarshal([]byte(list), &l); err != nil || len(l.Handoffs) != 1 {
		t.Fatalf("%v in %s", err, list)
	}
	settle := fmt.Sprintf(`{"handoff_id":%q,"status":"cancelled","fence":0}`, l.Handoffs[0].ID)
	if a, _ := w.as(secret(t, p.AgentToken), "POST", "/api/call/handoff_settle", settle); a.StatusCode != 403 {
		t.Errorf("by the agents' token: %s", a.Status)
	}
	if a, body := w.as(owner, "POST", "/api/call/handoff_settle", settle); a.StatusCode != 200 || !strings.Contains(body, `"cancelled"`) {
		t.Errorf("%s %s", a.Status, body)
	}
	var s ops.SettingsState
	_, body := w.as(owner, "POST", "/api/call/settings_set", `{"language":"zh-CN"}`)
	if err := json.Unmarshal([]byte(body), &s); err != nil || s.Language != "zh-CN" || s.About.HTTP == nil || *s.About.HTTP != "http://"+address ||
		s.About.Ledger != p.Ledger || s.About.State != p.Home || s.About.Config != p.Config || s.About.Log != p.Log || s.About.Role != "serve" || s.About.License != "AGPL-3.0" || len(s.About.Targets) != 3 {
		t.Errorf("%v in %s", err, body)
	}
	if b, err := os.ReadFile(p.Config); err != nil || !strings.Contains(string(b), `"language": "zh-CN"`) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestSignInLink(t *testing.T) {
	p, address := place(t), free(t)
	s := start(t, Options{Paths: p, Listen: address})
	s.reaches(Serving)
	w := newWire(t, address, "")
	ask := func(proof string) (string, error) {
		return local.AskSignIn(context.Background(), p.Socket, local.SignIn{PID: os.Getpid(), Proof: proof})
	}
	for _, proof := range []string{"", "wrong", secret(t, p.AgentToken)} {
		_, err := ask(proof)
		if r, ok := errors.AsType[*local.Refused](err); !ok || r.Code != local.RefusedForbidden {
			t.Errorf("%q: %v", proof, err)
		}
	}
	link, err := ask(secret(t, p.Token))
	if err != nil {
		t.Fatal(err)
	}
	page, code, ok := strings.Cut(link, "#code=")
	if !ok || page != "http://"+address+"/" {
		t.Fatal(link)
	}
	a, body := w.as("", "POST", "/api/signin", fmt.Sprintf(`{"code":%q}`, code))
	if want := fmt.Sprintf(`{"token":%q}`, secret(t, p.Token)); a.StatusCode != 200 || strings.TrimSpace(body) != want {
		t.Errorf("%s %s; want %s", a.Status, body, want)
	}
	// Wrong codes and wrong tokens are counted together.
	for i := range 5 {
		if i%2 == 0 {
			a, _ = w.as("", "POST", "/api/signin", `{"code":"wrong"}`)
		} else {
			a, _ = w.as("wrong", "POST", "/api/call/brief_get", `{}`)
		}
		if a.StatusCode != 401 {
			t.Errorf("wrong one %d: %s", i, a.Status)
		}
	}
	begin := time.Now()
	if a, _ = w.as("", "POST", "/api/signin", `{"code":"wrong"}`); a.StatusCode != 429 || time.Since(begin) < time.Second {
		t.Errorf("the sixth: %s after %v", a.Status, time.Since(begin))
	}
	if link, err = ask(secret(t, p.Token)); err != nil {
		t.Fatal(err)
	}
	_, code, _ = strings.Cut(link, "#code=")
	if a, _ = w.as("", "POST", "/api/signin", fmt.Sprintf(`{"code":%q}`, code)); a.StatusCode != 200 {
		t.Errorf("a right one after many wrong ones: %s", a.Status)
	}
	if strings.Contains(s.log.String(), code) {
		t.Error("the log holds a code")
	}
}

func TestSignInLinkWithoutHTTP(t *testing.T) {
	p := place(t)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Paths: p}).reaches(Serving)
	proof, err := p.Proof(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, err = local.AskSignIn(context.Background(), p.Socket, local.SignIn{Proof: proof})
	r, ok := errors.AsType[*local.Refused](err)
	if !ok || r.Code != string(ops.Unavailable) || !strings.Contains(r.Hint, "STEWARD_PORT") {
		t.Errorf("%v", err)
	}
}

// pageStream opens the page's stream.
func pageStream(t *testing.T, w *wire, owner string, header ...string) (io.ReadCloser, func() string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+owner)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := w.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Body.Close() })
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.Status)
	}
	lines := bufio.NewReader(a.Body)
	return a.Body, func() string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return err.Error()
			}
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				return strings.TrimSpace(name)
			}
		}
	}
}

// A page hears of receipts, and that the service leaves; the next one goes on
// where it was.
func TestPageStream(t *testing.T) {
	p, address := place(t), free(t)
	first := start(t, Options{Paths: p, Role: Auto, Listen: address})
	first.reaches(Serving)
	w := newWire(t, address, p.AgentToken)
	owner := secret(t, p.Token)
	_, next := pageStream(t, w, owner)
	expect := func(next func() string, want ...string) {
		t.Helper()
		for _, x := range want {
			if got := next(); got != x {
				t.Fatalf("heard %s, want %s", got, x)
			}
		}
	}
	expect(next, "hello")
	w.mustReport("one")
	expect(next, "ledger")
	second := start(t, Options{Paths: p, Listen: address})
	second.reaches(Serving)
	expect(next, "bye", "EOF")
	if err := first.ends(); err != nil {
		t.Errorf("the first ended with %v", err)
	}
	w.CloseIdleConnections()
	w.mustReport("two")
	_, next = pageStream(t, w, owner, "Last-Event-ID", "1")
	expect(next, "hello", "ledger")
	second.stop()
	expect(next, "bye", "EOF")
	if err := second.ends(); err != nil {
		t.Errorf("the second ended with %v", err)
	}
	if all := events(t, p); len(all) != 2 || all[0].Source != ledger.Claimed {
		t.Errorf("%+v", all)
	}
}

func TestAutoStaysForPages(t *testing.T) {
	p, address := place(t), free(t)
	work := &work{}
	work.wanted.Store(true)
	s := start(t, Options{Paths: p, Role: Auto, Listen: address, Idle: 50 * time.Millisecond, Work: work})
	s.reaches(Serving)
	body, next := pageStream(t, newWire(t, address, ""), secret(t, p.Token))
	if got := next(); got != "hello" {
		t.Fatal(got)
	}
	work.wanted.Store(false)
	select { // an open page is somebody
	case err := <-s.ended:
		t.Fatalf("it left with a page open: %v", err)
	case <-time.After(250 * time.Millisecond):
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

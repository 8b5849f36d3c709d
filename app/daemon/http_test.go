package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// wire is a client over HTTP.
type wire struct {
	t     *testing.T
	url   string
	token string
	http.Client
}

func newWire(t *testing.T, address, tokenFile string) *wire {
	t.Helper()
	w := &wire{t: t, url: "http://" + address}
	if tokenFile != "" {
		b, err := os.ReadFile(tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		w.token = strings.TrimSpace(string(b))
	}
	transport := &http.Transport{}
	w.Transport = transport
	t.Cleanup(transport.CloseIdleConnections)
	return w
}

// post sends one message to /mcp/lane; err only when there was no answer.
func (w *wire) post(body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/mcp/lane", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "report_done")
	got, err := w.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer got.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(got.Body)
	return got.StatusCode, string(b), err
}

// report leaves one receipt and returns its id.
func (w *wire) report(outcome string) (int64, error) {
	status, body, err := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_done","arguments":{"actor":"web","outcome":%q},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"w","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, outcome))
	if err != nil {
		return 0, err
	}
	if i := strings.Index(body, `{"jsonrpc"`); i > 0 { // an event stream
		body = body[i:]
	}
	var a struct {
		Result struct {
			Structured struct {
				EventID int64 `json:"event_id"`
			} `json:"structuredContent"`
		}
	}
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&a); err != nil || status != http.StatusOK || a.Result.Structured.EventID == 0 {
		return 0, fmt.Errorf("%d %s: %w", status, body, err)
	}
	return a.Result.Structured.EventID, nil
}

func (w *wire) mustReport(outcome string) int64 {
	w.t.Helper()
	id, err := w.report(outcome)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func TestHTTPIsOffUnlessAskedFor(t *testing.T) {
	p := place(t)
	s := start(t, Options{Paths: p})
	if on := s.reaches(Serving); on != nil {
		t.Errorf("serving with %v", on)
	}
	for _, file := range []string{p.Token, p.AgentToken} {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s was made, though nobody needs it: %v", file, err)
		}
	}
}

func TestHTTPServesAgents(t *testing.T) {
	p, address := place(t), free(t)
	s := start(t, Options{Paths: p, Listen: address})
	door, ok := s.reaches(Serving).(*Door)
	if !ok || door.URL != "http://"+address || door.Owner != p.Token || door.Agent != p.AgentToken || door.Wide != "" {
		t.Fatalf("serving with %+v", door)
	}
	if text, _, err := ledger.Holder(p.Ledger); err != nil || HolderListen(text) != address {
		t.Errorf("the lock says %q, %v", text, err)
	}
	if id := newWire(t, address, p.AgentToken).mustReport("by the agents' token"); id != 1 {
		t.Errorf("event %d; want 1", id)
	}
	newWire(t, address, p.Token).mustReport("by the owner's")
	if status, _, err := newWire(t, address, "").post(`{}`); err != nil || status != http.StatusUnauthorized {
		t.Errorf("without a token: %d, %v", status, err)
	}
	s.stop()
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("somebody still listens")
	}
	if all := events(t, p); len(all) != 2 || all[0].Workspace != "lane" {
		t.Errorf("%+v; want two events of the stream in the path", all)
	}
	for _, file := range []string{p.Token, p.AgentToken} {
		b, err := os.ReadFile(file)
		if err != nil || strings.Contains(s.log.String(), strings.TrimSpace(string(b))) {
			t.Errorf("%v, or the log holds the token in %s", err, file)
		}
	}
}

func TestHTTPFollowsTheSettings(t *testing.T) {
	e := env(t)
	p, address := find(t, e), free(t)
	write(t, p.Config, []byte(fmt.Sprintf(`{"listen":%q}`, address)))
	settings := NewSettings(p.Config, e)
	s := start(t, Options{Paths: p, Env: e, Settings: settings})
	if door, ok := s.reaches(Serving).(*Door); !ok || door.URL != "http://"+address {
		t.Fatalf("serving with %+v", door)
	}
	from := func(origin string) int {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+address+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		w := newWire(t, address, "")
		got, err := w.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close() //nolint:errcheck // its body does not matter
		return got.StatusCode
	}
	if status := from("https://a.example"); status != http.StatusForbidden {
		t.Errorf("a page of another site: %d", status)
	}
	changeConfig(t, p.Config, fmt.Sprintf(`{"listen":%q,"allowed_origins":["https://a.example"]}`, free(t)), time.Now().Add(time.Hour))
	settings.mu.Lock()
	settings.looked = time.Time{} // the second is over
	settings.mu.Unlock()
	if status := from("https://a.example"); status != http.StatusOK {
		t.Errorf("once it is allowed: %d", status)
	}
	connect(t, p).call("recent_events", map[string]any{})
	connect(t, p).call("recent_events", map[string]any{})
	if n := strings.Count(s.log.String(), "it counts from the next start"); n != 1 {
		t.Errorf("the log says %d times that the address counts from the next start; want once", n)
	}
}

// A serve that was asked for HTTP and cannot give it says so and ends; a
// service that clients need goes on without.
func TestHTTPAddressInUse(t *testing.T) {
	address, _ := taken(t)
	p := place(t)
	begin := time.Now()
	err := start(t, Options{Paths: p, Listen: address}).ends()
	if ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), address+": another program does") {
		t.Errorf("a serve: %v", err)
	}
	if took := time.Since(begin); took < bindWithin || took > bindWithin+patience {
		t.Errorf("gave up after %s; want %s", took, bindWithin)
	}
	if _, held, _ := ledger.Holder(p.Ledger); held {
		t.Error("the lock is still held")
	}
	for _, role := range []Role{Auto, Window} {
		s := start(t, Options{Paths: p, Role: role, Listen: address})
		if on := s.reaches(Serving); on != nil {
			t.Errorf("%s: serving with %v", role, on)
		}
		connect(t, p).call("recent_events", map[string]any{})
		if log := s.log.String(); !strings.Contains(log, "running without HTTP") || !strings.Contains(log, address) {
			t.Errorf("%s: the log does not say that there is no HTTP:\n%s", role, log)
		}
		s.stop()
		if err := s.ends(); err != nil {
			t.Errorf("%s: ended with %v", role, err)
		}
	}
}

func TestHTTPForOthersNeedsAToken(t *testing.T) {
	e := env(t)
	p := find(t, e)
	_, port, err := net.SplitHostPort(free(t))
	if err != nil {
		t.Fatal(err)
	}
	address := "0.0.0.0:" + port
	auto := start(t, Options{Paths: p, Env: e, Role: Auto, Listen: address})
	if on := auto.reaches(Serving); on != nil {
		t.Errorf("an auto: serving with %v", on)
	}
	err = start(t, Options{Paths: p, Env: e, Listen: address}).ends()
	if ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "STEWARD_TOKEN") {
		t.Errorf("a serve: %v", err)
	}
	connect(t, p).call("recent_events", map[string]any{}) // the auto has not left for it
	e["STEWARD_TOKEN"] = "chosen by a person"
	s := start(t, Options{Paths: p, Env: e, Listen: address})
	door, ok := s.reaches(Serving).(*Door)
	if !ok || door.Owner != "STEWARD_TOKEN" || door.Wide != address || door.URL != "http://127.0.0.1:"+port {
		t.Fatalf("serving with %+v", door)
	}
	newWire(t, "127.0.0.1:"+port, p.AgentToken).mustReport("hello")
	if _, err := os.Stat(p.Token); !os.IsNotExist(err) {
		t.Errorf("an owner token was made beside the variable: %v", err)
	}
}

func TestHTTPMovesWithTheService(t *testing.T) {
	p, address := place(t), free(t)
	first := start(t, Options{Paths: p, Role: Auto, Listen: address})
	first.reaches(Serving)
	w := newWire(t, address, p.AgentToken)
	w.mustReport("to the first")
	stream := openStream(t, w)
	begin := time.Now()
	second := start(t, Options{Paths: p, Listen: address})
	second.reaches(Serving)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("the take-over took %s", took)
	}
	if err := first.ends(); err != nil {
		t.Errorf("the first ended with %v", err)
	}
	_, _ = io.Copy(io.Discard, stream) // it has an end, however it comes
	w.CloseIdleConnections()
	if id := w.mustReport("to the second"); id != 2 {
		t.Errorf("event %d; want 2", id)
	}
}

// openStream begins a session and opens its event stream.
func openStream(t *testing.T, w *wire) io.ReadCloser {
	t.Helper()
	do := func(method, body string, header ...string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, w.url+"/mcp/lane", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+w.token)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		got, err := w.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = got.Body.Close() })
		if got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", method, got.Status)
		}
		return got
	}
	began := do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"w","version":"1"}}}`,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	return do(http.MethodGet, "", "Accept", "text/event-stream", "Mcp-Session-Id", began.Header.Get("Mcp-Session-Id")).Body
}

func TestAutoStaysForHTTPClients(t *testing.T) {
	p, address := place(t), free(t)
	w := &work{}
	w.wanted.Store(true)
	s := start(t, Options{Paths: p, Role: Auto, Listen: address, Idle: 50 * time.Millisecond, Work: w})
	s.reaches(Serving)
	client := newWire(t, address, p.AgentToken)
	stream := openStream(t, client)
	w.wanted.Store(false)
	select { // an open event stream is somebody
	case err := <-s.ended:
		t.Fatalf("it left with a stream open: %v", err)
	case <-time.After(250 * time.Millisecond):
	}
	for begin := time.Now(); time.Since(begin) < 150*time.Millisecond; {
		client.mustReport("here")
	}
	if err := stream.Close(); err != nil { // that is its going
		t.Error(err)
	}
	if err := s.ends(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(s.log.String(), "nobody was here") {
		t.Error("the log does not say why it left")
	}
}

func TestTokenFileThatCannotBeUsed(t *testing.T) {
	p := place(t)
	if err := os.MkdirAll(filepath.Join(p.AgentToken, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := start(t, Options{Paths: p, Listen: free(t)}).ends()
	if ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), p.AgentToken) {
		t.Errorf("a serve: %v", err)
	}
	s := start(t, Options{Paths: p, Role: Auto, Listen: free(t)})
	if on := s.reaches(Serving); on != nil {
		t.Errorf("an auto: serving with %v", on)
	}
}

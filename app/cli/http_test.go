//go:build unix

package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// free is a local address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // its address is what matters
	return l.Addr().String()
}

// secret is the token in a file of the state folder.
func (h *house) secret(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(filepath.Join(h.paths().Home, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// over reports over HTTP and returns the event's id.
func over(address, token, outcome string) (int64, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_done","arguments":{"actor":"web","outcome":%q},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"w","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, outcome)
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/mcp/lane", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "report_done"} {
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	var got struct {
		Result struct {
			Structured receipt `json:"structuredContent"`
		} `json:"result"`
	}
	if i := strings.IndexByte(string(b), '{'); i >= 0 { // after the frame of an event, if it is one
		_ = json.NewDecoder(strings.NewReader(string(b)[i:])).Decode(&got) // what it is not, it is refused for below
	}
	if got.Result.Structured.EventID == 0 {
		return 0, fmt.Errorf("%s %s", answer.Status, b)
	}
	return got.Result.Structured.EventID, nil
}

func TestServeOverHTTP(t *testing.T) {
	h := newHouse(t)
	address := free(t)
	p := h.start(h.command(thisVersion, "serve", "--listen", address))
	p.says("steward: HTTP is on at http://" + address)
	p.says("/agent-token')")
	agent, owner := h.secret("agent-token"), h.secret("token")
	if id, err := over(address, agent, "hello"); err != nil || id != 1 {
		t.Errorf("%d, %v", id, err)
	}
	if _, err := over(address, "wrong", "hello"); err == nil || !strings.HasPrefix(err.Error(), "401 ") {
		t.Errorf("with a wrong token: %v", err)
	}
	if out := h.ok("status"); !strings.Contains(out, "web in lane") {
		t.Errorf("status:\n%s", out)
	}
	if out := h.ok("health", "--json"); !strings.Contains(out, `"http":"`+address+`"`) {
		t.Errorf("health:\n%s", out)
	}
	out := h.ok("doctor")
	for _, want := range []string{"  ok  http          on at " + address + " for as long as this `steward serve` runs", "owner token   " + h.paths().Token, "agent token   " + h.paths().AgentToken} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	if err := os.Chmod(h.paths().Token, 0o640); err != nil {
		t.Fatal(err)
	}
	if a := h.run("doctor"); a.code != 5 || !strings.Contains(a.out, "!!  owner token   "+h.paths().Token+": others can read it") {
		t.Errorf("doctor: exit %d\n%s", a.code, a.out)
	}
	a := h.run("doctor", "--json")
	log, err := os.ReadFile(h.paths().Log)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"the log": string(log), "its words": p.said.String(), "doctor": out + a.out} {
		if strings.Contains(text, agent) || strings.Contains(text, owner) {
			t.Errorf("%s show a token", where)
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.exits(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("somebody still listens")
	}
}

func TestServeSaysWhatIsInTheWayOfHTTP(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over with it
	h.ok("emit", "to the auto", "--actor", "me")
	auto := h.holder()
	if a := h.run("serve", "--listen", "0.0.0.0:8971"); a.code != 2 || !strings.Contains(a.err, "STEWARD_TOKEN") || h.holder() != auto {
		t.Errorf("for others: exit %d, %s; the holder is %d, was %d", a.code, a.err, h.holder(), auto)
	}
	if a := h.run("serve", "--listen", l.Addr().String()); a.code != 6 || !strings.Contains(a.err, "cannot listen on "+l.Addr().String()+": another program does") {
		t.Errorf("on a taken address: exit %d, %s", a.code, a.err)
	}
	// A service that a client starts serves the client, and doctor says what it lacks.
	if err := os.WriteFile(h.paths().Config, fmt.Appendf(nil, `{"listen":%q}`, l.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ok("emit", "to the next auto", "--actor", "me")
	if a := h.run("doctor"); a.code != 6 || !strings.Contains(a.out, "!!  http          not served on "+l.Addr().String()) {
		t.Errorf("doctor: exit %d\n%s", a.code, a.out)
	}
}

// A client over HTTP has nobody who sends its calls again, so it tries again
// itself; what was acknowledged is there once, and nobody waits for long.
func TestHTTPMovesToTheNextService(t *testing.T) {
	h := newHouse(t)
	address := free(t)
	if err := h.paths().Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.paths().Config, fmt.Appendf(nil, `{"listen":%q}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ok("emit", "starts an auto", "--actor", "me")
	token := h.secret("agent-token")
	stop, ended := make(chan struct{}), make(chan error, 1)
	acknowledged := map[string]bool{}
	var longest time.Duration
	go func() {
		begin := time.Now()
		for i := 0; ; {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			outcome := fmt.Sprint("web ", i)
			_, err := over(address, token, outcome)
			waited := time.Since(begin)
			longest = max(longest, waited)
			switch {
			case err == nil:
				acknowledged[outcome] = true
				begin = time.Now()
				i++
			case waited > patience:
				ended <- err
				return
			case errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET): // it may have been taken
				i++
			}
		}
	}()
	for _, version := range []string{thisVersion, newerVersion} {
		h.serve(version)
		eventually(t, "receipts by the next one", func() bool {
			_, err := over(address, token, "from the test")
			return err == nil
		})
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if longest > 2*time.Second {
		t.Errorf("one receipt took %s; want no take-over above 2 s", longest)
	}
	have := map[string]int{}
	for _, e := range h.events() {
		have[e.Outcome]++
	}
	for outcome := range acknowledged {
		if have[outcome] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", outcome, have[outcome])
		}
	}
	if len(acknowledged) == 0 {
		t.Error("nothing was acknowledged")
	}
}

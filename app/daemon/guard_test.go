package daemon

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"steward/mcp"
	"steward/mcp/ops"
)

// routes are those through which a person decides, each with what it is asked and
// what it answers to the owner.
func routes(ticket string) []route {
	return []route{
		{"GET", "/api/tickets", "", 200},
		{"POST", "/api/answer", `{"id":"` + ticket + `","answer":""}`, 400}, // let in, and then told what is missing
		{"POST", "/api/undo", `{"id":"` + ticket + `"}`, 409},
		{"GET", "/api/events", "", 200},
		{"POST", "/api/signin", `{"code":""}`, 401}, // the code is the proof
		{"POST", "/api/call/ticket_list", `{}`, 200},
	}
}

type route struct {
	method, path, body string
	status             int
}

// signs tells whether a route is the one that wants no token.
func (r route) signs() bool { return r.path == "/api/signin" }

// raw sends bytes as they are and reads the head of the answer.
func raw(t *testing.T, address, request string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return headOf(t, c)
}

func headOf(t *testing.T, c net.Conn) *http.Response {
	t.Helper()
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// request is one of HTTP/1.1, unless the first field is another version.
func (r route) request(fields ...string) string {
	version := "HTTP/1.1"
	if len(fields) > 0 && strings.HasPrefix(fields[0], "HTTP/") {
		version, fields = fields[0], fields[1:]
	}
	if r.body != "" {
		fields = append(fields, fmt.Sprintf("Content-Length: %d", len(r.body)))
	}
	return fmt.Sprintf("%s %s %s\r\n%s\r\n\r\n%s", r.method, r.path, version, strings.Join(fields, "\r\n"), r.body)
}

// TestGuardOfDecisions: every route through which a person decides, as strangers,
// agents, the owner and their proxies ask for it, over a real listener.
func TestGuardOfDecisions(t *testing.T) {
	e := env(t)
	p, address := find(t, e), free(t)
	write(t, p.Config, fmt.Appendf(nil, `{"listen":%q,"allowed_origins":["https://steward.example.org"]}`, address))
	s := start(t, Options{Paths: p, Env: e, Settings: NewSettings(p.Config, e)})
	s.reaches(Serving)
	ticket, _ := connect(t, p).call("ask_human", map[string]any{"question": "Go?", "stream": "lane"})["id"].(string)
	secret := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return "Authorization: Bearer " + strings.TrimSpace(string(b))
	}
	owner, agent := secret(p.Token), secret(p.AgentToken)
	const own = 0 // what the owner gets
	host := "Host: " + address
	proxied := []string{"Host: steward.example.org", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "Origin: https://steward.example.org", owner}
	for _, c := range []struct {
		name    string
		fields  []string
		status  int
		signing int // at /api/signin
	}{
		{"the owner", []string{host, owner}, own, own},
		{"the owner's page", []string{host, owner, "Origin: http://" + address, "Sec-Fetch-Site: same-origin"}, own, own},
		{"a foreign origin", []string{host, owner, "Origin: https://evil.example"}, 403, 403},
		{"an origin that hides itself", []string{host, owner, "Origin: null"}, 403, 403},
		{"another service of this machine", []string{host, owner, "Origin: http://127.0.0.1:1"}, 403, 403},
		{"a name that was bound anew", []string{"Host: evil.example", owner}, 403, 403},
		{"the same, with its own page", []string{"Host: evil.example:8971", owner, "Origin: http://evil.example:8971"}, 403, 403},
		{"a name that begins like this machine", []string{"Host: 127.0.0.1.evil.example", owner}, 403, 403},
		{"no host", []string{"HTTP/1.0", owner}, 403, 403},
		{"what a proxy is said to have seen", []string{"Host: evil.example", "X-Forwarded-Host: " + address, "Forwarded: host=" + address, owner}, 403, 403},

		{"Caddy", append(slices.Clone(proxied), "X-Forwarded-Host: steward.example.org", "Via: 1.1 Caddy", "Accept-Encoding: gzip"), own, own},
		{"nginx as the README has it", append(slices.Clone(proxied), "Connection: close"), own, own},
		{"nginx that keeps its connection", append(slices.Clone(proxied), "Connection: "), own, own},
		{"nginx by its defaults", []string{"HTTP/1.0", host, "Connection: close", owner}, own, own},
		{"nginx that passes upgrades on", append(slices.Clone(proxied), "Connection: upgrade", "Upgrade: "), own, own},
		{"a client that wants HTTP/2", append(slices.Clone(proxied), "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), own, own},

		{"no token", []string{host}, 401, own},
		{"an empty token", []string{host, "Authorization: Bearer "}, 401, own},
		{"an empty field", []string{host, "Authorization: "}, 401, own},
		{"the agents' token", []string{host, agent}, 403, own},
		{"the owner's and the agents'", []string{host, agent, owner}, 401, own},
		{"the owner's in another scheme", []string{host, strings.Replace(owner, "Bearer", "Basic", 1)}, 401, own},
		{"a cookie", []string{host, strings.Replace(owner, "Authorization: Bearer ", "Cookie: token=", 1)}, 401, own},
		// The last: five a minute are told so, each further one has to wait.
		{"a wrong token", []string{host, "Authorization: Bearer wrong"}, 401, own},
	} {
		for _, r := range routes(ticket) {
			want := c.status
			if r.signs() {
				want = c.signing
			}
			if want == own {
				want = r.status
			}
			if a := raw(t, address, r.request(c.fields...)); a.StatusCode != want {
				t.Errorf("%s: %s %s: %s; want %d", c.name, r.method, r.path, a.Status, want)
			}
		}
	}
	begun := time.Now()
	tickets := routes(ticket)[0]
	if a := raw(t, address, tickets.request(host, "Authorization: Bearer wrong")); a.StatusCode != 429 || a.Header.Get("Retry-After") == "" || time.Since(begun) < time.Second {
		t.Errorf("a sixth wrong token: %s after %s", a.Status, time.Since(begun))
	}
	if a := raw(t, address, tickets.request(host, owner)); a.StatusCode != 200 {
		t.Errorf("the right one beside it: %s", a.Status)
	}
	s.stop()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if all := events(t, p); len(all) != 1 {
		t.Errorf("%d events; want the question alone", len(all))
	}
}

// TestHundredMegabytes: no route of decisions takes them, or memory for them.
func TestHundredMegabytes(t *testing.T) {
	p, address := place(t), free(t)
	s := start(t, Options{Paths: p, Listen: address})
	s.reaches(Serving)
	token, err := os.ReadFile(p.Token)
	if err != nil {
		t.Fatal(err)
	}
	const size, most = 100 << 20, 16 << 20
	plain := strings.Repeat("x", 1<<20)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(plain), plain)
	for _, r := range routes("tkt_1") {
		for name, length := range map[string]string{"length": fmt.Sprintf("Content-Length: %d", size), "chunked": "Transfer-Encoding: chunked"} {
			for who, auth := range map[string]string{"the owner": "Authorization: Bearer " + strings.TrimSpace(string(token)), "nobody": "X-Nobody: 1"} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				c, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				_ = c.SetDeadline(time.Now().Add(patience))
				if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n%s\r\n\r\n", r.method, r.path, address, auth, length); err != nil {
					t.Fatal(err)
				}
				piece := plain
				if name == "chunked" {
					piece = chunk
				}
				sent := make(chan int)
				go func() {
					n := 0
					for err := error(nil); err == nil && n < size; n += len(piece) {
						_, err = io.WriteString(c, piece)
					}
					sent <- n
				}()
				want := 413
				switch {
				case who == "nobody" && !r.signs():
					want = 401
				case name == "chunked" && r.method == "GET":
					want = 200 // a body that nobody asked for is not read
				}
				a := headOf(t, c)
				if a.StatusCode != want {
					t.Errorf("%s %s, %s, %s: %s; want %d", r.method, r.path, name, who, a.Status, want)
				}
				if a.StatusCode == 200 {
					_ = c.Close() // a stream goes on
				}
				if n := <-sent; n >= size/2 {
					t.Errorf("%s %s, %s, %s: %d bytes were read", r.method, r.path, name, who, n)
				}
				_ = c.Close()
				runtime.ReadMemStats(&after)
				if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
					t.Errorf("%s %s, %s, %s: %d bytes were allocated", r.method, r.path, name, who, grown)
				}
			}
		}
	}
}

// TestDecisionsInDrops: who sends a header or a body a byte at a time is cut off,
// at each of the routes, and by the mounting that the service has.
func TestDecisionsInDrops(t *testing.T) {
	for _, r := range routes("tkt_1") {
		for _, part := range []string{"header", "body"} {
			if part == "body" && r.method == "GET" {
				continue
			}
			t.Run(part+" of "+r.path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := &inside{make(chan net.Conn), make(chan struct{})}
					s := &service{Options: Options{Version: "1"}, door: &door{tokens: tokens{owner: "owner", agent: "agent"}}}
					h := mcp.NewHTTP(mcp.HTTPConfig{OwnerToken: func() string { return "owner" }, Server: mcp.NewServer("1", ops.NewSet(&ops.Env{}), nil)})
					s.mountPage(h, ops.NewSet(&ops.Env{}, ops.All()...), nil)
					served := make(chan error, 1)
					go func() { served <- h.Serve(l) }()
					c, theirs := net.Pipe()
					l.conns <- theirs
					begun := time.Now()
					start, drop, bound := r.method+" "+r.path+" HTTP/1.1\r\n", "X: y\r\n", 10*time.Second
					if part == "body" {
						start += "Host: localhost\r\nAuthorization: Bearer owner\r\nContent-Length: 1000\r\n\r\n"
						drop, bound = "{", time.Minute
					}
					if _, err := io.WriteString(c, start); err != nil {
						t.Fatal(err)
					}
					dripped := make(chan struct{})
					go func() {
						defer close(dripped)
						for err := error(nil); err == nil; time.Sleep(time.Second) {
							_, err = io.WriteString(c, drop)
						}
					}()
					said, _ := io.ReadAll(c) // until it is cut off, however
					if took := time.Since(begun); took < bound || took > bound+2*time.Second {
						t.Errorf("cut off after %s; want %s", took, bound)
					}
					if part == "body" && !strings.HasPrefix(string(said), "HTTP/1.1 408 ") {
						t.Errorf("it said %q", said)
					}
					_ = c.Close()
					<-dripped
					if h.Active() != 0 {
						t.Errorf("%d are active", h.Active())
					}
					if err := h.Drain(t.Context()); err != nil {
						t.Error(err)
					}
					if err := <-served; err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// inside is a listener whose connections are made in the process.
type inside struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *inside) Close() error   { close(l.done); return nil }
func (l *inside) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8971} }

package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestHTTPGuard goes through all of Host, Origin, token, path and method, over
// a real listener. The first thing that is wrong decides.
func TestHTTPGuard(t *testing.T) {
	d := newDoor(t, func(c *HTTPConfig, l *limits) {
		l.wrong = 1 << 20 // of which TestHTTPWrongTokens tells
		c.Bound = "192.0.2.7:8971"
		c.AllowedOrigins = func() []string {
			return []string{"https://steward.example.com", "http://Other.example:8080/", "app://desk", "nonsense", "*"}
		}
	})
	said := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s by %s", r.URL.Path, TokenOf(r.Context()))
	})
	d.http.Mount("/", TokenNone, said)
	d.http.Mount("/api/", TokenOwner, said)
	d.http.Mount("/api/signin", TokenNone, said)

	hosts := map[string]bool{
		"127.0.0.1": true, "127.0.0.1:1": true, "127.9.8.7:8971": true, "localhost": true, "LOCALHOST:99": true, "[::1]": true, "[::1]:8971": true,
		"[0:0:0:0:0:0:0:1]": true, "192.0.2.7": true, "192.0.2.7:80": true, "steward.example.com": true, "Steward.Example.com:443": true, "other.example": true, "desk": true,
		"evil.example": false, "192.0.2.8": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "evil.example:8971": false, "0.0.0.0": false,
		"steward.example.com.": false, "a:b:c": false, "[::2]": false, "*": false, "nonsense": false,
	}
	origins := map[string]bool{
		"": true, "https://steward.example.com": true, "HTTPS://STEWARD.example.com:443": true, "http://other.example:8080": true, "app://desk": true,
		"null": false, "http://steward.example.com": false, "https://steward.example.com:8443": false, "http://other.example": false, "http://localhost:3000": false,
		"https://evil.example": false, "https://steward.example.com.evil.example": false, "*": false, "https://": false, "http://user@127.0.0.1": false,
	}
	tokens := []struct {
		header string
		token  Token
	}{
		{"", TokenNone}, {"Bearer " + agentSecret, TokenAgent}, {"bearer  " + ownerSecret, TokenOwner},
		{"Bearer wrong", TokenNone}, {"Bearer ", TokenNone}, {"Basic " + ownerSecret, TokenNone}, {ownerSecret, TokenNone},
	}
	paths := []struct {
		path    string
		least   Token
		methods string // "" for every one
		missing bool
	}{
		{"/mcp", TokenAgent, "GET POST DELETE", false}, {"/mcp/api", TokenAgent, "GET POST DELETE", false},
		{"/healthz", TokenNone, "GET HEAD", false},
		{"/", TokenNone, "", false}, {"/asset.js", TokenNone, "", false}, {"/api/signin", TokenNone, "", false}, {"/api/call/x", TokenOwner, "", false},
		{"/api/../mcp", TokenNone, "", true}, {"//api/x", TokenNone, "", true}, {"/./api/x", TokenNone, "", true}, {"/%2e/api/x", TokenNone, "", true},
	}
	methods := []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"}

	c := d.connect(t)
	check := func(host, origin string, hostGood, originGood bool, tok int, p int, method string) {
		t.Helper()
		extra := fields{"Host: " + host}
		if origin != "" {
			extra = append(extra, "Origin: "+origin)
		}
		if tokens[tok].header != "" {
			extra = append(extra, "Authorization: "+tokens[tok].header)
		}
		token, path := tokens[tok].token, paths[p]
		want, word := 0, ""
		switch {
		case !hostGood, !originGood:
			want, word = 403, "forbidden"
		case path.missing:
			want, word = 404, "not_found"
		case path.methods != "" && !strings.Contains(" "+path.methods+" ", " "+method+" "):
			want, word = 405, "invalid"
		case token < path.least && token == TokenNone:
			want, word = 401, "forbidden"
		case token < path.least:
			want, word = 403, "forbidden"
		case strings.HasPrefix(path.path, "/mcp"):
			// Past the guard: no session was named, or no JSON.
			want, word = 400, "invalid"
			if method == "POST" {
				want = 415
			}
		default:
			want = 200
		}
		c.send(d.request(method, path.path, "", extra...))
		g := c.response(method)
		name := fmt.Sprintf("%s %s Host %q Origin %q token %q", method, path.path, host, origin, tokens[tok].header)
		if g.StatusCode != want || method != "HEAD" && word != "" && g.code() != word {
			t.Fatalf("%s: got %d %s; want %d %s", name, g.StatusCode, g.body, want, word)
		}
		if want == 405 && g.Header.Get("Allow") != strings.ReplaceAll(path.methods, " ", ", ") {
			t.Fatalf("%s: Allow: %q", name, g.Header.Get("Allow"))
		}
		if challenge := g.Header.Get("WWW-Authenticate"); (want == 401) != strings.HasPrefix(challenge, `Bearer realm="steward"`) ||
			want == 401 && (tokens[tok].header != "") != strings.Contains(challenge, "invalid_token") {
			t.Fatalf("%s: WWW-Authenticate: %q", name, challenge)
		}
		if g.Close { // after what net/http itself refuses
			c = d.connect(t)
		}
	}
	for host, hostGood := range hosts {
		for origin, originGood := range origins {
			check(host, origin, hostGood, originGood, 2, 6, "GET")
		}
		check(host, "", hostGood, true, 0, 0, "POST")
	}
	for tok := range tokens {
		for p := range paths {
			for _, method := range methods {
				check("localhost", "", true, true, tok, p, method)
				check("evil.example", "", false, true, tok, p, method)
				check("localhost", "null", true, false, tok, p, method)
			}
		}
	}
}

// TestHTTPOwnOrigin: a page of the service itself may call it, under whatever
// name and port it was reached.
func TestHTTPOwnOrigin(t *testing.T) {
	d := newDoor(t, nil)
	for _, tc := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1:8971", "http://127.0.0.1:8971", 200},
		{"localhost:1234", "http://localhost:1234", 200}, // through a tunnel
		{"[::1]:8971", "http://[::1]:8971", 200},
		{"localhost", "https://localhost", 200}, // through a proxy with TLS
		{"localhost:80", "http://localhost", 200},
		{"localhost:8971", "http://localhost:3000", 403}, // another service's page
		{"localhost:8971", "http://localhost", 403},
		{"localhost:8971", "ftp://localhost:8971", 403},
		{"localhost:8971", "http://127.0.0.1:8971", 403},
	} {
		if g := d.raw(t, d.request("GET", "/healthz", "", "Host: "+tc.host, "Origin: "+tc.origin)); g.StatusCode != tc.want {
			t.Errorf("Host %s, Origin %s: got %d, want %d", tc.host, tc.origin, g.StatusCode, tc.want)
		}
	}
	for _, tail := range []string{"/", "?", "#", "/x"} {
		if g := d.raw(t, d.request("GET", "/healthz", "", "Origin: http://"+d.addr+tail)); g.StatusCode != 403 {
			t.Errorf("an origin that ends in %s: %s", tail, g.Status)
		}
	}
	if g := d.raw(t, d.request("GET", "/healthz", "", "Origin: http://"+d.addr, "Origin: http://"+d.addr)); g.StatusCode != 403 {
		t.Errorf("two origins: got %d", g.StatusCode)
	}
}

// TestHTTPBoundToAll: on every address, the one a connection came in on is the
// service's own.
func TestHTTPBoundToAll(t *testing.T) {
	d := newDoor(t, func(c *HTTPConfig, _ *limits) { c.Bound = "[::]:8971" })
	for host, want := range map[string]int{"127.0.0.1:8971": 200, "192.0.2.7": 403, "evil.example": 403} {
		if g := d.raw(t, d.request("GET", "/healthz", "", "Host: "+host)); g.StatusCode != want {
			t.Errorf("%s: got %d, want %d", host, g.StatusCode, want)
		}
	}
}

// TestHTTPProxies: requests as Caddy and nginx forward them.
func TestHTTPProxies(t *testing.T) {
	d := newDoor(t, func(c *HTTPConfig, _ *limits) {
		c.AllowedOrigins = func() []string { return []string{"https://steward.example.com", "http://steward_backend"} }
	})
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	common := asAgent + "\r\n" + sendsJSON + "\r\n" + takesBoth + "\r\n" + modernOnes + "\r\nMcp-Method: server/discover\r\n" + fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for name, head := range map[string]string{
		"caddy": "POST /mcp/api HTTP/1.1\r\nHost: steward.example.com\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Host: steward.example.com\r\nX-Forwarded-Proto: https\r\nVia: 1.1 Caddy\r\nAccept-Encoding: gzip\r\nOrigin: https://steward.example.com\r\n",
		// What a stranger claims in these fields opens and closes nothing.
		"forged":          "POST /mcp/api HTTP/1.1\r\nHost: 127.0.0.1:8971\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n",
		"nginx 1.0":       "POST /mcp/api HTTP/1.0\r\nHost: 127.0.0.1:8971\r\nConnection: close\r\nX-Real-IP: 203.0.113.9\r\n",
		"nginx upstream":  "POST /mcp/api HTTP/1.0\r\nHost: steward_backend\r\nConnection: close\r\n",
		"nginx 1.1":       "POST /mcp/api HTTP/1.1\r\nHost: steward.example.com\r\nConnection: \r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n",
		"absolute":        "POST http://steward.example.com/mcp/api HTTP/1.1\r\nHost: steward.example.com\r\n",
		"1.0, keep-alive": "POST /mcp/api HTTP/1.0\r\nHost: steward.example.com\r\nConnection: keep-alive\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := d.connect(t)
			again := 2
			if strings.Contains(head, "close") {
				again = 1
			}
			for range again { // the proxy keeps its connection
				c.send(head + common + "\r\n" + body)
				if g := c.response("POST"); g.StatusCode != 200 || !strings.Contains(g.body, `"supportedVersions"`) || g.Close != (again == 1) {
					t.Fatalf("got %s close %v %s", g.Status, g.Close, g.body)
				}
			}
		})
	}
	if g := d.raw(t, "POST /mcp HTTP/1.0\r\n"+common+"\r\n"+body); g.StatusCode != 403 || !strings.Contains(g.body, "Host: missing") {
		t.Errorf("no host: got %d %s", g.StatusCode, g.body)
	}
	// A stream of events through HTTP/1.0 ends with its connection.
	call := d.modernCall("/mcp", "1", "test_burst", `{"text":"x"}`, `,"progressToken":"p"`)
	g := d.raw(t, strings.Replace(call, "HTTP/1.1", "HTTP/1.0", 1))
	if m := g.messages(t); g.StatusCode != 200 || len(m) != 11 || g.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("events over HTTP/1.0: %s %v", g.Status, g.body)
	}
}

func TestHTTPHealth(t *testing.T) {
	d := newDoor(t, nil)
	before := d.http.IdleSince()
	g := d.raw(t, d.request("GET", "/healthz", ""))
	if g.StatusCode != 200 || g.body != `{"status":"ok","version":"1.2.3"}`+"\n" || g.Header.Get("Content-Type") != typeJSON {
		t.Errorf("got %s %v %q", g.Status, g.Header, g.body)
	}
	if d.http.IdleSince() != before {
		t.Error("a look at /healthz keeps the service alive")
	}
}

// TestHTTPTokens: the secrets may change while the service runs, none means
// closed, and two that are the same open no more than the lesser.
func TestHTTPTokens(t *testing.T) {
	owner, agent := "", ""
	d := newDoor(t, func(c *HTTPConfig, _ *limits) {
		c.OwnerToken, c.AgentToken = func() string { return owner }, func() string { return agent }
	})
	d.http.Mount("/api/", TokenOwner, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	status := func(path, token string) int {
		return d.raw(t, d.request("DELETE", path, "", "Authorization: Bearer "+token)).StatusCode
	}
	for _, step := range []struct {
		owner, agent, token string
		mcp, api            int
	}{
		{"", "", "", 401, 401},
		{"o", "", "o", 400, 200},
		{"o", "a", "a", 400, 403},
		{"o2", "a2", "o", 401, 401},
		{"o2", "a2", "o2", 400, 200},
		{"same", "same", "same", 400, 403},
	} {
		owner, agent = step.owner, step.agent
		if mcp, api := status("/mcp", step.token), status("/api/x", step.token); mcp != step.mcp || api != step.api {
			t.Errorf("%+v: got %d, %d", step, mcp, api)
		}
	}
	owner, agent = ownerSecret, agentSecret
	for _, path := range []string{"/mcp?token=" + agentSecret, "/mcp?access_token=" + agentSecret} {
		if g := d.raw(t, d.request("DELETE", path, "")); g.StatusCode != 401 {
			t.Errorf("%s: got %d", path, g.StatusCode)
		}
	}
	if g := d.raw(t, d.request("DELETE", "/mcp", "", asAgent, asOwner)); g.StatusCode != 401 {
		t.Errorf("two tokens: got %d", g.StatusCode)
	}
	if log := d.text.String(); strings.Contains(log, "secret") || !strings.Contains(log, "token=agent") || !strings.Contains(log, "token=owner") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestNewToken(t *testing.T) {
	if a, b := NewToken(), NewToken(); len(a) != 43 || a == b || strings.Trim(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		t.Errorf("%q, %q", a, b)
	}
}

// TestHTTPRefusalsAreLoggedSparingly: a flood of them does not wash the log away.
func TestHTTPRefusalsAreLoggedSparingly(t *testing.T) {
	d := newDoor(t, nil)
	c := d.connect(t)
	for range 3 * refusalsLogged {
		c.send(d.request("GET", "/nothing", ""))
		if g := c.response("GET"); g.StatusCode != 404 {
			t.Fatal(g.Status)
		}
	}
	if n := strings.Count(d.text.String(), "refused an HTTP request"); n != refusalsLogged {
		t.Errorf("%d lines, want %d", n, refusalsLogged)
	}
}

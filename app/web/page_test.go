package web

import (
	"strings"
	"testing"
)

const ownPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

func TestPage(t *testing.T) {
	f := newFixture(t, nil)
	const once, always = "no-cache", "public, max-age=31536000, immutable"
	for path, want := range map[string]struct{ body, kind, cache string }{
		"/":                                    {"<!doctype html><title>built</title>", "text/html; charset=utf-8", once},
		"/index.html":                          {"<!doctype html><title>built</title>", "text/html; charset=utf-8", once},
		"/assets/index-B0dc8_-x.js":            {"export {}", "text/javascript; charset=utf-8", always},
		"/assets/index-Cz3k0a1B.css":           {"a{}", "text/css; charset=utf-8", always},
		"/assets/deep/er/x-AAAAAAAA.png":       {"png", "image/png", always},
		"/assets/plain.js":                     {"1", "text/javascript; charset=utf-8", once},
		"/favicon.svg":                         {"<svg/>", "image/svg+xml", once},
		"/font.woff2":                          {"font", "font/woff2", once},
		"/strange.bin":                         {"?", "application/octet-stream", once},
		"/folder/inside.txt":                   {"inside", "text/plain; charset=utf-8", once},
		"/name%20with%20space%20&%20音.txt?v=1": {"odd", "text/plain; charset=utf-8", once},
	} {
		g := f.ask("GET", path, "")
		if g.StatusCode != 200 || g.body != want.body || g.Header.Get("Content-Type") != want.kind || g.Header.Get("Cache-Control") != want.cache {
			t.Errorf("%s: %s %q %v", path, g.Status, g.body, g.Header)
		}
		tag := g.Header.Get("ETag")
		if again := f.ask("GET", path, "", "If-None-Match", tag); tag == "" || again.StatusCode != 304 || again.body != "" || again.Header.Get("Content-Security-Policy") != ownPolicy {
			t.Errorf("%s again: %s %q", path, again.Status, again.body)
		}
		h := f.ask("HEAD", path, "")
		if h.StatusCode != 200 || h.body != "" || h.ContentLength != int64(len(want.body)) || h.Header.Get("Content-Type") != want.kind {
			t.Errorf("HEAD %s: %s, %d bytes", path, h.Status, h.ContentLength)
		}
	}
	for _, path := range []string{
		"/nothing", "/folder", "/folder/", "/assets", "/index.html/", "/index.html/x", "/../web.go", "/..%2fweb.go", "/%2e%2e/web.go", "/assets/..%2findex.html",
		"/assets/%2e%2e/index.html", "/.", "/..", "/%2e", "/assets%5cplain.js", "/..%5cweb.go", "/index.html%00", "/%2findex.html", "/etc/passwd", "/%2fetc%2fpasswd",
		"/api", "/api/", "/api/calls", "/api/other",
	} {
		if g := f.ask("GET", path, ""); g.StatusCode != 404 || g.code() != "not_found" {
			t.Errorf("%s: %s %q", path, g.Status, g.body)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		if g := f.ask(method, "/", ""); g.StatusCode != 405 || g.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s, Allow %q", method, g.Status, g.Header.Get("Allow"))
		}
	}
}

// Every answer of the page carries the same protection, also the ones that
// refuse.
func TestPageHeaders(t *testing.T) {
	f := newFixture(t, nil)
	for _, path := range []string{"/", "/assets/plain.js", "/nothing"} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			g := f.ask(method, path, "")
			for name, want := range map[string]string{
				"Content-Security-Policy": ownPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := g.Header.Get(name); got != want {
					t.Errorf("%s %s: %s: %q", method, path, name, got)
				}
			}
		}
	}
}

// Who may frame the page follows the settings; what is no origin adds nothing.
func TestPageMayBeFramed(t *testing.T) {
	origins := []string{}
	f := newFixture(t, func(c *Config) { c.Origins = func() []string { return origins } })
	for _, c := range []struct{ origin, adds string }{
		{"", ""},
		{"https://steward.example.org", " https://steward.example.org"},
		{" https://steward.example.org:8443/ ", " https://steward.example.org:8443"},
		{"http://[::1]:8971", " http://[::1]:8971"},
		{"vscode-webview://panel", " vscode-webview://panel"},
		{"https://a.example;script-src", ""}, {"https://a.example script-src", ""}, {"https://a.example/page", ""},
		{"*", ""}, {"https://*.example", ""}, {"'unsafe-inline'", ""}, {"https://a.example, https://b.example", ""}, {"https://a\r\nX: y", ""},
	} {
		origins = []string{c.origin}
		if got := f.ask("GET", "/", "").Header.Get("Content-Security-Policy"); got != ownPolicy+c.adds {
			t.Errorf("%q: %s", c.origin, strings.TrimPrefix(got, ownPolicy))
		}
	}
	origins = []string{"https://a.example", "https://b.example"}
	if got := f.ask("GET", "/", "").Header.Get("Content-Security-Policy"); got != ownPolicy+" https://a.example https://b.example" {
		t.Error(got)
	}
}

// A program without a built page serves one all the same.
func TestPageThatIsNotBuilt(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Page = nil })
	if g := f.ask("GET", "/", ""); g.StatusCode != 200 || !strings.Contains(g.body, "built without its page") || g.Header.Get("Content-Security-Policy") != ownPolicy {
		t.Errorf("%s %q", g.Status, g.body)
	}
	if g := f.ask("GET", "/assets/plain.js", ""); g.StatusCode != 404 {
		t.Error(g.Status)
	}
	if g := f.ask("POST", "/api/call/brief_get", "{}", "X-Owner", "1"); g.StatusCode != 200 {
		t.Errorf("%s %s", g.Status, g.body)
	}
}

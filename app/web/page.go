package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"steward/mcp/ops"
)

// page serves the files of the built page. Nothing in them is secret: what the
// ledger holds comes by calls that want the token.
type page struct {
	files   fs.FS
	origins func() []string

	mu   sync.Mutex
	read map[string]file // by name, as they are asked for: there are few, and they never change
}

type file struct {
	content []byte
	kind    string // media type
	tag     string // ETag
	cache   string // Cache-Control
}

const indexFile = "index.html"

// unbuilt is the page of a program that was built without one.
const unbuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Steward</title></head>
<body><p>Steward runs. This program was built without its page.</p></body></html>
`

func newPage(files fs.FS, origins func() []string) *page {
	return &page{files: files, origins: origins, read: map[string]file{}}
}

// ServeHTTP answers GET and HEAD.
func (p *page) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Content-Security-Policy", p.policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if !allow(rw, r, http.MethodGet, http.MethodHead) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = indexFile
	}
	f, err := p.file(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing(rw)
		return
	case err != nil:
		refuse(rw, 0, ops.AsError(err))
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", f.tag)
	http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(f.content))
}

// source is what may stand in the policy's list. An origin in which anything
// else stands, such as a semicolon, would say more than an origin.
var source = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$`)

// policy lets the page load and ask for what is its own, nothing else.
func (p *page) policy() string {
	var b strings.Builder
	b.WriteString("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	if p.origins != nil {
		for _, o := range p.origins() {
			if o = strings.TrimSuffix(strings.TrimSpace(o), "/"); source.MatchString(o) {
				b.WriteString(" " + o)
			}
		}
	}
	return b.String()
}

// file reads a file of the page once. Folders are not found.
func (p *page) file(name string) (file, error) {
	if !fs.ValidPath(name) || name == "." {
		return file{}, fs.ErrNotExist
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.read[name]; ok {
		return f, nil
	}
	content, err := p.load(name)
	if err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(content)
	f := file{content: content, kind: mediaType(name), tag: `"` + hex.EncodeToString(sum[:16]) + `"`, cache: "no-cache"}
	if hashed.MatchString(name) {
		f.cache = "public, max-age=31536000, immutable"
	}
	p.read[name] = f
	return f, nil
}

func (p *page) load(name string) ([]byte, error) {
	err := error(fs.ErrNotExist)
	if p.files != nil {
		var fi fs.FileInfo
		if fi, err = fs.Stat(p.files, name); err == nil && fi.Mode().IsRegular() {
			return fs.ReadFile(p.files, name)
		}
		if err == nil {
			err = fs.ErrNotExist
		}
	}
	if name == indexFile && errors.Is(err, fs.ErrNotExist) {
		return []byte(unbuilt), nil
	}
	return nil, err
}

// hashed matches the names that the build gives to assets: another content has
// another name.
var hashed = regexp.MustCompile(`^assets/.*-[A-Za-z0-9_-]{8}\.[a-z0-9]+$`)

// mediaTypes are said here: what the system thinks of a name is its own affair,
// and wrong on some.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/vnd.microsoft.icon", ".webp": "image/webp", ".woff2": "font/woff2",
}

func mediaType(name string) string {
	if t := mediaTypes[path.Ext(name)]; t != "" {
		return t
	}
	return "application/octet-stream"
}

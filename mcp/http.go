package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"steward/mcp/ops"
)

// HTTPConfig is what an HTTP needs of the service.
type HTTPConfig struct {
	Server  *Server      // answers MCP
	Version string       // Steward's, for /healthz
	Logger  *slog.Logger // nil discards. Neither payloads nor tokens are logged

	// OwnerToken and AgentToken return the secrets in force. They are asked for
	// every request; nil or "" opens nothing.
	OwnerToken, AgentToken func() string

	// Bound is the address listened on, host:port as a listener gives it.
	// Requests may be addressed to it, whatever the port.
	Bound string
	// AllowedOrigins are further origins (see ParseOrigin) that pages may come
	// from and whose hosts requests may be addressed to. It is asked for every
	// request that needs it; nil is none.
	AllowedOrigins func() []string
}

// limits bounds what clients may take; tests make them smaller.
type limits struct {
	requests    int           // to /mcp being answered at once, event streams aside; as many to what is mounted
	streams     int           // event streams open at once
	sessions    int           // of clients that began with initialize
	bodies      int64         // bytes of all bodies at once
	conns       int           // connections; beyond it the one that has waited longest for a request gives way
	headerBytes int           // of a request's header
	header      time.Duration // until the header has come
	body        time.Duration // until the body has come
	idle        time.Duration // between two requests on a connection
	write       time.Duration // without the client reading anything of what waits for it
	sessionIdle time.Duration // without a request
	heartbeat   time.Duration // on an event stream
	wrong       int           // wrong tokens a minute, before one more has to wait
}

func defaultLimits() limits {
	return limits{
		requests: 256, streams: 128, sessions: 512, bodies: 64 << 20, conns: 1024, headerBytes: 64 << 10,
		header: 10 * time.Second, body: time.Minute, idle: 2 * time.Minute, write: 30 * time.Second,
		sessionIdle: 30 * time.Minute, heartbeat: 25 * time.Second, wrong: 5,
	}
}

// HTTP is Steward's door for clients that speak HTTP: MCP at /mcp and
// /mcp/{stream}, /healthz, and what is mounted, all behind one guard of Host,
// Origin and token. Proxies' X-Forwarded fields are not looked at.
//
// At most 256 requests to /mcp are answered at once, 128 event streams are open
// and 512 sessions live. A body has at most 8 MiB, all at once 64 MiB. Beyond
// that requests are refused, with 413 or with 429 and Retry-After. After 5 wrong
// tokens within a minute a further one waits 1 s and gets 429; a right one never
// waits.
type HTTP struct {
	cfg      HTTPConfig
	log      *slog.Logger
	limits   limits
	sessions *sessions
	library  *server.StreamableHTTPServer
	server   *http.Server
	stopping context.Context // ends when the service does
	stop     context.CancelFunc

	requests *turnstile // to /mcp
	mounted  *turnstile // to what is mounted and needs a token
	open     *turnstile // to what needs none: who has no token locks nobody out
	streams  *turnstile
	bodies   *budget
	conns    *connections
	presence presence
	refused  sparing
	wrong    wrongs

	mu     sync.RWMutex
	routes []route // longest pattern first
}

// route is what is answered under a path.
type route struct {
	pattern string // a path, or with a slash at its end everything below
	least   Token
	room    *turnstile
	handler http.Handler
}

// NewHTTP returns a door that is not open yet: Serve opens it.
func NewHTTP(cfg HTTPConfig) *HTTP { return newHTTP(cfg, defaultLimits()) }

func newHTTP(cfg HTTPConfig, l limits) *HTTP {
	h := &HTTP{
		cfg: cfg, log: cfg.Logger, limits: l,
		sessions: newSessions(l.sessions),
		requests: &turnstile{what: "requests", max: l.requests},
		mounted:  &turnstile{what: "requests", max: l.requests},
		open:     &turnstile{what: "requests", max: l.requests},
		streams:  &turnstile{what: "event streams", max: l.streams},
		bodies:   &budget{max: l.bodies},
		conns:    newConnections(l.conns),
		presence: presence{since: time.Now()},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.library = h.newLibrary(cfg.Server)
	h.server = h.newServer()
	return h
}

// Mount answers requests for pattern with handler, for those that bring at
// least that token. A pattern is a path, or with a slash at its end everything
// below it that no longer pattern matches; /mcp and /healthz are taken. The
// handler finds the token with TokenOf. A body that is too long or too slow ends
// with an error when it is read: an *http.MaxBytesError is to be answered 413.
// At most 256 requests to all that is mounted are answered at once, and as many
// to what needs no token.
func (h *HTTP) Mount(pattern string, least Token, handler http.Handler) {
	room := h.mounted
	if least == TokenNone {
		room = h.open
	}
	h.add(route{pattern, least, room, handler})
}

// MountStream is Mount for a handler whose answer may last for days: it holds
// one of the 128 places that there are for event streams. The handler ends when
// Stopping is closed, or the client's request is.
func (h *HTTP) MountStream(pattern string, least Token, handler http.Handler) {
	h.add(route{pattern, least, h.streams, handler})
}

// Stopping is closed when the service begins to leave.
func (h *HTTP) Stopping() <-chan struct{} { return h.stopping.Done() }

func (h *HTTP) add(r route) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := 0
	for i < len(h.routes) && len(h.routes[i].pattern) >= len(r.pattern) {
		if h.routes[i].pattern == r.pattern {
			panic("mcp: " + r.pattern + " is mounted twice")
		}
		i++
	}
	h.routes = append(h.routes[:i], append([]route{r}, h.routes[i:]...)...)
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok && !h.conns.answering(c) {
		panic(http.ErrAbortHandler) // it has just given way to another
	}
	start := time.Now()
	w := newReply(rw, h.limits.write)
	token := h.token(r)
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			panic(p) // a mounted handler's way to break off
		} else if p != nil {
			e := ops.AsError(fmt.Errorf("panic: %v", p))
			h.log.Error("an HTTP request failed", "id", e.ID, "panic", p, "stack", string(debug.Stack()))
			if w.status == 0 {
				w.refuse(0, e)
			} else {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
		}
		h.log.Debug("HTTP", "method", oneLine(r.Method), "path", oneLine(r.URL.Path), "status", w.status, "token", token.String(), "took", time.Since(start))
		w.push() // net/http writes what is left
	}()
	r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, token))
	if no := h.answer(w, r, token); no != nil {
		h.refuse(w, r, token, no)
	}
}

// answer finds out what is asked for, and whether it may be.
func (h *HTTP) answer(w *reply, r *http.Request, token Token) *refusal {
	if e := h.checkHost(r); e != nil {
		return &refusal{err: e}
	}
	if e := h.checkOrigin(r); e != nil {
		return &refusal{err: e}
	}
	if h.stopping.Err() != nil {
		w.Header().Set("Connection", "close")
		return &refusal{err: &ops.Error{Code: ops.Unavailable, Message: "the service is stopping", Hint: "call again in a moment"}, retry: time.Second}
	}
	escaped := r.URL.EscapedPath()
	switch segment, below := strings.CutPrefix(escaped, "/mcp/"); {
	case escaped == "/healthz":
		return h.healthz(w, r)
	case escaped == "/mcp" || below && segment != "" && !strings.Contains(segment, "/"):
		return h.mcp(w, r, token, segment, below)
	}
	return h.mount(w, r, token)
}

// mcp is /mcp and /mcp/{stream}.
func (h *HTTP) mcp(w *reply, r *http.Request, token Token, segment string, below bool) *refusal {
	stream := ""
	if below {
		var e *ops.Error
		if stream, e = streamOf(segment); e != nil {
			return &refusal{err: e}
		}
	}
	if bad := allow(w, r, http.MethodGet, http.MethodPost, http.MethodDelete); bad != nil {
		return bad
	}
	if bad := h.permit(w, r, token, TokenAgent); bad != nil {
		return bad
	}
	// An event stream has its own bound, and holds no place here.
	if r.Method != http.MethodGet {
		if !h.requests.enter() {
			return h.requests.full()
		}
		defer h.requests.leave()
	}
	h.presence.enter()
	defer h.presence.leave()
	if bad := h.limitBody(w, r); bad != nil {
		return bad
	}
	return h.serveMCP(w, r, stream)
}

// mount is everything else.
func (h *HTTP) mount(w *reply, r *http.Request, token Token) *refusal {
	missing := &refusal{err: &ops.Error{Code: ops.NotFound, Message: "there is nothing at " + printable(r.URL.Path), Hint: "MCP is at /mcp and /mcp/NAME"}}
	p := r.URL.Path
	if clean := path.Clean(p); p == "" || p[0] != '/' || p != clean && p != clean+"/" {
		return missing // no two spellings of one path: one might pass where the other does not
	}
	rt := h.route(p)
	if rt == nil {
		return missing
	}
	if bad := h.permit(w, r, token, rt.least); bad != nil {
		return bad
	}
	if !rt.room.enter() {
		return rt.room.full()
	}
	defer rt.room.leave()
	h.presence.enter()
	defer h.presence.leave()
	if bad := h.limitBody(w, r); bad != nil {
		return bad
	}
	rt.handler.ServeHTTP(w, r)
	return nil
}

func (h *HTTP) route(p string) *route {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i := range h.routes {
		if rt := h.routes[i]; p == rt.pattern || strings.HasSuffix(rt.pattern, "/") && strings.HasPrefix(p, rt.pattern) {
			return &rt
		}
	}
	return nil
}

// healthz says that the service is there, and which.
func (h *HTTP) healthz(w *reply, r *http.Request) *refusal {
	if bad := allow(w, r, http.MethodGet, http.MethodHead); bad != nil {
		return bad
	}
	body := append(appendString([]byte(`{"status":"ok","version":`), h.cfg.Version), "}\n"...)
	w.Header().Set("Content-Type", typeJSON)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	return nil
}

// allow refuses other methods.
func allow(w *reply, r *http.Request, methods ...string) *refusal {
	for _, m := range methods {
		if r.Method == m {
			return nil
		}
	}
	list := strings.Join(methods, ", ")
	w.Header().Set("Allow", list)
	return &refusal{status: http.StatusMethodNotAllowed, err: &ops.Error{Code: ops.Invalid, Message: "method: one of " + list + "; got " + printable(r.Method)}}
}

// permit refuses those who bring less than the least token.
func (h *HTTP) permit(w *reply, r *http.Request, token, least Token) *refusal {
	switch {
	case token >= least:
		return nil
	case token == TokenNone && bearer(r.Header.Values("Authorization")) != "" && h.Wrong(r.Context()):
		return &refusal{status: http.StatusTooManyRequests, retry: wrongWithin, err: &ops.Error{Code: ops.Unavailable,
			Message: "too many wrong tokens", Hint: "the right one is let in at any time"}}
	case token == TokenNone:
		challenge := `Bearer realm="steward"`
		if len(r.Header.Values("Authorization")) > 0 {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		return &refusal{status: http.StatusUnauthorized, err: &ops.Error{Code: ops.Forbidden, Message: "a token is needed",
			Hint: "send Authorization: Bearer TOKEN; for agents it is in the file agent-token of Steward's state folder"}}
	}
	return &refusal{err: &ops.Error{Code: ops.Forbidden, Message: "the " + token.String() + " token opens /mcp only", Hint: "only a person may, with the owner token"}}
}

// refuse answers with an error and leaves a line about it.
func (h *HTTP) refuse(w *reply, r *http.Request, token Token, no *refusal) {
	if no.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(no.retry, time.Second)/time.Second)))
	}
	if r.ContentLength != 0 {
		// Whatever of the body has not come is not waited for.
		w.Header().Set("Connection", "close")
		_ = w.rc.SetReadDeadline(time.Now().Add(time.Second))
	}
	w.refuse(no.status, no.err)
	if more, ok := h.refused.line(time.Now()); ok {
		h.log.Warn("refused an HTTP request", "status", w.status, "why", no.err.Message, "method", oneLine(r.Method), "path", oneLine(r.URL.Path),
			"from", r.RemoteAddr, "token", token.String(), "unlogged", more)
	}
}

func (h *HTTP) tooManySessions() *refusal {
	return &refusal{status: http.StatusTooManyRequests, retry: time.Minute, err: &ops.Error{Code: ops.Unavailable,
		Message: fmt.Sprintf("too many sessions: at most %d", h.limits.sessions),
		Hint:    fmt.Sprintf("end sessions with DELETE; one ends by itself after %v without a request", h.limits.sessionIdle)}}
}

// turnstile bounds how many of something there are at once.
type turnstile struct {
	what string
	max  int
	n    atomic.Int64
}

func (t *turnstile) enter() bool {
	if t.n.Add(1) > int64(t.max) {
		t.n.Add(-1)
		return false
	}
	return true
}

func (t *turnstile) leave() { t.n.Add(-1) }

func (t *turnstile) full() *refusal {
	return &refusal{status: http.StatusTooManyRequests, retry: time.Second, err: &ops.Error{Code: ops.Unavailable,
		Message: fmt.Sprintf("too many %s at once: at most %d", t.what, t.max), Hint: "call again in a moment"}}
}

// sparing lets a few lines a minute through, so that a flood of refusals does
// not wash the log away.
type sparing struct {
	mu      sync.Mutex
	minute  time.Time
	written int
	dropped int
}

const refusalsLogged = 20 // a minute

// line tells whether a line may be written now, and how many were not since the
// last one.
func (s *sparing) line(now time.Time) (dropped int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.minute) >= time.Minute {
		s.minute, s.written = now, 0
	}
	if s.written == refusalsLogged {
		s.dropped++
		return 0, false
	}
	s.written++
	dropped, s.dropped = s.dropped, 0
	return dropped, true
}

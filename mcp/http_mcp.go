package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"steward/ledger"
	"steward/mcp/ops"
)

// Header fields and methods of Streamable HTTP.
const (
	headerSession = server.HeaderKeySessionID
	headerVersion = mcp.HeaderProtocolVersion
	methodListen  = string(mcp.MethodSubscriptionsListen)
)

// WrapServer returns a Server that speaks for a library server made elsewhere,
// whose tools are no operations. It is for fixtures that test the transport.
func WrapServer(library *server.MCPServer, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{library: library, log: log}
}

// newLibrary is the library's side of /mcp. Its check of Host is off, because
// requests reach it through Handle, which has none: ours is before it.
func (h *HTTP) newLibrary(s *Server) *server.StreamableHTTPServer {
	return server.NewStreamableHTTPServer(s.library,
		server.WithSessionIdManager(h.sessions), // stateful, as WithStateful(true) would be
		server.WithSessionIdleTTL(h.limits.sessionIdle),
		// What it sends on an event stream keeps the session from idling and
		// the proxies in between from giving up.
		server.WithHeartbeatInterval(h.limits.heartbeat),
		server.WithStreamableHTTPLogger(slog.New(demoted{h.log.Handler()})))
}

// mcpCall is one HTTP request to /mcp.
type mcpCall struct {
	h       *HTTP
	w       *reply
	r       *http.Request
	stream  string
	session string // the header's
	known   httpSession
	body    []byte
	message message // of a POST
	claims  claims
	modern  bool   // of the era without sessions
	left    func() // lets go of the session; nil without one
}

// origin is where the request comes from.
func (c *mcpCall) origin() origin { return origin{TokenOf(c.r.Context()), c.stream} }

// claims is what a message says about its client.
type claims struct {
	Client *clientName `json:"clientInfo"` // of initialize
	Meta   struct {
		Version string      `json:"io.modelcontextprotocol/protocolVersion"`
		Client  *clientName `json:"io.modelcontextprotocol/clientInfo"`
	} `json:"_meta"`
}

type clientName struct{ Name, Version string }

func (c *clientName) String() string {
	if c == nil {
		return ""
	}
	return oneLine(oneLine(c.Name) + " " + oneLine(c.Version))
}

// serveMCP answers a request to /mcp or /mcp/{stream} that passed the guard.
func (h *HTTP) serveMCP(w *reply, r *http.Request, stream string) *refusal {
	body, done, bad := h.readBody(r)
	defer done()
	if bad != nil {
		return bad
	}
	c := &mcpCall{h: h, w: w, r: r, stream: stream, session: r.Header.Get(headerSession), body: body}
	defer func() {
		if c.left != nil {
			c.left()
		}
	}()
	if r.Method == http.MethodPost {
		return c.post()
	}
	c.modern = mcp.IsModernProtocol(r.Header.Get(headerVersion))
	if bad := c.findSession(); bad != nil {
		return bad
	}
	if r.Method == http.MethodGet && !c.modern && accepts(r, typeEvents) {
		if !h.streams.enter() {
			return h.streams.full()
		}
		defer h.streams.leave()
	}
	c.other()
	return nil
}

// post answers one message.
func (c *mcpCall) post() *refusal {
	t, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if charset, said := params["charset"]; err != nil || t != typeJSON || said && !strings.EqualFold(charset, "utf-8") {
		return &refusal{status: http.StatusUnsupportedMediaType,
			err: &ops.Error{Code: ops.Invalid, Field: "Content-Type", Message: "Content-Type: must be application/json in UTF-8; got " + printable(c.r.Header.Get("Content-Type"))}}
	}
	c.body = bytes.TrimSpace(c.body)
	m, bad := parse(c.body)
	if bad == nil && m.kind == isSteward {
		bad = &fault{code: codeInvalidRequest, text: `jsonrpc: must be "2.0"`}
	}
	if bad != nil {
		a := c.answer(nil)
		a.message(http.StatusBadRequest, bytes.TrimSpace(errorLine(bad.id, bad.code, bad.text, nil)))
		return nil
	}
	c.message = m
	if m.params != nil {
		_ = json.Unmarshal(m.params, &c.claims) // what is not as it should be, the library words
	}
	c.modern = mcp.IsModernProtocol(c.r.Header.Get(headerVersion)) || mcp.IsModernProtocol(c.claims.Meta.Version)

	switch {
	case m.kind == isRequest && m.method == methodInitialize && !c.modern:
		given, ok := c.h.sessions.reserve()
		if !ok {
			return c.h.tooManySessions()
		}
		if given != "" {
			c.forget(given)
			c.h.log.Info("the session that was idle longest has made room for a new one", "sessions", c.h.limits.sessions)
		}
		defer c.h.sessions.release()
		c.session = ""
	default:
		if bad := c.findSession(); bad != nil {
			return bad
		}
	}
	if m.kind == isRequest && m.method == methodListen && c.modern {
		if !c.h.streams.enter() {
			return c.h.streams.full()
		}
		defer c.h.streams.leave()
	}
	switch {
	case m.kind == isNotification && m.method == methodCancelled && c.modern:
		// In this era a request ends with its connection. The library would
		// cancel whichever client's request has that id.
		c.w.WriteHeader(http.StatusAccepted)
		return nil
	case m.kind != isRequest:
		c.other()
		return nil
	}
	c.request()
	return nil
}

// findSession looks the request's session up. The newer era has none.
func (c *mcpCall) findSession() *refusal {
	if c.modern {
		return nil
	}
	if c.session == "" {
		return &refusal{err: &ops.Error{Code: ops.Invalid, Field: headerSession, Message: headerSession + ": missing",
			Hint: "begin with initialize and send the session id it answers, or speak " + versionModern}}
	}
	if c.known, c.left = c.h.sessions.enter(c.session, c.origin()); c.left == nil {
		return &refusal{err: &ops.Error{Code: ops.NotFound, Field: headerSession, Message: headerSession + ": there is no such session, or it has ended",
			Hint: "begin a new one with initialize"}}
	}
	return nil
}

// caller is who calls, by what the connection says. Whichever the token, it is
// an agent: nothing that a person decides is offered on /mcp.
func (c *mcpCall) caller() ops.Caller {
	client := c.known.client
	if c.modern {
		client = c.claims.Meta.Client.String()
	}
	return ops.Caller{Surface: ops.Agent, Session: c.known.name, Client: client, Workspace: c.stream, Stream: c.stream}
}

// request answers one request.
func (c *mcpCall) request() {
	s, m := c.h.cfg.Server, &c.message
	x := &exchange{caller: c.caller()}
	c.body = s.forLibrary(*m, x)

	ctx, cancel := c.context(s)
	defer cancel()
	a := c.answer(cancel)
	if m.call.token != nil && a.stream {
		x.caller.Progress = func(done, total float64, text string) {
			if !math.IsNaN(done) && !math.IsInf(done, 0) && !math.IsInf(total, 0) {
				_ = a.notify(progressLine(m.call.token, done, total, text)) // a client that is gone needs none
			}
		}
	}
	a.final = func(line []byte) []byte { return s.reword(ctx, m, x, c.modern, line) }
	if m.method == methodInitialize && !c.modern {
		a.began = func(session string) {
			client := c.claims.Client.String()
			c.h.sessions.introduce(session, client, c.origin())
			c.h.log.Info("an MCP client began over HTTP", "client", client, "stream", c.stream, "token", TokenOf(ctx).String())
		}
	}
	ctx = context.WithValue(context.WithValue(ctx, exchangeKey{}, x), answerKey{}, a)
	c.h.library.Handle(a, c.forLibrary(ctx))
	a.finish(func() (int, []byte) {
		if ctx.Err() == nil || c.h.stopping.Err() == nil {
			return 0, nil // the client has left
		}
		e := &ops.Error{Code: ops.Unavailable, Message: "the service is stopping", Hint: "call again in a moment; this call has changed nothing"}
		return e.Code.HTTP(), bytes.TrimSpace(s.refuse(m.id, e))
	})
}

// context is that of a request's work. A call that may have taken effect is not
// given up with its connection; everything else ends with it, and when the
// service stops.
func (c *mcpCall) context(s *Server) (context.Context, context.CancelFunc) {
	ctx := c.r.Context()
	if kind, known := s.kinds[c.message.call.name]; c.message.method == methodToolsCall && known && kind != ops.Waits && !s.again[c.message.call.name] {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.h.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}

// other lets the library answer what is no request of MCP's: a notification, a
// response, an event stream, the end of a session.
func (c *mcpCall) other() {
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	a := c.answer(cancel)
	c.h.library.Handle(a, c.forLibrary(ctx))
	a.finish(nil)
}

// forget lets the library drop what it keeps of a session that has ended here.
func (c *mcpCall) forget(session string) {
	header := http.Header{headerSession: {session}}
	c.h.library.Handle(&answer{out: c.w, header: make(http.Header)}, &server.HTTPRequest{Method: http.MethodDelete, URL: c.r.URL, Header: header, Context: c.r.Context()})
}

func (c *mcpCall) forLibrary(ctx context.Context) *server.HTTPRequest {
	return &server.HTTPRequest{Method: c.r.Method, URL: c.r.URL, Header: c.r.Header, Body: c.body, Context: ctx}
}

func (c *mcpCall) answer(gone context.CancelFunc) *answer {
	return &answer{out: c.w, header: make(http.Header), gone: gone, stream: accepts(c.r, typeEvents)}
}

// accepts tells whether the client takes a content type; it does when it does
// not say.
func accepts(r *http.Request, contentType string) bool {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(contentType, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		t, params, _ := mime.ParseMediaType(strings.TrimSpace(part))
		if (t == contentType || t == "*/*" || t == kind+"/*") && params["q"] != "0" {
			return true
		}
	}
	return false
}

// reword makes the library's response to m ours: with the id as it came, and
// with the errors worded as on the socket.
func (s *Server) reword(ctx context.Context, m *message, x *exchange, modern bool, line []byte) []byte {
	var result, failure, code []byte
	for o := (members{b: line}); o.next(); {
		switch string(o.key) {
		case "result":
			result = o.value
		case "error":
			failure = o.value
		}
	}
	if failure != nil && failure[0] == '{' {
		for o := (members{b: failure}); o.next(); {
			if string(o.key) == "code" {
				code = o.value
			}
		}
	}
	switch {
	case result != nil:
		line = resultLine(m.id, result)
	case x.failed != nil:
		line = s.refuse(m.id, x.failed)
	case m.method == methodToolsCall && s.backend != nil && string(code) == fmt.Sprint(codeInvalidParams) && s.library.GetTool(m.call.name) == nil:
		// Not one of the tools here; the backend knows whether it is one elsewhere.
		var extra []byte
		if modern {
			extra = s.modern
		}
		line = s.callTool(&request{message: *m, caller: x.caller, ctx: ctx}, extra)
	case failure != nil:
		b := append(append(append([]byte(nil), `{"jsonrpc":"2.0","id":`...), m.id...), `,"error":`...)
		line = append(append(b, failure...), '}')
	}
	return bytes.TrimSpace(line)
}

// streamOf is the stream's name in an escaped path below /mcp/.
func streamOf(segment string) (string, *ops.Error) {
	name, err := url.PathUnescape(segment)
	invalid := func(text string) (string, *ops.Error) {
		return "", &ops.Error{Code: ops.Invalid, Field: "stream", Message: "stream: " + text, Hint: "/mcp/NAME, with the name percent-encoded"}
	}
	switch n := utf8.RuneCountInString(name); {
	case err != nil || !utf8.ValidString(name):
		return invalid("must be percent-encoded UTF-8; got " + printable(segment))
	case n > ledger.MaxWorkspace:
		return invalid(fmt.Sprintf("at most %d characters; got %d", ledger.MaxWorkspace, n))
	case strings.TrimSpace(name) == "":
		return invalid("must not be blank")
	case strings.ContainsRune(name, '/'):
		return invalid("must be one part of the path; got " + printable(name))
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return invalid("must not hold control characters; got " + printable(segment))
	}
	return strings.TrimSpace(name), nil
}

// demoted is a log to which everything is a detail: the library calls a client
// that has left an error.
type demoted struct{ slog.Handler }

func (d demoted) Enabled(ctx context.Context, _ slog.Level) bool {
	return d.Handler.Enabled(ctx, slog.LevelDebug)
}

func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return d.Handler.Handle(ctx, r)
}

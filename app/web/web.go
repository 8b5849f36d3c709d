// Package web is the HTTP surface of Steward's page: the page itself, a call of
// any operation that the page is offered, a stream of what happens, and signing
// in. It translates and never decides. Who may come in is for the guard before
// it: Call and Events are for those who bring the owner's token, the page and
// signing in are for everybody who reaches the address.
package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// Config is what a Web needs of the service. Set, Log, Owner, Token and Wrong
// are required.
type Config struct {
	Set     *ops.Set
	Log     *ledger.Log
	Version string       // Steward's
	Page    fs.FS        // the built page, with index.html at its root; nil: there is none
	Logger  *slog.Logger // nil discards. Neither payloads nor codes nor tokens are logged

	// Origins are those, besides the service's own, whose pages may show this
	// one in a frame: scheme://host[:port]. It is asked for every answer; nil
	// is none.
	Origins func() []string
	// Owner tells, from a request's context, whether it brought the owner's
	// token.
	Owner func(context.Context) bool
	// Token returns the owner's token, for who brings a code.
	Token func() string
	// Wrong counts a wrong code. True means that there are too many, and may
	// take its time: 1 s.
	Wrong func(context.Context) (tooMany bool)
	// Stopping is closed when the service begins to leave; nil never is.
	Stopping <-chan struct{}

	Heartbeat time.Duration // between two signs of life on a stream; 0 is 15 s
}

// heartbeat is how long a stream is silent at most.
const heartbeat = 15 * time.Second

// Web makes the handlers of the page. It is safe for use by many goroutines.
type Web struct {
	cfg   Config
	log   *slog.Logger
	page  *page
	codes codes
}

// New returns the page's surface.
func New(cfg Config) *Web {
	w := &Web{cfg: cfg, log: cfg.Logger}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.cfg.Heartbeat == 0 {
		w.cfg.Heartbeat = heartbeat
	}
	w.page = newPage(cfg.Page, cfg.Origins)
	return w
}

// Page serves the page and its assets: GET and HEAD of / and what is in the
// built folder; everything else is not found.
func (w *Web) Page() http.Handler { return w.page }

// Paths of the operations and the rest.
const (
	CallPath   = "/api/call/" // and the operation's name
	EventsPath = "/api/events"
	SignInPath = "/api/signin"
)

// maxArgs bounds the arguments of one call in bytes. The largest ones an
// operation takes are a tenth of it.
const maxArgs = 1 << 20

// Call answers POST /api/call/{name}: the body is the arguments, one JSON object
// of at most 1 MiB; the answer is the result, or the error with its code's
// status.
func (w *Web) Call() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !allow(rw, r, http.MethodPost) || !w.owner(rw, r) {
			return
		}
		name, ok := strings.CutPrefix(r.URL.Path, CallPath)
		if !ok || name == "" || strings.Contains(name, "/") {
			missing(rw)
			return
		}
		args, bad := body(rw, r, maxArgs)
		if bad != nil {
			bad.write(rw)
			return
		}
		res, err := w.cfg.Set.Call(r.Context(), w.caller(), name, args)
		if err != nil {
			refuse(rw, 0, ops.AsError(err))
			return
		}
		answer(rw, http.StatusOK, res.JSON)
	})
}

// caller is the person, at the page.
func (w *Web) caller() ops.Caller {
	return ops.Caller{Surface: ops.Web, Person: true, Client: "page " + w.cfg.Version}
}

// owner refuses who has not brought the owner's token. The guard did so before:
// this holds even if the handler were mounted in the wrong place.
func (w *Web) owner(rw http.ResponseWriter, r *http.Request) bool {
	if w.cfg.Owner(r.Context()) {
		return true
	}
	refuse(rw, 0, &ops.Error{Code: ops.Forbidden, Message: "only a person may, with the owner token"})
	return false
}

// refusal is an answer in place of the one that was asked for.
type refusal struct {
	status int // 0: the code's
	err    *ops.Error
}

func (r *refusal) write(rw http.ResponseWriter) { refuse(rw, r.status, r.err) }

// body reads the whole body of a request, of at most that many bytes.
func body(rw http.ResponseWriter, r *http.Request, most int64) ([]byte, *refusal) {
	b, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, most))
	if err == nil {
		return b, nil
	}
	rw.Header().Set("Connection", "close")
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, &refusal{http.StatusRequestEntityTooLarge,
			&ops.Error{Code: ops.Invalid, Field: "body", Message: "body: at most " + strconv.FormatInt(most, 10) + " bytes; got more"}}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &refusal{http.StatusRequestTimeout, &ops.Error{Code: ops.Invalid, Field: "body", Message: "body: it did not come in time"}}
	}
	return nil, &refusal{0, &ops.Error{Code: ops.Invalid, Field: "body", Message: "body: broken off", Err: err}}
}

// allow refuses other methods.
func allow(rw http.ResponseWriter, r *http.Request, methods ...string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
	}
	list := strings.Join(methods, ", ")
	rw.Header().Set("Allow", list)
	refuse(rw, http.StatusMethodNotAllowed, &ops.Error{Code: ops.Invalid, Message: "method: one of " + list + "; got another"})
	return false
}

func missing(rw http.ResponseWriter) {
	refuse(rw, 0, &ops.Error{Code: ops.NotFound, Message: "there is nothing at this address"})
}

// refuse answers with an error: its code's status, or another that HTTP has a
// word of its own for.
func refuse(rw http.ResponseWriter, status int, e *ops.Error) {
	if status == 0 {
		status = e.Code.HTTP()
	}
	answer(rw, status, e.JSON())
}

// answer writes one JSON object as the whole answer.
func answer(rw http.ResponseWriter, status int, object []byte) {
	h := rw.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(object)+1))
	rw.WriteHeader(status)
	_, _ = rw.Write(append(object, '\n')) // the client may be gone
}

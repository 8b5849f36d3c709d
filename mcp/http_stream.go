package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"steward/mcp/ops"
)

// Content types of the answers to a POST.
const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// answer is the response to one MCP request, as the library writes it: one JSON
// message, or a stream of events. Notifications that belong to the request are
// written here straight away and turn the response into a stream. The library
// would send them through a channel whose last entry is often lost, because its
// reader gives up as soon as the result is there.
type answer struct {
	out    *reply
	stream bool                 // the client takes events
	final  func([]byte) []byte  // makes the last message ours; nil leaves it
	gone   context.CancelFunc   // ends the request: nobody reads the answer
	began  func(session string) // told the session that the response begins; may be nil

	header http.Header // the library's

	mu      sync.Mutex
	status  int    // as the library set it; 0 while it has not
	opened  bool   // the response is a stream
	ended   bool   // the last message has been written
	written []byte // what the library wrote and has not been passed on
}

type answerKey struct{}

var errNotStreaming = errors.New("the request's client takes no notifications")

// Notify sends a notification about the request of ctx to its client, before
// the request's response. It is for handlers of a Server behind an HTTP. It
// fails when ctx belongs to no such request, or its client takes no stream.
func Notify(ctx context.Context, method string, params any) error {
	a, ok := ctx.Value(answerKey{}).(*answer)
	if !ok || !a.stream {
		return errNotStreaming
	}
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	if err != nil {
		return err
	}
	return a.notify(line)
}

// notify writes one message as an event, unless the response is complete.
func (a *answer) notify(line []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || !a.stream {
		return errNotStreaming
	}
	a.event(line)
	return a.out.failed
}

// Header is where the library puts its header fields. They are its own until
// the response begins.
func (a *answer) Header() http.Header { return a.header }

// CanStream tells the library whether it may answer with events.
func (a *answer) CanStream() bool { return a.stream }

// WriteHeader notes the library's status.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		a.status = status
	}
	if a.header.Get("Content-Type") == typeEvents {
		a.open()
	}
}

// Write takes what the library writes: events are passed on one by one, a
// single message is kept until it is whole.
func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written = append(a.written, b...)
	if a.header.Get("Content-Type") != typeEvents {
		return len(b), nil
	}
	for {
		event, rest, whole := bytes.Cut(a.written, []byte("\n\n"))
		if !whole {
			return len(b), nil
		}
		a.written = rest
		if _, data, ok := bytes.Cut(event, []byte("data: ")); ok {
			a.last(data)
		}
	}
}

// Flush sends what there is of a stream.
func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opened {
		a.flush()
	}
}

// finish ends the response when the library is done with it. If the library has
// left without an answer, because the request was cancelled, instead is the one.
func (a *answer) finish(instead func() (status int, line []byte)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
	case a.opened && len(a.written) > 0:
		a.last(a.written) // the library thinks it answers with one message
	case a.status != 0 && !a.opened:
		a.single()
	case instead != nil:
		switch status, line := instead(); {
		case line == nil:
		case a.opened:
			a.event(line)
		default:
			a.out.Header().Set("Retry-After", "1")
			a.message(status, line)
		}
	}
	a.ended = true
}

// open begins a stream.
func (a *answer) open() {
	if a.opened {
		return
	}
	a.opened = true
	h := a.out.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx passes events on one by one
	a.out.WriteHeader(http.StatusOK)
	a.flush()
}

// event writes one message of a stream.
func (a *answer) event(line []byte) {
	a.open()
	b := append(make([]byte, 0, len(line)+32), "event: message\ndata: "...)
	b = append(append(b, line...), "\n\n"...)
	_, _ = a.out.Write(b)
	a.flush()
}

func (a *answer) flush() {
	a.out.Flush()
	if a.out.failed != nil {
		a.gone()
	}
}

// last writes a message of the library's to the stream, the request's response
// in our own words.
func (a *answer) last(line []byte) {
	line = bytes.TrimSpace(line)
	if a.final != nil && isFinal(line) {
		line = a.final(line)
		a.event(line)
		a.ended = true
		return
	}
	a.event(line)
}

// single writes a response that is no stream.
func (a *answer) single() {
	body := bytes.TrimSpace(a.written)
	a.pass(a.out.Header())
	if id := a.header.Get(headerSession); id != "" && a.began != nil {
		a.began(id) // before the client can use it
	}
	switch {
	case a.header.Get("Content-Type") == typeJSON && isFinal(body):
		status := a.status
		if a.final != nil {
			if body = a.final(body); has(body, "result") {
				status = http.StatusOK
			}
		}
		a.message(status, body)
	case a.status >= http.StatusBadRequest:
		if a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "" {
			a.out.Header().Set("Allow", "POST, DELETE") // the client takes no events
		}
		a.out.refuse(a.status, plainError(a.status, string(body)))
	default:
		a.out.WriteHeader(a.status)
	}
}

// message writes one JSON message as the whole response.
func (a *answer) message(status int, line []byte) {
	h := a.out.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(line)+1))
	a.out.WriteHeader(status)
	_, _ = a.out.Write(append(line, '\n'))
}

// pass hands on the header fields of the library's that mean something.
func (a *answer) pass(h http.Header) {
	for _, name := range [...]string{headerSession, "Allow"} {
		if v := a.header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
}

// isFinal tells a response from a request or notification.
func isFinal(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && json.Valid(line) && (has(line, "result") || has(line, "error"))
}

// has tells whether a JSON object has a member of that name.
func has(object []byte, name string) bool {
	for o := (members{b: object}); o.next(); {
		if string(o.key) == name {
			return true
		}
	}
	return false
}

// plainError is one of the library's errors in plain text, in our own form.
func plainError(status int, text string) *ops.Error {
	e := &ops.Error{Code: ops.Invalid, Message: text}
	switch {
	case status == http.StatusNotFound:
		e.Code, e.Hint = ops.NotFound, "begin a new session with initialize"
	case status >= http.StatusInternalServerError:
		e.Code = ops.Internal
	}
	return e
}

// progressLine is one notifications/progress for the token, raw JSON.
func progressLine(token []byte, done, total float64, text string) []byte {
	b := append(make([]byte, 0, 160+len(text)), `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, token...)
	b = append(b, `,"progress":`...)
	b = appendNumber(b, done)
	if total > 0 {
		b = append(b, `,"total":`...)
		b = appendNumber(b, total)
	}
	if text != "" {
		b = append(b, `,"message":`...)
		b = appendString(b, text)
	}
	return append(b, "}}"...)
}

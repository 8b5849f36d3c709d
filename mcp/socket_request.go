package mcp

import (
	"context"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"steward/mcp/ops"
)

// request is one JSON-RPC request on its way.
type request struct {
	message
	conn   *conn
	caller ops.Caller
	wait   bool // it waits for something to happen
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	answered bool
}

// run answers the request: what it said meanwhile, then its response. A
// cancelled one gets no response.
func (r *request) run() {
	defer r.conn.release(r)
	defer r.cancel()
	if r.reads() {
		select {
		case r.conn.reading <- struct{}{}:
			defer func() { <-r.conn.reading }()
		case <-r.ctx.Done():
		}
		r.conn.out.room() // a client that does not read its answers is given no more of them
	}
	reply := r.conn.server.answer(r)
	r.mu.Lock() // a report of progress under way goes first, a later one is dropped
	defer r.mu.Unlock()
	r.answered = true
	if r.conn.end(r) {
		r.conn.out.send(reply)
	}
}

// reads tells whether the request is a call that only looks. Its answer may be
// long, and nobody else waits for it.
func (r *request) reads() bool {
	kind, known := r.conn.server.kinds[r.call.name]
	return r.method == methodToolsCall && known && kind == ops.Reads
}

// progress sends one notifications/progress, unless the request has been
// answered or the client is behind.
func (r *request) progress(done, total float64, text string) {
	if math.IsNaN(done) || math.IsInf(done, 0) {
		return
	}
	b := append(make([]byte, 0, 160+len(text)), `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, r.call.token...)
	b = append(b, `,"progress":`...)
	b = appendNumber(b, done)
	if total > 0 && !math.IsInf(total, 0) {
		b = append(b, `,"total":`...)
		b = appendNumber(b, total)
	}
	if text != "" {
		b = append(b, `,"message":`...)
		b = appendString(b, text)
	}
	r.notify(append(b, "}}\n"...))
}

// notify sends a line that belongs to the request, before its response.
func (r *request) notify(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.answered && r.ctx.Err() == nil && !r.conn.out.full() {
		r.conn.out.send(line)
	}
}

// envelope is the request as the library gets it. Made anew, because the library
// reads keys in any case and takes the last of two.
func (r *request) envelope() []byte {
	b := make([]byte, 0, len(r.line)+64)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, r.id...)
	b = append(b, `,"method":`...)
	b = appendString(b, r.method)
	if r.params != nil {
		b = append(b, `,"params":`...)
		b = append(b, r.params...)
	}
	return append(b, '}')
}

func appendNumber(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// resultLine is a response with a result that is JSON already.
func resultLine(id, result []byte) []byte {
	b := make([]byte, 0, len(id)+len(result)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, "}\n"...)
}

// errorLine is an error response; a nil id becomes null, data is JSON or nil.
func errorLine(id []byte, code int, text string, data []byte) []byte {
	b := make([]byte, 0, len(id)+len(text)+len(data)+80)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, id...)
	}
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, text)
	if data != nil {
		b = append(b, `,"data":`...)
		b = append(b, data...)
	}
	return append(b, "}}\n"...)
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string, with U+FFFD for what is not UTF-8.
// It leaves <, > and & as they are, and escapes the two line separators that
// some readers of lines would stop at.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // what stands before it is in b
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		var r rune
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < utf8.RuneSelf:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case r == utf8.RuneError:
			b = append(b, "\ufffd"...)
		default:
			b = append(b, `\u202`...)
			b = append(b, hexDigits[r&15])
		}
		i += size
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

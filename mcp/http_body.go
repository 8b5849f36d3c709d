package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// maxBody is the longest body of a request in bytes: a message over HTTP may be
// as long as a line on the socket.
const maxBody = local.MaxMessage

const firstRead = 64 << 10 // bytes; a longer body's buffer grows as it comes

// budget bounds the bytes of all bodies that are being read or answered.
type budget struct {
	max  int64
	used atomic.Int64
}

func (b *budget) take(n int) bool {
	if b.used.Add(int64(n)) > b.max {
		b.give(n)
		return false
	}
	return true
}

func (b *budget) give(n int) { b.used.Add(-int64(n)) }

// refusal is an answer of HTTP's own instead of the one that was asked for.
type refusal struct {
	status int // 0: the code's
	err    *ops.Error
	retry  time.Duration // when to come again; 0 says nothing about it
}

func tooLarge() *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge,
		err: &ops.Error{Code: ops.Invalid, Field: "body", Message: fmt.Sprintf("body: at most %d bytes; got more", maxBody)}}
}

// limitBody bounds the body of r in length and in time. What is read of it ends
// with an *http.MaxBytesError or a time-out. A body that says it is too long is
// refused before a byte of it is read.
func (h *HTTP) limitBody(w *reply, r *http.Request) *refusal {
	if r.ContentLength > maxBody {
		return tooLarge()
	}
	if r.ContentLength != 0 {
		// At the body's end net/http takes the deadline away, before it looks
		// out for the end of the connection.
		_ = w.rc.SetReadDeadline(time.Now().Add(h.limits.body))
		r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, maxBody)
	}
	return nil
}

// readBody reads the whole body. The room it takes in the budget is given back
// by done, which is never nil.
func (h *HTTP) readBody(r *http.Request) (body []byte, done func(), bad *refusal) {
	taken := 0
	done = func() { h.bodies.give(taken) }
	if r.ContentLength == 0 {
		return nil, done, nil
	}
	size := firstRead
	if r.ContentLength > 0 {
		size = int(min(firstRead, r.ContentLength+1)) // one more, so that the end is seen
	}
	for {
		if !h.bodies.take(size - taken) {
			return nil, done, &refusal{status: http.StatusTooManyRequests, retry: time.Second,
				err: &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("too many long requests at once: at most %d bytes of them", h.bodies.max), Hint: "call again in a moment"}}
		}
		taken = size
		grown := make([]byte, len(body), size)
		copy(grown, body)
		body = grown
		for len(body) < size {
			n, err := r.Body.Read(body[len(body):size])
			body = body[:len(body)+n]
			switch {
			case errors.Is(err, io.EOF):
				return body, done, nil
			case err != nil:
				return nil, done, h.badBody(err, len(body))
			}
		}
		if size *= 2; size >= maxBody {
			size = maxBody + 1
		}
	}
}

// badBody is the answer to a body that did not come whole.
func (h *HTTP) badBody(err error, got int) *refusal {
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &refusal{status: http.StatusRequestTimeout,
			err: &ops.Error{Code: ops.Invalid, Field: "body", Message: fmt.Sprintf("body: complete within %v; got %d bytes of it", h.limits.body, got)}}
	}
	return &refusal{err: &ops.Error{Code: ops.Invalid, Field: "body", Message: fmt.Sprintf("body: broken off after %d bytes", got), Err: err}}
}

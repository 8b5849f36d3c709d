package mcp

import (
	"net/http"
	"strconv"
	"time"

	"steward/mcp/ops"
)

// reply is the response to one HTTP request. A write may take its time in all,
// but not longer than the time-out for each chunk: a client that stops reading
// loses its connection, and a stream may last for days.
type reply struct {
	http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	status  int // 0 until the header is written
	failed  error
}

func newReply(w http.ResponseWriter, timeout time.Duration) *reply {
	p := &reply{ResponseWriter: w, rc: http.NewResponseController(w), timeout: timeout}
	p.push()
	return p
}

// push gives what is written next the full time-out. A recorder in a test has
// no deadline to set.
func (p *reply) push() { _ = p.rc.SetWriteDeadline(time.Now().Add(p.timeout)) }

// Unwrap is for http.ResponseController.
func (p *reply) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader writes the header once.
func (p *reply) WriteHeader(status int) {
	if p.status == 0 {
		if status >= http.StatusOK {
			p.status = status
		}
		p.ResponseWriter.WriteHeader(status)
	}
}

// Write writes b chunk by chunk, so that the deadline measures progress.
func (p *reply) Write(b []byte) (written int, err error) {
	if p.status == 0 {
		p.WriteHeader(http.StatusOK)
	}
	for {
		p.push()
		n, err := p.ResponseWriter.Write(b[written:min(len(b), written+writeChunk)])
		written += n
		if err != nil {
			p.failed = err
			return written, err
		}
		if written == len(b) {
			return written, nil
		}
	}
}

// Flush sends what has been written so far.
func (p *reply) Flush() { _ = p.FlushError() }

// FlushError is Flush for a http.ResponseController, which wants to know.
func (p *reply) FlushError() error {
	if p.status == 0 {
		p.WriteHeader(http.StatusOK)
	}
	p.push()
	err := p.rc.Flush()
	if err != nil && p.failed == nil {
		p.failed = err
	}
	return err
}

// refuse answers with an error: its code's HTTP status, or another that HTTP
// has a word of its own for.
func (p *reply) refuse(status int, e *ops.Error) {
	if status == 0 {
		status = e.Code.HTTP()
	}
	header := p.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	body := append(e.JSON(), '\n')
	header.Set("Content-Length", strconv.Itoa(len(body)))
	p.WriteHeader(status)
	_, _ = p.Write(body) // the client may be gone; the log line says what it was told
}

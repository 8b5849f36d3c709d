package local

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// writeTimeout is how long the service may leave a write untaken before
	// the connection counts as lost.
	writeTimeout = 5 * time.Second
	// maxReply bounds a line of the service. Its results are kilobytes.
	maxReply = 64 << 20
)

// A link is one serving connection. What fits into the socket's buffer is
// written at once, by whoever sends it; the rest by a goroutine of the link's
// own, so that a service that stops reading holds up nobody.
type link struct {
	conn net.Conn
	raw  syscall.RawConn // nil: the connection cannot be written to without waiting
	wake chan struct{}
	done chan struct{}
	once sync.Once

	mu    sync.Mutex
	lines [][]byte // not yet written, for the goroutine
	busy  bool     // the goroutine is writing
}

func newLink(conn net.Conn) *link {
	return &link{conn: conn, raw: rawConn(conn), wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// send writes or queues a line, which must not change afterwards.
func (l *link) send(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw != nil && !l.busy && len(l.lines) == 0 {
		n := writeSome(l.raw, line)
		if line = line[n:]; len(line) == 0 {
			return
		}
	}
	l.lines = append(l.lines, line)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write writes what is queued until the link is closed.
func (l *link) write() {
	defer l.close()
	var spare [][]byte
	for {
		select {
		case <-l.wake:
		case <-l.done:
			return
		}
		for lines := l.take(spare); len(lines) > 0; lines = l.take(spare) {
			_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			batch := net.Buffers(lines) // WriteTo consumes batch, not lines
			if _, err := batch.WriteTo(l.conn); err != nil {
				return
			}
			_ = l.conn.SetWriteDeadline(time.Time{})
			clear(lines)
			spare = lines[:0]
		}
	}
}

// take takes what is queued, and leaves an empty queue in its place. Without
// any, the goroutine is done for now.
func (l *link) take(spare [][]byte) [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	if l.busy = len(lines) > 0; l.busy {
		l.lines = spare
	}
	return lines
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.done)
		l.conn.Close()
	})
}

// serve is LIVE: it sends what is unanswered, in order, and takes answers until
// the connection is lost.
func (e *engine) serve(ctx context.Context, s *session) {
	l := newLink(s.conn)
	defer l.close()
	defer context.AfterFunc(ctx, l.close)()
	if !e.live(l, s.welcome) {
		return
	}
	go l.write()
	if e.dialer.met != nil {
		e.dialer.met(s.welcome.Version)
	}
	e.lost(l, e.read(s.r))
}

// live makes l the connection. It returns false if a call was spooled since
// the hello: only a hello that follows the file makes the service take the file
// before it serves, and until then the call's slot cannot be used.
func (e *engine) live(l *link, w Welcome) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unseen {
		return false
	}
	if w.Tools != "" && w.Tools != Digest() {
		e.log.Info("the service offers other tools than this binary", "service", w.Version, "here", e.hello.Version)
	}
	e.slots.applied(e.spool)
	e.link, e.welcome = l, w
	e.outage, e.wantUntil, e.reason = time.Time{}, time.Time{}, nil
	e.queue = nil
	e.tellClient()
	for el := e.calls.Front(); el != nil; el = el.Next() {
		e.forward(el.Value.(*pending))
	}
	e.arm()
	e.changed.Broadcast()
	return true
}

// read hands on the service's lines until the connection ends.
func (e *engine) read(r *bufio.Reader) error {
	in := lines{r: r, max: maxReply, cut: true} // a killed service leaves half an answer
	for {
		line, err := in.next()
		if err != nil {
			return err
		}
		switch id, note := answered(line); {
		case id != nil:
			e.answered(id, line)
		case note && e.notify != nil:
			e.notify(line)
		case !note && !IsLine(line):
			e.log.Warn("a line of the service is neither a response nor a notification", "bytes", len(line))
		}
	}
}

// lost is the end of LIVE.
func (e *engine) lost(l *link, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link != l {
		return
	}
	e.link, e.queue = nil, nil
	e.reason = errors.New("the connection to the service was lost")
	e.log.Debug("connection lost", "err", err, "unanswered", e.calls.Len())
	var next *pending
	for el := e.calls.Front(); el != nil; {
		p := el.Value.(*pending)
		el = el.Next()
		if p.sends >= maxSends && !p.waits {
			e.miss(p)
		} else if next == nil {
			next = p
		}
	}
	if next != nil {
		e.out(time.Now())
	}
	e.changed.Broadcast()
}

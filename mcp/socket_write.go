package mcp

import (
	"errors"
	"net"
	"sync"
	"time"
)

const (
	writeChunk = 64 << 10  // bytes handed to one write, so that the deadline measures progress
	maxBacklog = 256 << 10 // bytes waiting for the client above which nothing more is read from it
	keepBuffer = 16 << 10  // a larger buffer is not kept for the next line
)

// errStopped reports a client that did not read for the whole write time-out.
var errStopped = errors.New("the client stopped reading")

// outbox writes whole lines to one connection, in the order in which they were
// sent. Whoever sends while nobody writes becomes the writer, and writes what
// others add meanwhile: one writer at a time, without a goroutine that must be
// woken for every line.
type outbox struct {
	nc      net.Conn
	timeout time.Duration // for each chunk of at most writeChunk bytes
	failed  func(error)   // called once, with the first error, by the writer

	mu      sync.Mutex
	waiting []byte     // lines added while somebody writes
	drained *sync.Cond // the backlog became smaller, or writing failed
	writing bool
	err     error
	armed   time.Time // when the write deadline was last set; the writer's
}

func newOutbox(nc net.Conn, timeout time.Duration, failed func(error)) *outbox {
	o := &outbox{nc: nc, timeout: timeout, failed: failed}
	o.drained = sync.NewCond(&o.mu)
	return o
}

// send writes line, or leaves it to the current writer. The bytes are the
// caller's again when it returns.
func (o *outbox) send(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if o.writing {
		o.waiting = append(o.waiting, line...)
		return
	}
	o.writing = true
	var spare []byte // the backlog written last, for the next one
	for {
		o.mu.Unlock()
		err := o.write(line)
		o.mu.Lock()
		if err != nil && o.err == nil {
			o.err = err
			o.waiting = nil
			o.failed(err)
		}
		if len(o.waiting) == 0 {
			break
		}
		line, o.waiting = o.waiting, spare
		if spare = line[:0]; cap(spare) > keepBuffer {
			spare = nil
		}
		o.drained.Broadcast()
	}
	o.writing, o.waiting = false, nil // an idle connection keeps no buffer
	o.drained.Broadcast()
}

func (o *outbox) write(b []byte) error {
	for len(b) > 0 {
		// Setting a deadline costs more than looking at the clock, and one
		// that is up to an eighth too short does no harm.
		if now := time.Now(); now.Sub(o.armed) > o.timeout/8 {
			if err := o.nc.SetWriteDeadline(now.Add(o.timeout)); err != nil {
				return err
			}
			o.armed = now
		}
		n, err := o.nc.Write(b[:min(len(b), writeChunk)])
		if err != nil {
			if timedOut(err) {
				return errStopped
			}
			return err
		}
		b = b[n:]
	}
	return nil
}

// room waits until the backlog is below the limit, and tells whether the
// connection can still be written to.
func (o *outbox) room() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) > maxBacklog && o.err == nil {
		o.drained.Wait()
	}
	return o.err == nil
}

// full tells whether the backlog is over the limit, so that what may be left
// out, is.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > maxBacklog
}

// timedOut tells whether a deadline of a connection or pipe has passed.
func timedOut(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

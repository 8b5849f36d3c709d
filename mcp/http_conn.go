package mcp

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many there are, and knows which of them wait for a
// request: silent ones, as browsers keep in reserve, those whose header is not
// whole yet, and those between two requests. When there is no room for another,
// the one that has waited longest gives way, so that nobody locks others out by
// doing nothing.
type connections struct {
	room chan struct{}

	mu      sync.Mutex
	waiting *list.List // of *waiter, the longest first
	of      map[net.Conn]*list.Element
	ended   bool
}

type waiter struct {
	conn net.Conn
	sent bool // whether anything has come from it
}

// connKey is the context key of a request's connection.
type connKey struct{}

func newConnections(most int) *connections {
	return &connections{room: make(chan struct{}, most), waiting: list.New(), of: make(map[net.Conn]*list.Element)}
}

// follow is net/http's hook for the states of a connection.
func (s *connections) follow(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		if s.ended {
			_ = c.Close()
			return
		}
		s.of[c] = s.waiting.PushBack(&waiter{conn: c})
	case http.StateActive: // the first bytes of a request; answering tells that it is whole
		if e := s.of[c]; e != nil {
			e.Value.(*waiter).sent = true
		}
	case http.StateIdle:
		s.forget(c)
		s.of[c] = s.waiting.PushBack(&waiter{conn: c, sent: true})
	default:
		s.forget(c)
	}
}

func (s *connections) forget(c net.Conn) {
	if e := s.of[c]; e != nil {
		s.waiting.Remove(e)
		delete(s.of, c)
	}
}

// answering says that a whole request has come. It is false when the connection
// has given way meanwhile: nobody would see the answer.
func (s *connections) answering(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := s.of[c] != nil
	s.forget(c)
	return waits
}

// giveWay closes the connection that has waited longest, if one waits.
func (s *connections) giveWay() {
	s.mu.Lock()
	first := s.waiting.Front()
	if first == nil {
		s.mu.Unlock()
		return
	}
	c := first.Value.(*waiter).conn
	s.forget(c)
	s.mu.Unlock()
	_ = c.Close()
}

// drain closes what has not sent anything: Shutdown would wait for the first
// request.
func (s *connections) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c, e := range s.of {
		if !e.Value.(*waiter).sent {
			_ = c.Close()
		}
	}
}

// boundedListener accepts no more connections than there is room for, and one
// that waits for it.
type boundedListener struct {
	net.Listener
	at   *connections // shared by all listeners
	done <-chan struct{}
}

// Accept waits for a connection, then for room. Where none waits for a request,
// the clients stand in the system's queue until one ends.
func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case l.at.room <- struct{}{}:
	default:
		l.at.giveWay()
		select {
		case l.at.room <- struct{}{}:
		case <-l.done:
			_ = c.Close()
			return nil, net.ErrClosed
		}
	}
	return &boundedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.at.room })}, nil
}

type boundedConn struct {
	net.Conn
	leave func()
}

// CloseWrite is what net/http ends a connection with whose client still sends:
// the answer must reach it before the reset does.
func (c *boundedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// Close closes the connection and makes room for another.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

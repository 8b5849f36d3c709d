package mcp

import (
	"errors"
	"sync"

	"steward/mcp/local"
)

// sessions are those of clients that begin with initialize. Nothing of Steward
// depends on one: the library keeps its event stream under it, and receipts
// name it. It is the library's manager of session ids, with a bound and
// without the list of ended ones that would grow for ever. When there are as many
// as may be, the one that has been idle longest makes room: a client that begins
// one after the other locks nobody out.
type sessions struct {
	max int

	mu       sync.Mutex
	byID     map[string]*httpSession
	reserved int // initialize requests under way
	clock    uint64
}

// httpSession is one client's.
type httpSession struct {
	name   string // what receipts say; the id itself stays between us and the client
	client string // its name and version
	begun  origin
	busy   int    // requests under way
	used   uint64 // the clock of its last request
}

// origin is what a session is bound to: who holds one token or one stream cannot
// use another's.
type origin struct {
	token  Token
	stream string
}

var errNoSession = errors.New("no such session")

func newSessions(most int) *sessions {
	return &sessions{max: most, byID: make(map[string]*httpSession)}
}

// reserve keeps room for one more session; release gives it back once the
// session is there or is not coming. given is the session that made room, "" if
// there was some.
func (s *sessions) reserve() (given string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID)+s.reserved >= s.max {
		var oldest *httpSession
		for id, x := range s.byID {
			if x.busy == 0 && (oldest == nil || x.used < oldest.used) {
				oldest, given = x, id
			}
		}
		if oldest == nil {
			return "", false
		}
		delete(s.byID, given)
	}
	s.reserved++
	return given, true
}

func (s *sessions) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved--
}

// Generate begins a session. The library calls it.
func (s *sessions) Generate() string {
	id := NewToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	s.byID[id] = &httpSession{name: local.NewID(), used: s.clock}
	return id
}

// Validate tells whether a session lives. The library calls it.
func (s *sessions) Validate(id string) (ended bool, err error) {
	if _, ok := s.get(id); !ok {
		return false, errNoSession
	}
	return false, nil
}

// Terminate ends a session. The library calls it, when it is deleted or has
// been idle for too long.
func (s *sessions) Terminate(id string) (notAllowed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
	return false, nil
}

func (s *sessions) get(id string) (httpSession, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil {
		return *x, true
	}
	return httpSession{}, false
}

// enter is get for a request from there, which keeps the session until left is
// called. left is nil when there is no such session.
func (s *sessions) enter(id string, from origin) (session httpSession, left func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x == nil || x.begun != from {
		return httpSession{}, nil
	}
	s.clock++
	x.used = s.clock
	x.busy++
	return *x, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clock++
		x.used = s.clock
		x.busy--
	}
}

// introduce keeps the name a client gave when it initialized, and from where.
func (s *sessions) introduce(id, client string, from origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil {
		x.client, x.begun = client, from
	}
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

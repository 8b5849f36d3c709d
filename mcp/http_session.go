package mcp

import (
	"errors"
	"sync"

	"steward/mcp/local"
)

// sessions are those of clients that begin with initialize. Nothing of Steward
// depends on one: the library keeps its event stream under it, and receipts
// name it. It is the library's manager of session ids, with a bound and
// without the list of ended ones that would grow for ever.
type sessions struct {
	max int

	mu       sync.Mutex
	byID     map[string]*httpSession
	reserved int // initialize requests under way
}

// httpSession is one client's.
type httpSession struct {
	name   string // what receipts say; the id itself stays between us and the client
	client string // its name and version
}

var errNoSession = errors.New("no such session")

func newSessions(most int) *sessions {
	return &sessions{max: most, byID: make(map[string]*httpSession)}
}

// reserve keeps room for one more session; release gives it back once the
// session is there or is not coming.
func (s *sessions) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID)+s.reserved >= s.max {
		return false
	}
	s.reserved++
	return true
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
	s.byID[id] = &httpSession{name: local.NewID()}
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

// introduce keeps the name a client gave when it initialized.
func (s *sessions) introduce(id, client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil {
		x.client = client
	}
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

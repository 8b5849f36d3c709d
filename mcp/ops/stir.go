package ops

import "sync"

// stir counts changes that no event tells of, and wakes who waits for one.
type stir struct {
	mu sync.Mutex
	n  uint64
	ch chan struct{}
}

func (s *stir) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// changed returns a channel that is closed at the next bump.
func (s *stir) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *stir) bump() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

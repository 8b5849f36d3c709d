package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// slots are the session slots of one bridge. The zero value has all of them
// free.
type slots struct {
	all [Slots]struct {
		seq  uint64
		held bool   // by an unanswered call
		file string // of the last spooled call with this slot that may still lie in the spool
	}
}

// take gives a live call a free slot and its next number.
func (s *slots) take() (slot int, seq uint64, ok bool) {
	for i := range s.all {
		if x := &s.all[i]; !x.held && x.file == "" {
			x.held = true
			x.seq++
			return i, x.seq, true
		}
	}
	return 0, 0, false
}

// takeSpooled gives a call that goes into the spool without having been sent a
// slot and its next number. It prefers one that already waits for its file to
// be applied: files are applied in order, so many calls can queue on one slot.
func (s *slots) takeSpooled() (slot int, seq uint64, ok bool) {
	best := -1
	for i := range s.all {
		if x := &s.all[i]; !x.held && (best < 0 || x.file != "" && s.all[best].file == "") {
			best = i
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	s.all[best].held = true
	s.all[best].seq++
	return best, s.all[best].seq, true
}

// free gives a slot back after its call was answered. file is the spool file
// the call lies in, or "".
func (s *slots) free(slot int, file string) {
	s.all[slot].held = false
	if file != "" {
		s.all[slot].file = file
	}
}

// applied opens the slots whose files the service has taken out of the spool
// folder dir.
func (s *slots) applied(dir string) {
	for i := range s.all {
		if file := s.all[i].file; file != "" {
			if _, err := os.Lstat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
				s.all[i].file = ""
			}
		}
	}
}

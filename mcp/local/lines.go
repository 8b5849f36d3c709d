package local

import (
	"bufio"
	"errors"
	"io"
)

// errLongLine means a line over the limit. It was skipped; the next can be
// read.
var errLongLine = errors.New("line too long")

// lines reads lines of bounded length.
type lines struct {
	r   *bufio.Reader
	max int  // bytes of a line without its end
	cut bool // a line that the input cuts short is no line
	buf []byte
}

// next returns the next line with its line feed, valid until the next call. The
// last line of the input may lack it, unless cut is set. The error is
// errLongLine, or the reader's.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	if cap(l.buf) > 64<<10 {
		l.buf = nil // one long line must not be remembered for ever
	}
	for {
		part, err := l.r.ReadSlice('\n')
		whole := err == nil || !l.cut && errors.Is(err, io.EOF) && len(l.buf)+len(part) > 0
		if n := len(l.buf) + len(part); n > l.max+2 || whole && len(trimEnd(part))+len(l.buf) > l.max {
			return nil, l.skip(err)
		}
		if whole && len(l.buf) == 0 {
			return part, nil
		}
		l.buf = append(l.buf, part...)
		switch {
		case whole:
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// skip reads on to the end of a line whose last read ended with err.
func (l *lines) skip(err error) error {
	l.buf = nil
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errLongLine
	}
	return err
}

// trimEnd returns a line without its end, CRLF or LF.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

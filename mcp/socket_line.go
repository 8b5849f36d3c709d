package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readBuffer is what each connection keeps for reading, also while idle; most
// requests fit in it.
const readBuffer = 4096

// errLongLine reports a line over the limit. It has been skipped: the next call
// goes on behind it.
var errLongLine = errors.New("line too long")

// lineReader cuts a stream into lines of at most max bytes.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBuffer), max: max}
}

// next returns the next line that is not blank, without the space around it and
// without its line break (LF or CR LF). The bytes are the caller's to keep. What
// stands before the end of the stream is a line too; what stands before any
// other error is not.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		switch line = bytes.TrimSpace(line); {
		case len(line) > l.max:
			return nil, errLongLine
		case len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
	}
}

func (l *lineReader) read() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.Clone(part), err
	}
	line := append(make([]byte, 0, 4*readBuffer), part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max+len("\r\n") {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.r.ReadSlice('\n')
			}
			return nil, errLongLine
		}
		line = append(line, part...)
	}
	return line, err
}

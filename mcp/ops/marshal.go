package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Result is the answer of an operation. Both forms carry every fact, because
// some clients show a model only the one and some only the other.
type Result struct {
	JSON     []byte // one compact object, for structuredContent
	Text     string // the same object as text
	Replayed bool   // the stored answer of an earlier, identical call
}

// appender is a result that writes its own JSON: one on the hot path, or one
// that must fit a size.
type appender interface {
	appendJSON([]byte) ([]byte, error)
}

func result(out any) (Result, error) {
	b, err := marshal(out)
	if err != nil {
		return Result{}, err
	}
	return Result{JSON: b, Text: string(b)}, nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// marshal writes v as compact JSON and leaves <, > and & as they are: the
// readers are programs and models, not HTML pages.
func marshal(v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.appendJSON(nil)
	}
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= 1<<20 { // one large answer must not stay for ever
			buffers.Put(buf)
		}
	}()
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("marshal %T: %w", v, err)
	}
	return bytes.Clone(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

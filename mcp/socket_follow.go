package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// methodFollow and its notification are Steward's own: a window whose process
// does not own the ledger hears through them what happens.
const methodFollow = local.MethodFollow

// Follower is a Backend that tells what happens: *ops.Set.
type Follower interface {
	Follow(ctx context.Context, after int64, emit func(ops.Notice) error) error
}

// follow sends notices until the client goes, cancels, or the service drains. It
// is a wait: none of these answers it.
func (s *Server) follow(r *request) []byte {
	f, ok := s.backend.(Follower)
	if !ok {
		return s.refuse(r.id, &ops.Error{Code: ops.Unavailable, Message: "nothing to follow here"})
	}
	var in struct {
		After *int64 `json:"after"`
	}
	if r.params != nil {
		if err := json.Unmarshal(r.params, &in); err != nil {
			return errorLine(r.id, codeInvalidParams, "params.after: must be a whole number", nil)
		}
	}
	after := int64(-1)
	if in.After != nil {
		after = *in.After
	}
	err := f.Follow(r.ctx, after, func(n ops.Notice) error {
		b := append(make([]byte, 0, 120+len(n.Data)), `{"jsonrpc":"2.0","method":"`+local.MethodNotice+`","params":{"type":`...)
		b = appendString(b, n.Type)
		b = append(b, `,"id":`...)
		b = appendNumber(b, float64(n.ID))
		b = append(b, `,"data":`...)
		b = append(append(b, n.Data...), "}}\n"...)
		if !r.conn.out.room() {
			return io.ErrClosedPipe
		}
		r.conn.out.send(b)
		return nil
	})
	if r.ctx.Err() != nil || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return s.refuse(r.id, s.failure(err))
}

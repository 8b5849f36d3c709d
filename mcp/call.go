package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"steward/ledger"
	"steward/mcp/ops"
)

// versionModern is the one revision whose requests say their version themselves.
const versionModern = "2026-07-28"

// answer returns the response line of a request, nil when it was cancelled.
func (s *Server) answer(r *request) (line []byte) {
	defer func() {
		if p := recover(); p != nil {
			line = s.refuse(r.id, s.failure(fmt.Errorf("%s: panic: %v\n%s", r.method, p, debug.Stack())))
		}
	}()
	switch {
	case r.method == methodFollow && r.caller.Surface == ops.Window:
		return s.follow(r)
	case r.method != methodToolsCall:
		return s.viaLibrary(r)
	}
	switch v := r.call.version; {
	case v < versionModern:
		return s.callTool(r, nil)
	case v == versionModern && r.call.caps:
		return s.callTool(r, s.modern)
	}
	return s.viaLibrary(r) // which words the refusal of a version or of missing capabilities
}

// callTool calls the operation. The members in extra end its result.
func (s *Server) callTool(r *request, extra []byte) []byte {
	if _, known := s.kinds[r.call.name]; !known {
		return errorLine(r.id, codeInvalidParams, "params.name: no tool has the name "+ledger.Clip(r.call.name, 64),
			[]byte(`{"code":"not_found","hint":"tools/list names the tools"}`))
	}
	caller := r.caller
	if r.call.stamp != nil {
		if caller.Stamp = parseStamp(r.call.stamp, caller.Session); caller.Stamp == nil {
			return errorLine(r.id, codeInvalidParams, "params._meta.steward/stamp: must be an object with the numbers slot and seq", []byte(`{"code":"invalid"}`))
		}
	}
	if r.call.token != nil {
		caller.Progress = r.progress
	}
	res, err := s.backend.Call(r.ctx, caller, r.call.name, r.call.args)
	if err == nil {
		return toolLine(r.id, res.Text, res.JSON, false, extra)
	}
	if r.ctx.Err() != nil {
		return nil // nobody wants to know
	}
	e := s.failure(err)
	if e.Code.ToolError() {
		return toolLine(r.id, errorText(e), e.JSON(), true, extra)
	}
	return s.refuse(r.id, e)
}

// parseStamp reads {"slot":3,"seq":17}; nil when it is anything else. The
// ledger checks the bounds.
func parseStamp(raw []byte, bridge string) *ledger.Stamp {
	var s struct {
		Slot *int    `json:"slot"`
		Seq  *uint64 `json:"seq"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Slot == nil || s.Seq == nil {
		return nil
	}
	return &ledger.Stamp{Bridge: bridge, Slot: *s.Slot, Seq: *s.Seq}
}

// toolLine is the response of a call: text for the clients that show only text,
// structured, a JSON object, for those that show only that.
func toolLine(id []byte, text string, structured []byte, isError bool, extra []byte) []byte {
	b := make([]byte, 0, len(id)+len(text)+len(text)/4+len(structured)+len(extra)+140)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":{"content":[{"type":"text","text":`...)
	b = appendString(b, text)
	b = append(b, "}]"...)
	if len(structured) > 0 {
		b = append(b, `,"structuredContent":`...)
		b = append(b, structured...)
	}
	if isError {
		b = append(b, `,"isError":true`...)
	}
	b = append(b, extra...)
	return append(b, "}}\n"...)
}

// errorText is a tool error as text: what is wrong, what to do, and all of it
// as one line of JSON.
func errorText(e *ops.Error) string {
	text := e.Message
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return text + "\n" + string(e.JSON())
}

// failure is err as it goes out. What the backend has not worded itself is
// logged here, under the id that goes out instead of it.
func (s *Server) failure(err error) *ops.Error {
	e := ops.AsError(err)
	if _, worded := errors.AsType[*ops.Error](err); !worded && e.Code == ops.Internal {
		s.log.Error("internal error", "id", e.ID, "error", err)
	}
	return e
}

// refuse is the response to a request that failed through no fault of the
// caller: a protocol error.
func (s *Server) refuse(id []byte, e *ops.Error) []byte {
	code := codeInternal
	switch e.Code {
	case ops.Unavailable:
		code = codeUnavailable
	case ops.Version:
		code = codeVersion
	case ops.Corrupt:
		code = codeCorrupt
	}
	data, err := json.Marshal(struct {
		Code ops.Code `json:"code"`
		Hint string   `json:"hint,omitempty"`
		ID   string   `json:"id,omitempty"`
	}{e.Code, e.Hint, e.ID})
	if err != nil {
		panic(err) // three strings
	}
	return errorLine(id, code, e.Message, data)
}

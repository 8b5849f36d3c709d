// Package mcp serves Steward's operations to MCP clients: the protocol
// (server.go, the one file that knows the library's tool types), its transport
// over a local socket or named pipe (socket*.go, listen_*.go), and its door for
// HTTP behind a guard (http*.go).
//
// Both protocol eras are served on one connection, request by request: the one
// that begins with initialize (2024-11-05 to 2025-11-25), and the stateless one
// of 2026-07-28 in which every request carries its version. Nothing depends on
// an MCP session: who is calling comes from the connection.
//
// A call of a tool does not pass through the library. Its envelope is taken
// apart once, in socket_message.go, and its arguments reach the operation as
// the bytes that came. The library answers everything else.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// Backend is what the server calls: *ops.Set.
type Backend interface {
	// Call runs one operation. It checks the surface of the caller and the
	// arguments, which may be empty. Its errors are as ops.AsError sees them.
	Call(ctx context.Context, c ops.Caller, name string, args json.RawMessage) (ops.Result, error)
	// Ops lists all operations, of every surface.
	Ops() []ops.Op
}

// Server speaks MCP for a Backend. It is safe for concurrent use and keeps
// nothing of a connection.
type Server struct {
	backend Backend
	library *server.MCPServer
	kinds   map[string]ops.Kind // of all operations
	again   map[string]bool     // those that act, may take long and lose nothing when they are broken off and asked for again
	modern  []byte              // what a result of 2026-07-28 carries besides its content: ,"resultType":…,"_meta":…
	log     *slog.Logger
}

// NewServer returns a server that offers b's operations for agents as tools.
// The version is Steward's own, as clients see it. A nil log discards.
func NewServer(version string, b Backend, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{backend: b, kinds: make(map[string]ops.Kind), again: make(map[string]bool), log: log}
	s.library = server.NewMCPServer(local.ServerName, version,
		server.WithTitle(local.ServerTitle),
		server.WithInstructions(local.Instructions),
		server.WithToolCapabilities(false)) // the list never changes
	for _, op := range b.Ops() {
		s.kinds[op.Name] = op.Kind
		s.again[op.Name] = op.Kind == ops.Acts && op.Idempotent
		if op.Surfaces&ops.Agent != 0 {
			s.library.AddTool(tool(op), s.handle)
		}
	}
	info, err := json.Marshal(map[string]any{mcp.MetaKeyServerInfo: mcp.Implementation{
		Name: local.ServerName, Title: local.ServerTitle, Version: version}})
	if err != nil {
		panic(err) // three strings
	}
	s.modern = fmt.Appendf(nil, `,"resultType":%q,"_meta":%s`, mcp.ResultTypeComplete, info)
	return s
}

// tool is op as the library lists it. All four annotations are said, because
// each has a default that would be wrong for some.
func tool(op ops.Op) mcp.Tool {
	t := mcp.NewToolWithRawSchema(op.Name, op.Text, op.In.JSON())
	t.Title = op.Title
	a := op.Annotations()
	t.Annotations = mcp.ToolAnnotation{
		ReadOnlyHint: &a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: &a.Idempotent, OpenWorldHint: &a.OpenWorld,
	}
	if op.AlwaysLoad {
		t.Meta = mcp.NewMetaFromMap(map[string]any{ops.AlwaysLoadKey: true})
	}
	return t
}

// exchange is what the library hands through, in the context, from a request to
// the handler of a tool and back.
type exchange struct {
	caller ops.Caller
	failed *ops.Error // what the library would reduce to its text
	args   []byte     // of the call, as they came
	own    bool       // args are what counts: the library has not seen them
}

type exchangeKey struct{}

// handle is the library's way to an operation: of every call over HTTP. Over the
// socket calls take the short way, callTool; only one whose version the library
// must judge comes here.
func (s *Server) handle(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, fmt.Errorf("%s: called without a caller", r.Params.Name)
	}
	args := r.Params.RawArguments
	if x.own {
		args = x.args
	}
	res, err := s.backend.Call(ctx, x.caller, r.Params.Name, args)
	if err == nil {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(res.Text)}, RawStructuredContent: res.JSON}, nil
	}
	e := s.failure(err)
	if !e.Code.ToolError() {
		x.failed = e
		return nil, e
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(errorText(e))}, RawStructuredContent: e.JSON(), IsError: true}, nil
}

// forLibrary is m as the library gets it. The arguments of an operation's call
// stay here: the library would read them before the operation does, and refuse in
// its own words what it cannot hold, as the number 1e999.
func (s *Server) forLibrary(m message, x *exchange) []byte {
	if _, known := s.kinds[m.call.name]; known && m.method == methodToolsCall {
		x.args, x.own = m.call.args, true
		params := make([]byte, 0, 256)
		for o := (members{b: m.params}); o.next(); {
			if string(o.key) == "arguments" {
				continue
			}
			params = append(appendString(append(params, ','), string(o.key)), ':')
			params = append(params, o.value...)
		}
		params[0] = '{' // it has a name at least
		m.params = append(params, '}')
	}
	return (&request{message: m}).envelope()
}

// viaLibrary answers a request through the library. Of its response only result
// or error are used: the id goes back as it came.
func (s *Server) viaLibrary(r *request) []byte {
	x := &exchange{caller: r.caller}
	ctx := context.WithValue(r.ctx, exchangeKey{}, x)
	notes := make(chan mcp.JSONRPCNotification, 8)
	ctx = s.library.WithContext(ctx, &session{id: r.caller.Session, notes: notes, introduce: r.conn.introduce})

	response := s.library.HandleMessage(ctx, s.forLibrary(r.message, x))
	for len(notes) > 0 {
		if b, err := json.Marshal(<-notes); err == nil {
			r.notify(append(b, '\n'))
		}
	}
	var body []byte
	var err error
	switch m := response.(type) {
	case mcp.JSONRPCResponse:
		if body, err = json.Marshal(m.Result); err == nil {
			return resultLine(r.id, body)
		}
	case mcp.JSONRPCError:
		if x.failed != nil {
			return s.refuse(r.id, x.failed)
		}
		if m.Error.Data != nil {
			body, err = json.Marshal(m.Error.Data)
		}
		if err == nil {
			return errorLine(r.id, m.Error.Code, m.Error.Message, body)
		}
	default:
		err = fmt.Errorf("%s: no response (%T)", r.method, response)
	}
	return s.refuse(r.id, s.failure(err))
}

// session is the library's view of one request's connection. It lives as long
// as the request.
type session struct {
	id        string
	notes     chan mcp.JSONRPCNotification
	introduce func(name, version string)
}

func (*session) Initialize()                                           {}
func (*session) Initialized() bool                                     { return true }
func (s *session) SessionID() string                                   { return s.id }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes }
func (s *session) SetClientInfo(c mcp.Implementation)                  { s.introduce(c.Name, c.Version) }
func (*session) GetClientInfo() (none mcp.Implementation)              { return none }
func (*session) SetClientCapabilities(mcp.ClientCapabilities)          {}
func (*session) GetClientCapabilities() (none mcp.ClientCapabilities)  { return none }

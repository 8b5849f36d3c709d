package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ConnectConfig is what a client needs of its process.
type ConnectConfig struct {
	Address  string                                 // of the service
	Hello    Hello                                  // ID, Role (shell), PID and Tools are filled in if empty
	Spawn    func() error                           // starts a service and returns at once; nil: never
	Wait     time.Duration                          // for a service to appear; default 5 s
	Spool    string                                 // folder for receipts nobody took; "": they fail
	Dial     DialFunc                               // default Dial
	Logger   *slog.Logger                           // default discards
	Opening  func(done float64)                     // told of each sign that the service is opening its ledger, 0 to 1
	Progress func(done, total float64, text string) // told of a running call's progress; with it waits may take 600 s

	// Met is told the version of each service that serves, and "" of one that is too
	// old for its ledger. It returns whether it has started another in its place.
	// Answers wait for it; it may be nil.
	Met func(version string) (replaced bool)
}

// ErrUnavailable means that no service answered. Errors that wrap it say why.
var ErrUnavailable = errors.New("the Steward service does not answer")

// A Client calls tools of the service for one process, each as an agent's
// bridge would: an unanswered call is sent again after a lost connection, an
// appending one takes effect at most once. It is safe for concurrent use.
type Client struct {
	engine *engine
	name   string
	next   atomic.Uint64 // ids
	track  bool
	stop   context.CancelFunc
	worker sync.WaitGroup
}

// CallResult is the result of a tool.
type CallResult struct {
	Text       string          // all facts, for people and models
	Structured json.RawMessage // the same facts as one JSON object; nil if there are none
	IsError    bool            // the tool refused; Text and Structured say why
}

// CallError is a JSON-RPC error in place of a result.
type CallError struct {
	RPC     int             // JSON-RPC error code
	Code    string          // of the table of codes: unavailable, version, corrupt, internal …; "" if the error names none
	Message string          //
	Hint    string          // what to do next; may be ""
	Data    json.RawMessage // as it came; may be nil
}

// Error returns the message.
func (e *CallError) Error() string { return e.Message }

// Unwrap makes an unavailable service match ErrUnavailable.
func (e *CallError) Unwrap() error {
	if e.Code == "unavailable" {
		return ErrUnavailable
	}
	return nil
}

// Open returns a client that connects with its first call; Connect is for those
// that want to know first.
func Open(cfg ConnectConfig) *Client {
	if cfg.Dial == nil {
		cfg.Dial = Dial
	}
	if cfg.Hello.ID == "" {
		cfg.Hello.ID = NewID()
	}
	if cfg.Hello.Role == "" {
		cfg.Hello.Role = RoleShell
	}
	d := dialer{address: cfg.Address, dial: cfg.Dial, spawn: cfg.Spawn, opening: cfg.Opening, met: cfg.Met}
	c := &Client{engine: newEngine(cfg.Hello, d, cfg.Spool, cfg.Logger), name: cfg.Hello.Role, track: cfg.Progress != nil}
	if c.track {
		c.engine.notify = func(line []byte) { progressOf(line, cfg.Progress) }
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.worker.Go(func() { c.engine.run(ctx) })
	return c
}

// Connect returns a client whose service is serving. While the service says
// that it is opening its ledger, Connect waits for it as long as ctx lasts;
// otherwise for cfg.Wait. The error is a *Refused, ctx's, or wraps
// ErrUnavailable.
func Connect(ctx context.Context, cfg ConnectConfig) (*Client, error) {
	if cfg.Wait <= 0 {
		cfg.Wait = lossPatience
	}
	var c *Client
	told := cfg.Opening
	cfg.Opening = func(done float64) {
		c.engine.want(time.Now().Add(cfg.Wait))
		if told != nil {
			told(done)
		}
	}
	c = Open(cfg)
	c.engine.want(time.Now().Add(cfg.Wait))
	if err := c.engine.connected(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connected waits until there is a connection, or none is wanted any more.
func (e *engine) connected(ctx context.Context) error {
	defer context.AfterFunc(ctx, e.nudge)()
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.link == nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var refused *Refused
		if errors.As(e.reason, &refused) && refused.final() {
			return refused
		}
		left := time.Until(e.wantUntil)
		if left <= 0 {
			if e.reason == nil {
				return fmt.Errorf("%w: it is there but says nothing", ErrUnavailable)
			}
			return fmt.Errorf("%w: %w", ErrUnavailable, e.reason)
		}
		timer := time.AfterFunc(left, e.nudge)
		e.changed.Wait()
		timer.Stop()
	}
	return nil
}

// Welcome returns what the service last said it is; zero before the first
// connection.
func (c *Client) Welcome() Welcome {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.engine.welcome
}

// Call calls a tool. args is a JSON object; nil or empty means {}. The error is
// a *CallError, ctx's, or about args. If ctx ends first, an appending call may
// have taken effect.
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage) (CallResult, error) {
	line, m, err := c.request(tool, args)
	if err != nil {
		return CallResult{}, err
	}
	answer := make(chan []byte, 1)
	if !c.engine.submit(m, line, func(b []byte) { answer <- slices.Clone(b) }) {
		return CallResult{}, errors.New("call: id is in use") // ids are counted
	}
	select {
	case b := <-answer:
		return decodeResult(b)
	case <-ctx.Done():
		id := string(m.id)
		c.engine.cancel(m.id, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`))
		return CallResult{}, ctx.Err()
	}
}

// request makes a tools/call of the stateless era: it needs no handshake before
// it, at any server.
func (c *Client) request(tool string, args json.RawMessage) ([]byte, *message, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, nil, errors.New("arguments: not valid JSON")
	}
	args = oneLine(args)
	id := strconv.FormatUint(c.next.Add(1), 10)
	b := append([]byte(nil), `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"_meta":{"`+metaVersion+`":"`+stateless+`","`+metaClient+`":{"name":`...)
	b = append(b, quote("steward-"+c.name)...)
	b = append(b, `,"version":`...)
	b = append(b, quote(c.engine.hello.Version)...)
	b = append(b, `},"`+metaCapabilities+`":{}`...)
	if c.track {
		b = append(b, `,"progressToken":`+id...)
	}
	b = append(b, `},"name":`...)
	b = append(b, quote(tool)...)
	b = append(b, `,"arguments":`...)
	b = append(b, args...)
	b = append(b, '}', '}')
	if len(b) > MaxMessage {
		return nil, nil, fmt.Errorf("arguments: at most %d bytes in one call; got %d", MaxMessage, len(args))
	}
	m, bad := parse(b)
	if bad != nil {
		return nil, nil, errors.New(bad.text)
	}
	return b, m, nil
}

// oneLine returns JSON without line breaks, which can only stand between its
// tokens. The tokens keep their bytes.
func oneLine(b json.RawMessage) json.RawMessage {
	if !slices.ContainsFunc(b, func(c byte) bool { return c == '\n' || c == '\r' }) {
		return b
	}
	b = slices.Clone(b)
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
	return b
}

func decodeResult(line []byte) (CallResult, error) {
	var answer struct {
		Result *struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
		Error *struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return CallResult{}, fmt.Errorf("the service's answer: %w", err)
	}
	if e := answer.Error; e != nil {
		var f fault
		_ = json.Unmarshal(e.Data, &f) // data is optional, and of any form
		return CallResult{}, &CallError{RPC: e.Code, Code: f.Code, Message: e.Message, Hint: f.Hint, Data: e.Data}
	}
	if answer.Result == nil {
		return CallResult{}, errors.New("the service's answer: neither result nor error")
	}
	r := CallResult{Structured: answer.Result.Structured, IsError: answer.Result.IsError}
	texts := make([]string, 0, len(answer.Result.Content))
	for _, part := range answer.Result.Content {
		if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r, nil
}

// progressOf reports a progress notification.
func progressOf(line []byte, report func(done, total float64, text string)) {
	var n struct {
		Method string `json:"method"`
		Params struct {
			Progress float64 `json:"progress"`
			Total    float64 `json:"total"`
			Message  string  `json:"message"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &n) == nil && n.Method == "notifications/progress" {
		report(n.Params.Progress, n.Params.Total, n.Params.Message)
	}
}

// Close ends the connection. A call that is still running is answered first, as
// when its time is up.
func (c *Client) Close() {
	c.engine.finish(time.Now())
	c.stop()
	c.worker.Wait()
}

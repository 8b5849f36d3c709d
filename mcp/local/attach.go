package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// The method with which a window hears what happens, and its notification.
const (
	MethodFollow = "steward/follow"
	MethodNotice = "notifications/steward/notice"
)

// attachedWrite is how long the service may take to read one call.
const attachedWrite = 10 * time.Second

// Attached is a window's connection to the service of another process. It is
// safe for concurrent use. It does not come back: when it is lost, the window
// attaches again or has become the owner itself.
type Attached struct {
	conn    net.Conn
	welcome Welcome
	done    chan struct{}

	write sync.Mutex

	mu      sync.Mutex
	next    uint64
	waiting map[string]chan []byte
	tell    *telling // the follower; nil without one
	err     error    // set before done is closed
}

// telling is a follower that listens until stopped is closed.
type telling struct {
	notices chan notice
	stopped <-chan struct{}
}

type notice struct {
	Type string          `json:"type"`
	ID   int64           `json:"id"`
	Data json.RawMessage `json:"data"`
}

// Attach says hello as a window, and waits until the service serves, for as long
// as it says that it is opening its ledger and ctx lasts. hello needs a Proof;
// its Role, ID, PID and Tools are filled in. The error is a *Refused, ctx's, or that
// of dialling.
func Attach(ctx context.Context, address string, hello Hello) (*Attached, error) {
	hello.Role, hello.PID, hello.Tools = RoleWindow, os.Getpid(), Digest()
	if hello.ID == "" {
		hello.ID = NewID()
	}
	d := dialer{address: address, dial: Dial}
	s, err := d.once(ctx, hello)
	if err != nil {
		return nil, fmt.Errorf("attaching to the service: %w", err)
	}
	a := &Attached{conn: s.conn, welcome: s.welcome, done: make(chan struct{}), waiting: make(map[string]chan []byte)}
	go a.read(s.r)
	return a, nil
}

// Welcome is what the service said it is.
func (a *Attached) Welcome() Welcome { return a.welcome }

// Done is closed when the connection has ended.
func (a *Attached) Done() <-chan struct{} { return a.done }

// Close ends the connection. Calls that run fail; what they did stays done.
func (a *Attached) Close() error { return a.conn.Close() }

// Call asks for an operation offered to windows. args is one JSON object; nil
// means {}. The error is a *CallError with the whole of it in Data, or ctx's.
func (a *Attached) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, errors.New("arguments: not valid JSON")
	}
	line, err := a.ask(ctx, "tools/call", append(append([]byte(`{"name":`+string(quote(name))+`,"arguments":`), oneLine(args)...), '}'))
	if err != nil {
		return nil, err
	}
	r, err := decodeResult(line)
	if err != nil {
		return nil, err
	}
	if r.IsError {
		e := &CallError{Message: r.Text, Data: r.Structured}
		var body struct {
			Error struct {
				Code    string `json:"code"`
				Message string `json:"message"`
				Hint    string `json:"hint"`
			} `json:"error"`
		}
		if json.Unmarshal(r.Structured, &body) == nil {
			e.Code, e.Message, e.Hint = body.Error.Code, body.Error.Message, body.Error.Hint
		}
		return nil, e
	}
	return r.Structured, nil
}

// Follow tells emit what happens after event id after, one notice at a time and
// in order, until ctx or the connection ends; after below 0 begins now. One
// follower at a time: a second call is an error.
func (a *Attached) Follow(ctx context.Context, after int64, emit func(typ string, id int64, data json.RawMessage)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &telling{notices: make(chan notice, 64), stopped: ctx.Done()}
	a.mu.Lock()
	if a.tell != nil {
		a.mu.Unlock()
		return errors.New("follow: already following")
	}
	a.tell = t
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.tell = nil
		a.mu.Unlock()
	}()
	ended := make(chan error, 1)
	go func() {
		line, err := a.ask(ctx, MethodFollow, []byte(`{"after":`+strconv.FormatInt(after, 10)+`}`))
		if err == nil {
			if _, err = decodeResult(line); err == nil {
				err = errors.New("the service has stopped telling")
			}
		}
		ended <- err
	}()
	for {
		select {
		case n := <-t.notices:
			emit(n.Type, n.ID, n.Data)
		case err := <-ended:
			return err
		}
	}
}

// ask sends a request and returns the response line. A ctx that ends cancels it.
func (a *Attached) ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	a.mu.Lock()
	if a.err != nil {
		a.mu.Unlock()
		return nil, a.lost()
	}
	a.next++
	id := strconv.FormatUint(a.next, 10)
	a.waiting[id] = answer
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.waiting, id)
		a.mu.Unlock()
	}()
	if err := a.send([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + string(params) + "}\n")); err != nil {
		return nil, err
	}
	select {
	case line := <-answer:
		return line, nil
	case <-a.done:
		select {
		case line := <-answer: // it came before the end
			return line, nil
		default:
			return nil, a.lost()
		}
	case <-ctx.Done():
		_ = a.send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + "}}\n"))
		return nil, ctx.Err()
	}
}

func (a *Attached) send(line []byte) error {
	if len(line) > MaxMessage {
		return fmt.Errorf("arguments: at most %d bytes in one call; got %d", MaxMessage, len(line))
	}
	a.write.Lock()
	defer a.write.Unlock()
	_ = a.conn.SetWriteDeadline(time.Now().Add(attachedWrite)) // fails only on a closed connection
	if _, err := a.conn.Write(line); err != nil {
		_ = a.conn.Close() // half a line may be out
		return a.lost()
	}
	return nil
}

func (a *Attached) lost() error {
	return &CallError{Code: "unavailable", Message: "the connection to the Steward service was lost", Hint: "it comes back by itself",
		Data: json.RawMessage(`{"error":{"code":"unavailable","message":"the connection to the Steward service was lost","hint":"it comes back by itself"}}`)}
}

// read hands out what comes, until the end.
func (a *Attached) read(r io.Reader) {
	dec := json.NewDecoder(r)
	var err error
	for {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err != nil {
			break
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params notice          `json:"params"`
		}
		if err = json.Unmarshal(raw, &m); err != nil {
			break
		}
		a.mu.Lock()
		answer, tell := a.waiting[string(m.ID)], a.tell
		a.mu.Unlock()
		switch {
		case m.Method == MethodNotice && tell != nil:
			select {
			case tell.notices <- m.Params:
			case <-tell.stopped:
			}
		case m.Method == "" && answer != nil:
			answer <- raw
		}
	}
	_ = a.conn.Close()
	a.mu.Lock()
	a.err = err
	a.mu.Unlock()
	close(a.done)
}

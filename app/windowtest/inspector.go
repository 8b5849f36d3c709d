package windowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Inspector asks the page of a window that was built with the tag inspect.
type Inspector struct {
	ws     *websocket.Conn
	target string

	mu      sync.Mutex
	next    int
	waiting map[int]chan json.RawMessage
	err     error
	done    chan struct{}
}

var socketPath = regexp.MustCompile(`/socket/\d+/\d+/WebPage`)

// inspect connects to the inspector at address once it has a page.
func inspect(ctx context.Context, address string) (*Inspector, error) {
	var last error
	for {
		path, err := pageSocket(ctx, address)
		if err == nil {
			ws, resp, err := websocket.DefaultDialer.DialContext(ctx, "ws://"+address+path, nil)
			if err == nil {
				_ = resp.Body.Close()
				return newInspector(ctx, ws)
			}
			last = err
		} else {
			last = err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the inspector at %s: %w", address, last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func pageSocket(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	path := socketPath.Find(b)
	if path == nil {
		return "", errors.New("it lists no page")
	}
	return string(path), nil
}

func newInspector(ctx context.Context, ws *websocket.Conn) (*Inspector, error) {
	i := &Inspector{ws: ws, waiting: map[int]chan json.RawMessage{}, done: make(chan struct{})}
	found := make(chan string, 1)
	go i.read(found)
	select {
	case i.target = <-found:
		return i, nil
	case <-i.done:
		return nil, i.err
	case <-ctx.Done():
		ws.Close()
		return nil, fmt.Errorf("the inspector names no page: %w", ctx.Err())
	}
}

func (i *Inspector) read(found chan<- string) {
	defer close(i.done)
	for {
		var m struct {
			Method string `json:"method"`
			Params struct {
				TargetInfo struct {
					ID   string `json:"targetId"`
					Type string `json:"type"`
				} `json:"targetInfo"`
				Message string `json:"message"`
			} `json:"params"`
		}
		if err := i.ws.ReadJSON(&m); err != nil {
			i.mu.Lock()
			i.err = err
			i.mu.Unlock()
			return
		}
		switch m.Method {
		case "Target.targetCreated":
			if m.Params.TargetInfo.Type == "page" {
				select {
				case found <- m.Params.TargetInfo.ID:
				default:
				}
			}
		case "Target.dispatchMessageFromTarget":
			var inner struct {
				ID int `json:"id"`
			}
			if json.Unmarshal([]byte(m.Params.Message), &inner) != nil {
				continue
			}
			i.mu.Lock()
			c := i.waiting[inner.ID]
			delete(i.waiting, inner.ID)
			i.mu.Unlock()
			if c != nil {
				c <- json.RawMessage(m.Params.Message)
			}
		}
	}
}

func (i *Inspector) send(ctx context.Context, method string, params any) (json.RawMessage, error) {
	i.mu.Lock()
	i.next++
	id, answer := i.next, make(chan json.RawMessage, 1)
	i.waiting[id] = answer
	inner, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err == nil {
		err = i.ws.WriteJSON(map[string]any{"id": id, "method": "Target.sendMessageToTarget", "params": map[string]any{"targetId": i.target, "message": string(inner)}})
	}
	i.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case b := <-answer:
		return b, nil
	case <-i.done:
		return nil, fmt.Errorf("the inspector is gone: %w", i.err)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: the page does not answer: %w", method, ctx.Err())
	}
}

// Eval evaluates an expression in the page, waits for it if it is a promise, and
// decodes the result into out, which may be nil.
func (i *Inspector) Eval(ctx context.Context, expression string, out any) error {
	b, err := i.send(ctx, "Runtime.evaluate", map[string]any{"expression": `(async()=>JSON.stringify((await (` + expression + `))??null))()`})
	if err != nil {
		return err
	}
	var promise struct {
		Result struct {
			Result struct {
				ObjectID string `json:"objectId"`
			} `json:"result"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &promise); err != nil || promise.Result.Result.ObjectID == "" {
		return fmt.Errorf("%s: %s", expression, b)
	}
	b, err = i.send(ctx, "Runtime.awaitPromise", map[string]any{"promiseObjectId": promise.Result.Result.ObjectID, "returnByValue": true})
	if err != nil {
		return err
	}
	var value struct {
		Result struct {
			Result struct {
				Value string `json:"value"`
			} `json:"result"`
			WasThrown bool `json:"wasThrown"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &value); err != nil || value.Result.WasThrown {
		return fmt.Errorf("%s: %s", expression, b)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(value.Result.Result.Value), out); err != nil {
		return fmt.Errorf("%s: %s: %w", expression, b, err)
	}
	return nil
}

// Close ends the inspection.
func (i *Inspector) Close() error { return i.ws.Close() }

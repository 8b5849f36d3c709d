package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"steward/mcp/ops"
)

// Bounds of one call from the page.
const (
	callTime = 60 * time.Second // longer than the longest wait that the window may ask for
	maxArgs  = 1 << 20          // bytes
	maxReply = 8 << 20          // bytes
	maxCalls = 64               // at once
	maxCopy  = 256 << 10        // bytes of one text for the clipboard
)

// App is what the page can reach: its one method. Whatever it is asked, it
// answers; nothing that goes wrong in it ends the process.
type App struct {
	link   *Link
	stage  *Stage
	logger *slog.Logger
	desk   desk
	calls  chan struct{} // holds one element for each call that runs
}

// desk is what the window's own verbs need of the system.
type desk interface {
	Copy(text string) error // to the clipboard
	Quit()                  // as the person asked for it
}

func newApp(link *Link, stage *Stage, d desk, logger *slog.Logger) *App {
	return &App{link: link, stage: stage, desk: d, logger: logger, calls: make(chan struct{}, maxCalls)}
}

// Call runs one of the window's own verbs, or an operation offered to windows.
// args is a JSON object; the answer is {"result":…} or {"error":{…},"current"?:…}.
func (a *App) Call(name, args string) (answer string) {
	defer func() {
		if p := recover(); p != nil {
			var b [6]byte
			rand.Read(b[:]) // never fails
			id := "err_" + hex.EncodeToString(b[:])
			a.logger.Error("a call of the page has failed", "name", clip(name), "id", id, "panic", p, "stack", string(debug.Stack()))
			answer = refusal(&ops.Error{Code: ops.Internal, ID: id, Message: "something went wrong inside Steward; its log has the cause under " + id})
		}
	}()
	if len(args) > maxArgs {
		return refusal(&ops.Error{Code: ops.Invalid, Message: fmt.Sprintf("arguments: at most %d bytes; got %d", maxArgs, len(args))})
	}
	if args == "" {
		args = "{}"
	}
	if verb := a.verb(name); verb != nil {
		result, err := verb([]byte(args))
		if err != nil {
			return refusal(err)
		}
		return envelope(result)
	}
	select {
	case a.calls <- struct{}{}:
		defer func() { <-a.calls }()
	default:
		return refusal(&ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("at most %d calls at once", maxCalls), Hint: "try again in a moment"})
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	result, err := a.link.Call(ctx, name, json.RawMessage(args))
	switch {
	case err != nil:
		return refusal(err)
	case len(result) > maxReply:
		return refusal(&ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("%s: the answer has %d bytes; the window shows at most %d", clip(name), len(result), maxReply), Hint: "ask for less at once"})
	}
	return envelope(result)
}

// verb is what the window itself does under a name, nil for an operation.
func (a *App) verb(name string) func(args []byte) (json.RawMessage, *ops.Error) {
	done := json.RawMessage("{}")
	none := func(do func()) func([]byte) (json.RawMessage, *ops.Error) {
		return func(args []byte) (json.RawMessage, *ops.Error) {
			var in struct{}
			if err := read(args, &in); err != nil {
				return nil, err
			}
			do()
			return done, nil
		}
	}
	switch name {
	case "window.ready":
		return func(args []byte) (json.RawMessage, *ops.Error) {
			var in struct{}
			if err := read(args, &in); err != nil {
				return nil, err
			}
			out := readyAnswer{Shape: a.stage.Ready(), Attached: a.link.Attached(), Compositor: a.stage.frame.Composited()}
			a.link.Listen()
			b, err := json.Marshal(out)
			return b, ops.AsError(err)
		}
	case "window.open":
		return func(args []byte) (json.RawMessage, *ops.Error) {
			var in struct {
				View string `json:"view"`
			}
			if err := read(args, &in); err != nil {
				return nil, err
			}
			if utf8.RuneCountInString(in.View) > 64 {
				return nil, &ops.Error{Code: ops.Invalid, Field: "view", Message: "view: at most 64 characters"}
			}
			a.stage.Open(in.View)
			return done, nil
		}
	case "window.fold":
		return none(a.stage.Fold)
	case "window.menu":
		return none(a.stage.OpenMenu)
	case "window.drag":
		return none(a.stage.Held)
	case "window.quit":
		return none(a.desk.Quit)
	case "window.copy":
		return func(args []byte) (json.RawMessage, *ops.Error) {
			var in struct {
				Text string `json:"text"`
			}
			switch err := read(args, &in); {
			case err != nil:
				return nil, err
			case len(in.Text) > maxCopy:
				return nil, &ops.Error{Code: ops.Invalid, Field: "text", Message: fmt.Sprintf("text: at most %d bytes; got %d", maxCopy, len(in.Text))}
			}
			if err := a.desk.Copy(in.Text); err != nil {
				return nil, &ops.Error{Code: ops.Unavailable, Message: "the clipboard does not take it: " + err.Error(), Err: err}
			}
			return done, nil
		}
	case "window.painted": // what Stage asks the page to say
		return func(args []byte) (json.RawMessage, *ops.Error) {
			var in struct {
				Round int `json:"round"`
			}
			if err := read(args, &in); err != nil {
				return nil, err
			}
			a.stage.Painted(in.Round)
			return done, nil
		}
	}
	return nil
}

// read decodes the arguments of a verb and refuses what it does not know.
func read(args []byte, into any) *ops.Error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return &ops.Error{Code: ops.Invalid, Message: "arguments: " + err.Error()}
	}
	return nil
}

func envelope(result json.RawMessage) string {
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return `{"result":` + string(result) + `}`
}

func refusal(err *ops.Error) string { return string(err.JSON()) }

// clip is a name for the log, where the page may not write as it likes.
func clip(name string) string {
	if len(name) > 64 {
		name = name[:64]
	}
	return fmt.Sprintf("%q", name)
}

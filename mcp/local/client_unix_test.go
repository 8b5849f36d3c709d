//go:build unix

package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestClient(t *testing.T) {
	address := socketPath(t)
	f := newFake(t)
	var lines []string
	f.handle = func(q *fakeRequest) {
		lines = append(lines, q.line)
		switch q.Params.Name {
		case "report_done":
			q.answer(q.run())
		case "handoff_get":
			q.answer(`{"content":[{"type":"text","text":"no such"},{"type":"image"},{"type":"text","text":"handoff"}],"structuredContent":{"error":{"code":"not_found"}},"isError":true}`)
		case "recent_events":
			q.c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32603,"message":"disk","data":{"code":"unavailable","hint":"wait","id":"x"}}}`)
		case "none":
			q.c.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32602,"message":"no such tool","data":[1]}}`)
		case "wait_task":
			q.c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":2,"total":4,"message":"half"}}`)
			q.answer(`{"structuredContent":{}}`)
		}
	}
	f.listen(address)
	defer f.kill()
	var progress string
	c, err := Connect(t.Context(), ConnectConfig{
		Address: address, Hello: Hello{Version: "1.2"},
		Progress: func(done, total float64, text string) { progress = fmt.Sprint(done, total, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if w := c.Welcome(); w.State != StateServing || w.Version != "fake" {
		t.Errorf("welcome %+v", w)
	}
	if h := f.hellos[0]; h.Role != RoleShell || !isID(h.ID) {
		t.Errorf("hello %+v", h)
	}

	got, err := c.Call(t.Context(), "report_done", json.RawMessage("{\n\"outcome\":\"a\",\r\n\"outcome\":\"b\"}"))
	if err != nil || got.Text != "event 1" || string(got.Structured) != `{"event_id":1}` || got.IsError {
		t.Errorf("%+v, %v", got, err)
	}
	if want := `"params":{"_meta":{"steward/stamp":{"slot":0,"seq":1},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"steward-shell","version":"1.2"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":1},"name":"report_done","arguments":{ "outcome":"a",  "outcome":"b"}}`; !strings.Contains(lines[0], want) {
		t.Errorf("sent %s\nwant %s", lines[0], want)
	}
	got, err = c.Call(t.Context(), "handoff_get", nil)
	if err != nil || got.Text != "no such\nhandoff" || !got.IsError || string(got.Structured) != `{"error":{"code":"not_found"}}` {
		t.Errorf("%+v, %v", got, err)
	}
	var failed *CallError
	_, err = c.Call(t.Context(), "recent_events", nil)
	if !errors.As(err, &failed) || failed.RPC != -32603 || failed.Code != "unavailable" || failed.Hint != "wait" || failed.Message != "disk" || !strings.Contains(string(failed.Data), `"id":"x"`) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("%+v", err)
	}
	_, err = c.Call(t.Context(), "none", nil)
	if !errors.As(err, &failed) || failed.Code != "" || string(failed.Data) != "[1]" || errors.Is(err, ErrUnavailable) {
		t.Errorf("%+v", err)
	}
	if _, err = c.Call(t.Context(), "wait_task", nil); err != nil || progress != "2 4half" {
		t.Errorf("progress %q, %v", progress, err)
	}
	for _, args := range []string{`{`, `{"a":"` + strings.Repeat("x", MaxMessage) + `"}`} {
		if _, err := c.Call(t.Context(), "report_done", json.RawMessage(args)); err == nil || errors.As(err, &failed) {
			t.Errorf("%.10s: %v", args, err)
		}
	}
	if n := f.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestClientCallsAtOnce(t *testing.T) {
	address := socketPath(t)
	f := newFake(t)
	f.listen(address)
	defer f.kill()
	c := Open(ConnectConfig{Address: address})
	defer c.Close()
	var wg sync.WaitGroup
	for range 3 * Slots {
		wg.Go(func() {
			if _, err := c.Call(t.Context(), "report_done", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(f.outcomes()); n != 3*Slots {
		t.Errorf("%d took effect", n)
	}
}

func TestAsk(t *testing.T) {
	address := socketPath(t)
	ctx := t.Context()
	if _, err := AskInfo(ctx, address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no socket: %v", err)
	}
	ln, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	if _, err := Dial(ctx, address); !Absent(err) {
		t.Errorf("of a stale socket: %v", err)
	}
	if err := os.Remove(address); err != nil {
		t.Fatal(err)
	}

	f := newFake(t)
	f.listen(address)
	defer f.kill()
	if granted, kept, err := AskYield(ctx, address, Yield{Role: "window", Version: "2", Schema: 5}); !granted || kept != "" || err != nil {
		t.Errorf("%v, %q, %v", granted, kept, err)
	}
	if granted, kept, err := AskYield(ctx, address, Yield{Schema: 1}); granted || kept != "older" || err != nil {
		t.Errorf("%v, %q, %v", granted, kept, err)
	}
	if err := AskStop(ctx, address, Stop{PID: 1}); err != nil {
		t.Error(err)
	}
	if i, err := AskInfo(ctx, address); i.PID != 7 || i.State != StateServing || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestAskGetsAnotherAnswer(t *testing.T) {
	address := socketPath(t)
	ln, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			l, err := ReadLine(bufio.NewReader(c))
			switch {
			case err != nil:
			case l.Info != nil:
				defer c.Close() // says nothing for as long as the test goes on
				continue
			case l.Stop != nil:
				WriteLine(c, Line{Refused: &Refused{Code: RefusedForbidden, Message: "not yours"}})
			case l.Yield != nil:
				WriteLine(c, Line{Stopping: true})
			}
			c.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := AskInfo(ctx, address); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var refused *Refused
	if err := AskStop(t.Context(), address, Stop{}); !errors.As(err, &refused) || refused.Code != RefusedForbidden {
		t.Error(err)
	}
	if _, _, err := AskYield(t.Context(), address, Yield{}); err == nil || errors.As(err, &refused) {
		t.Error(err)
	}
}

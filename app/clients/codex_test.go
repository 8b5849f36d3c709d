//go:build unix

package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

const codex = "@openai/codex"

// TestCodexAppServer calls the tools through Codex's app server, which needs
// no model for that.
func TestCodexAppServer(t *testing.T) {
	h := newHouse(t, codex)
	h.run(ask{name: "codex", args: []string{"mcp", "add", "steward", "--", program, "mcp"}})
	s := h.appServer()
	var thread struct{ Thread struct{ ID string } }
	s.ask("thread/start", object{"cwd": h.work}, &thread)

	var status struct {
		Data []struct {
			Name  string
			Tools map[string]tool
		}
	}
	s.ask("mcpServerStatus/list", object{"threadId": thread.Thread.ID}, &status)
	if len(status.Data) != 1 || status.Data[0].Name != "steward" {
		t.Fatalf("Codex knows these servers: %+v", status.Data)
	}
	var shown []tool
	for _, d := range status.Data[0].Tools {
		shown = append(shown, d)
	}
	h.checkTools(shown)

	var answers []string
	for _, c := range visit("codex") {
		var result result
		s.ask("mcpServer/tool/call", object{"threadId": thread.Thread.ID, "server": "steward", "tool": c.tool, "arguments": json.RawMessage(c.arguments)}, &result)
		answers = append(answers, h.facts(result))
	}
	h.checkVisit("codex", answers)
}

// TestCodexCalls runs one turn of Codex with a model that calls Steward's
// tools.
func TestCodexCalls(t *testing.T) {
	h := newHouse(t, codex)
	m := &model{script: visit("codex"), words: "The receipt is in the ledger."}
	h.write("user/.codex/config.toml", fmt.Sprintf(`
model = "steward-clients"
model_provider = "loopback"

[model_providers.loopback]
name = "loopback"
base_url = %q
wire_api = "responses"

[mcp_servers.steward]
command = %q
args = ["mcp"]
`, m.serve(t, responsesAPI), program))
	out := h.run(ask{name: "codex", args: []string{"exec", "--skip-git-repo-check", "Leave a receipt and look around."}})
	h.checkTools(m.shown("mcp__steward__"), limits...)
	h.checkInstructions(m.told())
	h.checkVisit("codex", m.seen())
	if !strings.Contains(out.out, m.words) {
		t.Errorf("the turn did not end with the model's words:\n%s", out.out)
	}
}

// result is a tool's result as MCP has it.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

// facts are a result's, which must stand both in its text and in its
// structured content: clients show their model only one of them.
func (h *house) facts(r result) string {
	h.t.Helper()
	if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" || len(r.StructuredContent) == 0 {
		h.t.Fatalf("not the result of a tool that succeeded: %+v", r)
	}
	text := strings.TrimSpace(r.Content[0].Text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	var inText, structured any
	h.decode(line, &inText)
	h.decode(string(r.StructuredContent), &structured)
	if lost := differences("the text", inText, structured); lost != nil {
		h.t.Errorf("text and structured content differ: %s", strings.Join(lost, "; "))
	}
	return line
}

// appServer is a `codex app-server` process.
type appServer struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	said  *bytes.Buffer // on its standard error; complete once it has ended
	n     int
}

func (h *house) appServer() *appServer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // not the test's, which ends before the clean-up
	cmd := h.command(ctx, "codex", "app-server")
	cmd.Dir = h.home // as an editor may have started it; a thread names its own folder
	s := &appServer{t: h.t, said: &bytes.Buffer{}}
	cmd.Stderr = s.said
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	s.lines = bufio.NewScanner(out)
	s.lines.Buffer(nil, 8<<20)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		s.in.Close()
		for s.lines.Scan() { // until it has ended
		}
		err := cmd.Wait()
		cancel()
		if err != nil || h.t.Failed() {
			h.t.Logf("codex app-server: %v\n%s", err, s.said)
		}
	})
	s.ask("initialize", object{"clientInfo": object{"name": "steward-clients", "version": "1"}}, &struct{}{})
	s.send(object{"method": "initialized"})
	return s
}

func (s *appServer) send(message object) {
	s.t.Helper()
	line, err := json.Marshal(message)
	if err == nil {
		_, err = s.in.Write(append(line, '\n'))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// ask sends one request and decodes its result.
func (s *appServer) ask(method string, params object, into any) {
	s.t.Helper()
	s.n++
	s.send(object{"id": s.n, "method": method, "params": params})
	var others []string
	for s.lines.Scan() {
		var line struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(s.lines.Bytes(), &line); err != nil {
			s.t.Fatalf("codex app-server: %v\n%s", err, s.lines.Bytes())
		}
		if line.Method != "" || string(line.ID) != fmt.Sprint(s.n) {
			others = append(others, s.lines.Text())
			continue
		}
		if line.Error != nil {
			s.t.Fatalf("%s: %s\nbefore that came\n%s", method, line.Error, strings.Join(others, "\n"))
		}
		if err := json.Unmarshal(line.Result, into); err != nil {
			s.t.Fatalf("%s: %v\n%s", method, err, line.Result)
		}
		return
	}
	s.t.Fatalf("%s: no answer: %v\nbefore that came\n%s", method, s.lines.Err(), strings.Join(others, "\n"))
}

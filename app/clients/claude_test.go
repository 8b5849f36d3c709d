//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const claudeCode = "@anthropic-ai/claude-code"

// TestClaudeCodeConnects adds Steward as the README says.
func TestClaudeCodeConnects(t *testing.T) {
	h := newHouse(t, claudeCode)
	h.run(ask{name: "claude", args: []string{"mcp", "add", "steward", "-s", "user", "--", program, "mcp"}})
	out := h.run(ask{name: "claude", args: []string{"mcp", "list"}, env: []string{"MCP_TIMEOUT=3000"}})
	if !regexp.MustCompile(`steward: .* ✔ Connected`).MatchString(out.out) { // its exit code is always 0
		t.Errorf("Claude Code is not connected:\n%s%s", out.out, out.err)
	}
}

// TestClaudeCodeCalls runs one turn of Claude Code with a model that calls
// Steward's tools.
func TestClaudeCodeCalls(t *testing.T) {
	h := newHouse(t, claudeCode)
	m := &model{script: visit("claude"), words: "The receipt is in the ledger."}
	out := h.claude(m, "ENABLE_TOOL_SEARCH=false")
	h.checkTools(m.shown("mcp__steward__"))
	h.checkInstructions(m.told())
	h.checkVisit("claude", m.seen())
	if !strings.Contains(out, m.words) {
		t.Errorf("the turn did not end with the model's words:\n%s", out)
	}
}

// TestClaudeCodeLoadsAtOnce leaves tools to be searched for, as Claude Code
// does when there are many: those marked anthropic/alwaysLoad must be there
// in full all the same, and the instructions too.
func TestClaudeCodeLoadsAtOnce(t *testing.T) {
	h := newHouse(t, claudeCode)
	m := &model{script: visit("claude"), words: "The receipt is in the ledger."}
	h.claude(m, "ENABLE_TOOL_SEARCH=true")
	h.checkInstructions(m.told())
	h.checkVisit("claude", m.seen())
	shown := map[string]tool{}
	for _, s := range m.shown("mcp__steward__") {
		shown[s.Name] = s
	}
	for _, want := range h.definitions() {
		got, ok := shown[want.Name]
		if always := want.Meta["anthropic/alwaysLoad"] == true; ok != always {
			t.Errorf("%s is shown to the model at once: %v; want %v", want.Name, ok, always)
		} else if ok {
			h.checkTool(got, want)
		}
	}
}

// claude runs `claude -p` on a model and returns what it prints.
func (h *house) claude(m *model, env ...string) string {
	h.t.Helper()
	config := h.write("claude.json", fmt.Sprintf(`{"mcpServers":{"steward":{"command":%q,"args":["mcp"]}}}`, program))
	env = append(env, "ANTHROPIC_BASE_URL="+m.serve(h.t, messagesAPI), "ANTHROPIC_API_KEY=none", "MCP_CONNECTION_NONBLOCKING=0")
	out := h.run(ask{name: "claude", env: env, args: []string{"-p", "Leave a receipt and look around.", "--mcp-config", config, "--strict-mcp-config",
		"--allowedTools", "mcp__steward", "--output-format", "stream-json", "--verbose"}})
	// The first line says what the client made of the server.
	var first struct {
		Servers []struct{ Name, Status string } `json:"mcp_servers"`
	}
	line, _, _ := strings.Cut(out.out, "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil || len(first.Servers) != 1 || first.Servers[0].Status != "connected" {
		h.t.Fatalf("Claude Code is not connected: %s\n%s", line, out.err)
	}
	return out.out
}

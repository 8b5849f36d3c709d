//go:build unix

package clients_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const gemini = "@google/gemini-cli"

// geminiHouse is a house where Gemini CLI knows Steward and trusts the folder.
func geminiHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t, gemini)
	h.write("user/.gemini/settings.json", fmt.Sprintf(`{"security":{"auth":{"selectedType":"gemini-api-key"}},"mcpServers":{"steward":{"command":%q,"args":["mcp"]}}}`, program))
	h.env = append(h.env, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_API_KEY=none")
	return h
}

func TestGeminiConnects(t *testing.T) {
	h := geminiHouse(t)
	out := h.run(ask{name: "gemini", args: []string{"mcp", "list"}})
	if !regexp.MustCompile(`✓ steward: .*Connected`).MatchString(out.out + out.err) {
		t.Errorf("Gemini CLI is not connected:\n%s%s", out.out, out.err)
	}
}

// TestGeminiCalls runs one turn of Gemini CLI with a model that calls
// Steward's tools.
func TestGeminiCalls(t *testing.T) {
	h := geminiHouse(t)
	m := &model{script: visit("gemini"), words: "The receipt is in the ledger."}
	out := h.gemini(m)
	h.checkTools(m.shown("mcp_steward_"))
	h.checkInstructions(m.told())
	h.checkVisit("gemini", m.seen())
	if !strings.Contains(out, m.words) {
		t.Errorf("the turn did not end with the model's words:\n%s", out)
	}
}

// TestGeminiOwnField has the model set wait_for_previous, a field that Gemini
// CLI adds to every tool it shows the model, and hands on to the server. It is
// the client's own and costs nothing.
func TestGeminiOwnField(t *testing.T) {
	h := geminiHouse(t)
	m := &model{
		script: []call{{"report_done", `{"actor":"gemini","wait_for_previous":true}`}},
		words:  "The receipt is in the ledger.",
	}
	h.gemini(m)
	seen := m.seen()
	if len(seen) != 1 {
		t.Fatalf("the model was shown %q", seen)
	}
	var receipt struct {
		EventID int64 `json:"event_id"`
	}
	h.decode(seen[0], &receipt)
	if receipt.EventID != 1 {
		t.Errorf("event %d; want 1", receipt.EventID)
	}
}

// gemini runs one turn on a model and returns what it prints.
func (h *house) gemini(m *model) string {
	h.t.Helper()
	return h.run(ask{
		name: "gemini", args: []string{"--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--prompt", "Leave a receipt and look around."},
		env: []string{"GOOGLE_GEMINI_BASE_URL=" + m.serve(h.t, generateAPI)},
	}).out
}

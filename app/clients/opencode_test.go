//go:build unix

package clients_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const opencode = "opencode-ai"

// opencodeConfig is opencode's settings with Steward and, unless it is empty,
// the address of a model.
func opencodeConfig(model string) string {
	provider := ""
	if model != "" {
		provider = fmt.Sprintf(`,"provider":{"anthropic":{"options":{"baseURL":"%s/v1","apiKey":"none"}}}`, model)
	}
	return fmt.Sprintf(`{"autoupdate":false,"mcp":{"steward":{"type":"local","command":[%q,"mcp"]}}%s}`, program, provider)
}

func TestOpencodeConnects(t *testing.T) {
	h := newHouse(t, opencode)
	h.write("user/"+workspace+"/opencode.json", opencodeConfig(""))
	out := h.run(ask{name: "opencode", args: []string{"mcp", "list"}})
	if !regexp.MustCompile(`✓ steward.*connected`).MatchString(out.out + out.err) {
		t.Errorf("opencode is not connected:\n%s%s", out.out, out.err)
	}
}

// TestOpencodeCalls runs one turn of opencode with a model that calls
// Steward's tools.
func TestOpencodeCalls(t *testing.T) {
	h := newHouse(t, opencode)
	m := &model{script: visit("opencode"), words: "The receipt is in the ledger."}
	h.write("user/"+workspace+"/opencode.json", opencodeConfig(m.serve(t, messagesAPI)))
	out := h.run(ask{name: "opencode", args: []string{"run", "--model", "anthropic/claude-sonnet-4-5", "Leave a receipt and look around."}})
	h.checkTools(m.shown("steward_"))
	h.checkInstructions(m.told())
	h.checkVisit("opencode", m.seen())
	if !strings.Contains(out.out+out.err, m.words) {
		t.Errorf("the turn did not end with the model's words:\n%s%s", out.out, out.err)
	}
}

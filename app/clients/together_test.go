//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTogether lets two clients of one user leave receipts one after the
// other. They start their bridges with different environments: Claude Code
// hands on all of its own, Codex little more than HOME and PATH, so that what
// a desktop session sets, such as XDG_RUNTIME_DIR, is missing there. Both must
// meet at one service all the same.
func TestTogether(t *testing.T) {
	for _, order := range [][]string{{"claude", "codex"}, {"codex", "claude"}} {
		t.Run(fmt.Sprintf("%s first", order[0]), func(t *testing.T) {
			h := newHouse(t, claudeCode, codex)
			run := filepath.Join(h.dir, "run")
			if err := os.Mkdir(run, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // if there are two, each is found by one environment only
				if out, err := h.last("stop"); err != nil {
					t.Logf("steward stop: %v\n%s", err, out)
				}
				h.env = slices.DeleteFunc(h.env, func(kv string) bool { return kv == "XDG_RUNTIME_DIR="+run })
			})
			h.env = append(h.env, "XDG_RUNTIME_DIR="+run)
			leave := map[string]func() string{"claude": h.receiptOfClaude, "codex": h.receiptOfCodex}
			for i, name := range order {
				var receipt struct {
					EventID int64 `json:"event_id"`
				}
				text := leave[name]()
				h.decode(text, &receipt)
				if receipt.EventID != int64(i+1) {
					t.Errorf("%s was answered %s; want event %d", name, text, i+1)
				}
			}
		})
	}
}

func (h *house) receiptOfClaude() string {
	h.t.Helper()
	m := &model{script: []call{{"report_done", `{"actor":"claude"}`}}, words: "Done."}
	h.claude(m)
	if seen := m.seen(); len(seen) == 1 {
		return seen[0]
	}
	h.t.Fatal("Claude Code's model was shown no answer")
	return ""
}

func (h *house) receiptOfCodex() string {
	h.t.Helper()
	h.run(ask{name: "codex", args: []string{"mcp", "add", "steward", "--", program, "mcp"}})
	s := h.appServer()
	var thread struct{ Thread struct{ ID string } }
	s.ask("thread/start", object{"cwd": h.work}, &thread)
	var r result
	s.ask("mcpServer/tool/call", object{"threadId": thread.Thread.ID, "server": "steward", "tool": "report_done", "arguments": json.RawMessage(`{"actor":"codex"}`)}, &r)
	return h.facts(r)
}

//go:build unix

package clients_test

import "testing"

const inspector = "@modelcontextprotocol/inspector"

// TestInspector lists the tools with the MCP inspector, which also looks for
// what in their schemas some clients cannot take, and calls one.
func TestInspector(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			h := newHouse(t, inspector)
			server := []string{"--cli", program, "mcp", "--protocol-era", era}
			// Exit code 6 is a fault in a schema; warnings come on standard error.
			out := h.run(ask{name: "mcp-inspector", args: append(server, "--method", "tools/list", "--strict")})
			if out.err != "" {
				t.Errorf("the inspector has something to say:\n%s", out.err)
			}
			var list struct{ Tools []tool }
			h.decode(out.out, &list)
			h.checkTools(list.Tools)

			var answers []string
			for _, c := range visit("inspector") {
				out := h.run(ask{name: "mcp-inspector", args: append(server, "--method", "tools/call", "--tool-name", c.tool, "--tool-args-json", c.arguments)})
				var r result
				h.decode(out.out, &r)
				answers = append(answers, h.facts(r))
			}
			h.checkVisit("inspector", answers)
		})
	}
}

//go:build unix

package clients_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs on the TypeScript SDK; each says at its top what it does.
var (
	//go:embed testdata/sdk1.mjs
	sdk1 string
	//go:embed testdata/sdk2.mjs
	sdk2 string
)

const (
	sdkOne    = "@modelcontextprotocol/sdk"
	sdkTwo    = "@modelcontextprotocol/client"
	mcpRemote = "mcp-remote"
)

// A pinned version of the protocol, as the SDK's client v2 takes it.
var pinModern = object{"pin": "2026-07-28"}

// TestSDK runs programs on the TypeScript SDK, which every other client in
// that language is made with.
func TestSDK(t *testing.T) {
	for _, row := range []struct {
		name    string
		pkgs    []string // that must be installed
		script  string
		mode    any    // how v2 finds the protocol's version
		version string // that v2 must have found
		reach   func(*house) (command string, args []string)
	}{
		{name: "v1", pkgs: []string{sdkOne}, script: sdk1, reach: bridge},
		{name: "v2 as it is", pkgs: []string{sdkTwo}, script: sdk2, mode: "legacy", version: "2025-11-25", reach: bridge},
		{name: "v2 asking", pkgs: []string{sdkTwo}, script: sdk2, mode: "auto", version: "2026-07-28", reach: bridge},
		{name: "v2 of the newest version", pkgs: []string{sdkTwo}, script: sdk2, mode: pinModern, version: "2026-07-28", reach: bridge},
		{name: "v1 through mcp-remote", pkgs: []string{sdkOne, mcpRemote}, script: sdk1, reach: remote},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHouse(t, row.pkgs...)
			command, args := row.reach(h)
			actor := strings.ReplaceAll(row.name, " ", "-")
			said := h.sdk(row.script, row.mode, command, args, visit(actor))
			if said.Server.Name != "steward" || said.Instructions == "" {
				t.Errorf("the server said it is %+v, with instructions %q", said.Server, said.Instructions)
			}
			if said.Version != row.version {
				t.Errorf("they speak %q; want %q", said.Version, row.version)
			}
			h.checkTools(said.Tools)
			var answers []string
			for _, r := range said.Results {
				answers = append(answers, h.facts(r))
			}
			h.checkVisit(actor, answers)
		})
	}
}

// bridge is how a client on this machine reaches Steward.
func bridge(*house) (string, []string) { return program, []string{"mcp"} }

// sdkSaid is what the programs print.
type sdkSaid struct {
	Server       struct{ Name, Version string }
	Instructions string
	Version      string // the protocol's; v1 does not say
	Tools        []tool
	Results      []result
}

// sdk runs one of the programs.
func (h *house) sdk(script string, mode any, command string, args []string, calls []call) (said sdkSaid) {
	h.t.Helper()
	path := h.write("sdk/client.mjs", script)
	modules := filepath.Join(filepath.Dir(path), "node_modules") // imports are looked up from where the program is
	if err := os.Symlink(filepath.Join(os.Getenv(folderVar), "node_modules"), modules); err != nil {
		h.t.Fatal(err)
	}
	type step struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var steps []step
	for _, c := range calls {
		steps = append(steps, step{c.tool, json.RawMessage(c.arguments)})
	}
	plan, err := json.Marshal(object{"command": command, "args": args, "mode": mode, "calls": steps})
	if err != nil {
		h.t.Fatal(err)
	}
	out := h.run(ask{name: "node", args: []string{path}, in: string(plan)})
	h.decode(out.out, &said)
	return said
}

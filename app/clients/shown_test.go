//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tool is a definition as tools/list answers.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations"`
	Meta        map[string]any  `json:"_meta"`
}

// bridge sends `steward mcp` one request, with no client between, and returns
// the answer.
func (h *house) bridge(request string) string {
	h.t.Helper()
	return h.run(ask{name: program, args: []string{"mcp"}, in: request + "\n"}).out
}

// definitions are the tools as the bridge lists them.
func (h *house) definitions() []tool {
	h.t.Helper()
	var answer struct{ Result struct{ Tools []tool } }
	h.decode(h.bridge(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), &answer)
	if len(answer.Result.Tools) == 0 {
		h.t.Fatal("steward mcp lists no tools")
	}
	return answer.Result.Tools
}

// checkInstructions wants Steward's instructions in what a client has told its
// model, to the last line.
func (h *house) checkInstructions(told string) {
	h.t.Helper()
	var answer struct{ Result struct{ Instructions string } }
	h.decode(h.bridge(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"clients","version":"1"}}}`), &answer)
	lines := strings.FieldsFunc(answer.Result.Instructions, func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		h.t.Fatal("steward mcp has no instructions")
	}
	for _, line := range lines {
		if !strings.Contains(told, inJSON(line)) {
			h.t.Errorf("the client does not tell its model: %s", line)
		}
	}
}

// inJSON is text as it stands between the quotes of a JSON string.
func inJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as no client does
	if err := e.Encode(text); err != nil {
		panic(err) // it is a string
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// limits are the keywords of a schema that Codex does not show its model.
var limits = []string{"default", "minimum", "maximum", "minLength", "maxLength", "maxItems", "maxProperties"}

// checkTools wants every tool, with every field of its input as Steward
// defines it, in a list a client has shown. Keywords in but may be missing.
func (h *house) checkTools(got []tool, but ...string) {
	h.t.Helper()
	want := h.definitions()
	if len(got) != len(want) {
		h.t.Errorf("the client shows %d tools; Steward has %d", len(got), len(want))
	}
	for _, w := range want {
		i := slices.IndexFunc(got, func(g tool) bool { return g.Name == w.Name })
		if i < 0 {
			h.t.Errorf("the client does not show %s", w.Name)
			continue
		}
		h.checkTool(got[i], w, but...)
	}
}

// checkTool compares one tool.
func (h *house) checkTool(got, want tool, but ...string) {
	h.t.Helper()
	if got.Description != want.Description {
		h.t.Errorf("%s: the client shows %q; Steward says %q", want.Name, got.Description, want.Description)
	}
	if got.Annotations != nil { // models are not shown them
		for _, lost := range differences("annotations", members(h.t, got.Annotations), members(h.t, want.Annotations)) {
			h.t.Errorf("%s: %s", want.Name, lost)
		}
	}
	for _, lost := range differences("input", members(h.t, got.InputSchema), members(h.t, want.InputSchema), but...) {
		h.t.Errorf("%s: %s", want.Name, lost)
	}
}

// members takes a JSON object apart.
func members(t *testing.T, text json.RawMessage) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("not an object: %v\n%s", err, text)
	}
	return m
}

// differences names what got lacks or has otherwise than want. What a client
// adds, as $schema, is its own affair; what is in but may be missing.
func differences(path string, got, want any, but ...string) []string {
	g, isMap := got.(map[string]any)
	w, wantsMap := want.(map[string]any)
	if !isMap || !wantsMap {
		if reflect.DeepEqual(folded(got), folded(want)) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %v; Steward says %v", path, got, want)}
	}
	var all []string
	for key, value := range w {
		if _, ok := g[key]; !ok && slices.Contains(but, key) {
			continue
		} else if !ok {
			all = append(all, fmt.Sprintf("%s lacks %s: %v", path, key, value))
			continue
		}
		all = append(all, differences(path+"."+key, g[key], value, but...)...)
	}
	slices.Sort(all)
	return all
}

// folded spells an ellipsis as three dots: Claude Code shows the model the
// descriptions of fields that way.
func folded(value any) any {
	if text, ok := value.(string); ok {
		return strings.ReplaceAll(text, "…", "...")
	}
	return value
}

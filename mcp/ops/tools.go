package ops

import (
	"encoding/json"
	"slices"
	"strings"
)

// Annotations are the four hints of an MCP tool, each deliberate.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Annotations returns the operation's hints. Nothing here destroys, because
// the ledger only grows, and nothing reaches beyond this machine.
func (o Op) Annotations() Annotations {
	return Annotations{ReadOnly: o.ReadOnly(), Idempotent: o.Idempotent}
}

// AlwaysLoadKey is the member of a tool's _meta that asks a client not to defer
// the tool to its name.
const AlwaysLoadKey = "anthropic/alwaysLoad"

// ToolJSON returns the operation as one tool of a tools/list result.
func (o Op) ToolJSON() json.RawMessage {
	b := []byte(`{"name":`)
	b = appendString(b, o.Name)
	b = append(b, `,"title":`...)
	b = appendString(b, o.Title)
	b = append(b, `,"description":`...)
	b = appendString(b, o.Text)
	b = append(b, `,"inputSchema":`...)
	b = append(b, o.In.JSON()...)
	b = append(b, `,"annotations":`...)
	a, err := json.Marshal(o.Annotations())
	if err != nil {
		panic(err) // four booleans
	}
	b = append(b, a...)
	if o.AlwaysLoad {
		b = append(b, `,"_meta":{`...)
		b = appendString(b, AlwaysLoadKey)
		b = append(b, `:true}`...)
	}
	return append(b, '}')
}

// ToolsJSON returns the array of a tools/list result: the operations that are
// offered to agents, sorted by name.
func ToolsJSON(list []Op) json.RawMessage {
	tools := slices.DeleteFunc(slices.Clone(list), func(o Op) bool { return o.Surfaces&Agent == 0 })
	slices.SortFunc(tools, func(a, b Op) int { return strings.Compare(a.Name, b.Name) })
	b := []byte{'['}
	for i, o := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.ToolJSON()...)
	}
	return append(b, ']')
}

// Definitions returns the result object of tools/list, {"tools":[…]}, on one
// line: what a bridge answers by itself.
func Definitions(list []Op) []byte {
	b := append([]byte(`{"tools":`), ToolsJSON(list)...)
	return append(b, '}')
}

package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The one reviewed table of who may do what: a change of it is a change of the
// product.
func TestExposure(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %-8s %s\n", "operation", "kind", "surfaces")
	for _, o := range All() {
		fmt.Fprintf(&b, "%-20s %-8s %s\n", o.Name, o.Kind, strings.Join(o.Surfaces.Names(), " "))
	}
	golden(t, "exposure.golden", []byte(b.String()))
}

func TestAllIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(All(), func(a, b Op) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("set.go is not sorted by name")
	}
	set := NewSet(&Env{}, All()...)
	if len(set.Ops()) != len(All()) {
		t.Errorf("%d of %d operations", len(set.Ops()), len(All()))
	}
}

// A person's decisions never appear among the tools.
func TestNoDecisionIsATool(t *testing.T) {
	for _, o := range All() {
		if o.Kind == Decides && o.Surfaces&(Agent|Shell) != 0 {
			t.Errorf("%s is offered to %v", o.Name, o.Surfaces.Names())
		}
	}
}

// tool is a tool as a client reads it.
type tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations map[string]bool `json:"annotations"`
	Meta        map[string]bool `json:"_meta"`
}

func TestToolsList(t *testing.T) {
	list := ToolsJSON(All())
	if n := len(list); n > 12*1024-16 { // and {"tools":…} around it
		t.Errorf("tools/list takes %d bytes, at most 12 KB", n)
	}
	d := json.NewDecoder(bytes.NewReader(list))
	d.DisallowUnknownFields()
	var tools []tool
	if err := d.Decode(&tools); err != nil {
		t.Fatal(err)
	}
	want := []string{"app_command", "ask_human", "cancel_ticket", "focus_change", "handoff_claim", "handoff_create", "handoff_finish", "handoff_get",
		"handoff_list", "list_pending", "recent_events", "report_done", "situation_report", "wait_for_answer"}
	var names, loaded, idempotent, reads []string
	for _, x := range tools {
		names = append(names, x.Name)
		if x.Meta[AlwaysLoadKey] {
			loaded = append(loaded, x.Name)
		}
		if x.Annotations["idempotentHint"] {
			idempotent = append(idempotent, x.Name)
		}
		if x.Annotations["readOnlyHint"] {
			reads = append(reads, x.Name)
		}
		if len(x.Annotations) != 4 || x.Annotations["destructiveHint"] || x.Annotations["openWorldHint"] {
			t.Errorf("%s: annotations %v", x.Name, x.Annotations)
		}
		if n := utf8.RuneCountInString(x.Description); n > 300 || n < 40 {
			t.Errorf("%s: a description of %d characters", x.Name, n)
		}
		var snapshot bytes.Buffer
		if err := json.Indent(&snapshot, toolJSON(t, x.Name), "", "  "); err != nil {
			t.Fatal(err)
		}
		snapshot.WriteByte('\n')
		golden(t, "tools/"+x.Name+".json", snapshot.Bytes())
	}
	for what, pair := range map[string][2][]string{
		"tools":       {names, want},
		"always load": {loaded, {"handoff_create", "report_done", "situation_report"}},
		"idempotent":  {idempotent, {"app_command", "cancel_ticket", "handoff_create", "handoff_finish", "handoff_get", "handoff_list", "list_pending", "recent_events", "situation_report"}},
		"read only":   {reads, {"app_command", "handoff_get", "handoff_list", "list_pending", "recent_events", "situation_report"}},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

func toolJSON(t *testing.T, name string) json.RawMessage {
	t.Helper()
	for _, o := range All() {
		if o.Name == name {
			return o.ToolJSON()
		}
	}
	t.Fatalf("no operation %s", name)
	return nil
}

// Some clients break on a schema without a type, or with several; a model reads
// an empty one as "anything goes".
func TestToolSchemasArePlain(t *testing.T) {
	for _, o := range All() {
		var root map[string]any
		if err := json.Unmarshal(o.In.JSON(), &root); err != nil {
			t.Fatal(err)
		}
		if root["type"] != "object" || root["additionalProperties"] != false {
			t.Errorf("%s: %s", o.Name, o.In.JSON())
		}
		var walk func(path string, v any)
		walk = func(path string, v any) {
			s, ok := v.(map[string]any)
			if !ok || len(s) == 0 {
				t.Errorf("%s is %v", path, v)
				return
			}
			if _, ok := s["type"].(string); !ok {
				t.Errorf("%s has the type %v", path, s["type"])
			}
			for _, k := range []string{"anyOf", "oneOf", "allOf", "$ref", "$defs", "nullable"} {
				if s[k] != nil {
					t.Errorf("%s has %s", path, k)
				}
			}
			if props, ok := s["properties"].(map[string]any); ok {
				for name, p := range props {
					walk(path+"."+name, p)
				}
			}
			if s["items"] != nil {
				walk(path+"[]", s["items"])
			}
			if more, ok := s["additionalProperties"].(map[string]any); ok {
				walk(path+"{}", more)
			}
		}
		walk(o.Name, root)
	}
}

package ops

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"steward/handoff"
)

// everything has one argument of every type there is.
type everything struct {
	Name   string           `json:"name" arg:"required,line,max=8" doc:"who"`
	Note   string           `json:"note" arg:"max=16"`
	Mood   string           `json:"mood" arg:"enum=good|bad"`
	Hint   string           `json:"hint" arg:"max=8,words=one|two"`
	Kind   string           `json:"kind" arg:"max=8,default=plain"`
	Count  int              `json:"count" arg:"min=1,max=200,default=20"`
	Since  *int64           `json:"since" arg:"min=0"`
	Any    int64            `json:"any"`
	Loud   *bool            `json:"loud"`
	Quiet  bool             `json:"quiet"`
	Files  []attachmentArgs `json:"files" arg:"max=2"`
	One    attachmentArgs   `json:"one"`
	Scores Ordered          `json:"scores" arg:"max=4"`
	Extra  Object           `json:"extra" arg:"bytes=64,levels=3"`
}

var everythingSchema = inputSchema("everything", reflect.TypeFor[everything]())

func TestInputSchema(t *testing.T) {
	const want = `{"type":"object","properties":{` +
		`"name":{"type":"string","description":"who","minLength":1,"maxLength":8},` +
		`"note":{"type":"string","maxLength":16},` +
		`"mood":{"type":"string","enum":["good","bad"]},` +
		`"hint":{"type":"string","enum":["one","two"]},` +
		`"kind":{"type":"string","maxLength":8,"default":"plain"},` +
		`"count":{"type":"integer","minimum":1,"maximum":200,"default":20},` +
		`"since":{"type":"integer","minimum":0},` +
		`"any":{"type":"integer"},` +
		`"loud":{"type":"boolean"},` +
		`"quiet":{"type":"boolean"},` +
		`"files":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"name":{"type":"string","description":"What people see","maxLength":255}},"required":["path"],"additionalProperties":false}},` +
		`"one":{"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"name":{"type":"string","description":"What people see","maxLength":255}},"required":["path"],"additionalProperties":false},` +
		`"scores":{"type":"object","maxProperties":4,"additionalProperties":{"type":"number"}},` +
		`"extra":{"type":"object"}},` +
		`"required":["name"],"additionalProperties":false}`
	if got := string(everythingSchema.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// An unknown type or tag must stop the program at its start: a schema that says
// less than it should would reach every client unseen.
func TestInputSchemaPanics(t *testing.T) {
	text, list := reflect.TypeFor[string](), reflect.TypeFor[[]attachmentArgs]()
	integer, boolean := reflect.TypeFor[int](), reflect.TypeFor[bool]()
	field := func(t reflect.Type, tag reflect.StructTag) []reflect.StructField {
		return []reflect.StructField{{Name: "A", Type: t, Tag: tag}}
	}
	with := func(f reflect.StructField, set func(*reflect.StructField)) []reflect.StructField {
		set(&f)
		return []reflect.StructField{f}
	}
	plain := reflect.StructField{Name: "A", Type: text, Tag: `json:"a" arg:"max=1"`}
	for name, fields := range map[string][]reflect.StructField{
		"no json name":         field(text, `arg:"max=1"`),
		"json options":         field(text, `json:"a,omitempty" arg:"max=1"`),
		"json dash":            field(text, `json:"-" arg:"max=1"`),
		"unexported":           with(plain, func(f *reflect.StructField) { f.Name, f.PkgPath = "a", "steward" }),
		"embedded":             with(plain, func(f *reflect.StructField) { f.Anonymous, f.Type = true, reflect.TypeFor[Envelope]() }),
		"same name twice":      {plain, with(plain, func(f *reflect.StructField) { f.Name = "B" })[0]},
		"map":                  field(reflect.TypeFor[map[string]int](), `json:"a"`),
		"any":                  field(reflect.TypeFor[any](), `json:"a"`),
		"float":                field(reflect.TypeFor[float64](), `json:"a"`),
		"uint":                 field(reflect.TypeFor[uint](), `json:"a"`),
		"func":                 field(reflect.TypeFor[func()](), `json:"a"`),
		"raw message":          field(reflect.TypeFor[json.RawMessage](), `json:"a" arg:"max=1"`),
		"pointer to string":    field(reflect.TypeFor[*string](), `json:"a" arg:"max=1"`),
		"pointer to struct":    field(reflect.TypeFor[*attachmentArgs](), `json:"a"`),
		"list of strings":      field(reflect.TypeFor[[]string](), `json:"a" arg:"max=1"`),
		"text without max":     field(text, `json:"a"`),
		"advice without max":   field(text, `json:"a" arg:"words=x|y"`),
		"list without max":     field(list, `json:"a"`),
		"metrics without max":  field(orderedType, `json:"a"`),
		"object without bytes": field(objectType, `json:"a" arg:"levels=2"`),
		"bytes of a text":      field(text, `json:"a" arg:"max=1,bytes=2,levels=2"`),
		"unknown arg tag":      field(text, `json:"a" arg:"max=1,maximum=2"`),
		"unknown tag":          field(text, `json:"a" args:"max=1"`),
		"malformed tag":        field(text, `json:"a" arg:max=1`),
		"max is no number":     field(text, `json:"a" arg:"max=x"`),
		"line of an integer":   field(integer, `json:"a" arg:"line"`),
		"enum of an integer":   field(integer, `json:"a" arg:"enum=1|2"`),
		"min of a text":        field(text, `json:"a" arg:"min=1,max=2"`),
		"max of a boolean":     field(boolean, `json:"a" arg:"max=2"`),
		"default of a boolean": field(boolean, `json:"a" arg:"default=true"`),
		"default of a pointer": field(reflect.TypeFor[*int](), `json:"a" arg:"default=2"`),
		"default no number":    field(integer, `json:"a" arg:"default=x"`),
		"required default":     field(text, `json:"a" arg:"required,max=3,default=x"`),
		"nested":               field(reflect.SliceOf(reflect.StructOf(field(reflect.TypeFor[any](), `json:"b"`))), `json:"a" arg:"max=1"`),
	} {
		t.Run(name, func(t *testing.T) {
			panics(t, "ops: probe: field ", func() { inputSchema("probe", reflect.StructOf(fields)) })
		})
	}
	t.Run("not a struct", func(t *testing.T) {
		panics(t, "ops: probe: ", func() { inputSchema("probe", text) })
	})
}

// Envelope is embedded in the test above, which takes an exported type.
type Envelope struct{}

func panics(t *testing.T, prefix string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		switch p := recover().(type) {
		case nil:
			t.Error("did not panic")
		case string:
			if !strings.HasPrefix(p, prefix) || strings.Contains(p[1:], "ops: ") {
				t.Errorf("panicked with %q", p)
			}
		default:
			t.Errorf("panicked with %v", p)
		}
	}()
	fn()
}

func TestOutputSchemaPanics(t *testing.T) {
	for name, typ := range map[string]reflect.Type{
		"not a struct": reflect.TypeFor[int](),
		"any": reflect.TypeFor[struct {
			A any `json:"a"`
		}](),
		"no name": reflect.TypeFor[struct{ A string }](),
		"map by int": reflect.TypeFor[struct {
			A map[int]string `json:"a"`
		}](),
		"own JSON": reflect.TypeFor[struct {
			A ownJSON `json:"a"`
		}](),
	} {
		t.Run(name, func(t *testing.T) {
			panics(t, "ops: probe: ", func() { outputSchema("probe", typ) })
		})
	}
}

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

// The one type that writes its own JSON is described by hand; this holds the
// description to what it writes.
func TestHandoffSchema(t *testing.T) {
	b, err := json.Marshal(handoff.Handoff{})
	if err != nil {
		t.Fatal(err)
	}
	var empty map[string]any
	if err := json.Unmarshal(b, &empty); err != nil {
		t.Fatal(err)
	}
	s := outputSchema("probe", reflect.TypeFor[HandoffState]()).Props[0].Schema
	if len(s.Props) != len(empty) {
		t.Errorf("%d properties, %d in the JSON", len(s.Props), len(empty))
	}
	for _, p := range s.Props {
		v, there := empty[p.Name]
		if !there || !p.Required {
			t.Errorf("%s: in the JSON %v, required %v; both must hold", p.Name, there, p.Required)
		}
		if (v == nil) != p.Nullable {
			t.Errorf("%s: null when absent %v, nullable %v", p.Name, v == nil, p.Nullable)
		}
	}
}

// Every result is an object all of whose parts have a type.
func TestOutputSchemas(t *testing.T) {
	var walk func(t *testing.T, path string, s *Schema)
	walk = func(t *testing.T, path string, s *Schema) {
		if s.Type == "" {
			t.Errorf("%s has no type", path)
		}
		for _, p := range s.Props {
			walk(t, path+"."+p.Name, p.Schema)
		}
		if s.Items != nil {
			walk(t, path+"[]", s.Items)
		}
		if s.Values != nil {
			walk(t, path+"{}", s.Values)
		}
	}
	for _, o := range All() {
		t.Run(o.Name, func(t *testing.T) {
			if o.Out.Type != "object" || len(o.Out.Props) == 0 {
				t.Fatalf("the result is %s", o.Out.JSON())
			}
			walk(t, o.Name, o.Out)
			if !json.Valid(o.Out.JSON()) {
				t.Errorf("no JSON: %s", o.Out.JSON())
			}
		})
	}
}

package ops

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"steward/handoff"
	"steward/handoff/ticket"
	"steward/ledger"
)

// Types whose JSON is not that of their Go kind.
var (
	millisType  = reflect.TypeFor[ledger.Millis]()
	metricsType = reflect.TypeFor[ledger.Metrics]()
	sourceType  = reflect.TypeFor[ledger.Source]()
	statusType  = reflect.TypeFor[handoff.Status]()
	ticketType  = reflect.TypeFor[ticket.Status]()
	urgencyType = reflect.TypeFor[ticket.Urgency]()
	byType      = reflect.TypeFor[ticket.By]()
	handoffType = reflect.TypeFor[handoff.Handoff]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	texterType  = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType    = reflect.TypeFor[json.Marshaler]()
)

// outputSchema builds the schema of a result. No client is sent it; the types
// of the front end are made from it. A type it does not know panics.
func outputSchema(tool string, t reflect.Type) *Schema {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("ops: %s: result: a %s, not a struct", tool, t))
	}
	return outputType("ops: "+tool+": result", t, 0)
}

func outputType(at string, t reflect.Type, depth int) *Schema {
	if depth > 16 {
		panic(at + ": a type that holds itself")
	}
	switch t {
	case millisType:
		return &Schema{Type: "string", Doc: "UTC, milliseconds", kind: aString}
	case metricsType:
		return &Schema{Type: "object", Free: true, Values: &Schema{Type: "number", kind: aNumber}, kind: theMetrics}
	case sourceType:
		return &Schema{Type: "string", Words: []string{"claimed", "observed", "system", "person", "import"}, kind: aString}
	case statusType:
		return &Schema{Type: "string", Words: handoff.Statuses(), kind: aString}
	case ticketType:
		return &Schema{Type: "string", Words: ticket.Statuses(), kind: aString}
	case urgencyType:
		return &Schema{Type: "string", Words: ticket.Urgencies(), kind: aString}
	case byType:
		return &Schema{Type: "string", Words: []string{string(ticket.Human), string(ticket.Default)}, kind: aString}
	case handoffType:
		return handoffSchema(at, depth)
	case rawType:
		return &Schema{Type: "object", Free: true, kind: theObject}
	}
	switch {
	case t.Kind() == reflect.Pointer:
		s := outputType(at, t.Elem(), depth+1)
		s.Nullable = true
		return s
	case t.Implements(jsonType):
		panic(fmt.Sprintf("%s: %s writes its own JSON, of which nothing is known here", at, t))
	case t.Implements(texterType):
		return &Schema{Type: "string", kind: aString}
	}
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: "string", kind: aString}
	case reflect.Bool:
		return &Schema{Type: "boolean", kind: aBoolean}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return &Schema{Type: "integer", kind: anInteger}
	case reflect.Float64:
		return &Schema{Type: "number", kind: aNumber}
	case reflect.Slice:
		return &Schema{Type: "array", kind: aList, Items: outputType(at, t.Elem(), depth+1)}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return &Schema{Type: "object", Free: true, Values: outputType(at, t.Elem(), depth+1)}
		}
	case reflect.Struct:
		s := &Schema{Type: "object", Name: typeName(t), kind: aStruct}
		outputFields(s, at, t, depth)
		return s
	}
	panic(fmt.Sprintf("%s: %s has no schema", at, t))
}

// typeName is what a generator calls t: names of package handoff say so.
func typeName(t reflect.Type) string {
	const of = "Handoff"
	if t.PkgPath() == handoffType.PkgPath() && !strings.HasPrefix(t.Name(), of) {
		return of + t.Name()
	}
	return t.Name()
}

// handoffSchema describes the one type that writes its own JSON: every field is
// there always, and these are null when absent.
func handoffSchema(at string, depth int) *Schema {
	s := &Schema{Type: "object", Name: typeName(handoffType), kind: aStruct}
	outputFields(s, at, handoffType, depth)
	for _, p := range s.Props {
		switch p.Name {
		case "context", "source_session_id", "worker_session_id", "outcome", "metrics", "error", "claimed_at", "running_at", "finished_at":
			p.Nullable = true
		}
	}
	return s
}

// outputFields adds the fields of t as encoding/json would: embedded structs
// lie flat, and a field declared later hides one of the same name.
func outputFields(s *Schema, at string, t reflect.Type, depth int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			outputFields(s, at, f.Type, depth+1)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			panic(at + "." + f.Name + ": wants a json name")
		}
		field := outputType(at+"."+f.Name, f.Type, depth+1)
		field.Doc = f.Tag.Get("doc")
		if w := f.Tag.Get("words"); w != "" {
			field.Words = strings.Split(w, "|")
		}
		optional := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		if optional {
			field.Nullable = false
		}
		p := Prop{Name: name, Required: !optional, Schema: field}
		replaced := false
		for j := range s.Props {
			if s.Props[j].Name == name {
				s.Props[j], replaced = p, true
			}
		}
		if !replaced {
			s.Props = append(s.Props, p)
		}
	}
}

package ops

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Schema describes the arguments or the result of an operation. One value
// serves three readers: its JSON goes to clients, the validator walks it, and
// generators read its exported fields. It is built once, from a Go type, and
// never changed.
type Schema struct {
	Type     string   // object, array, string, integer, number or boolean
	Name     string   // of a result's Go type, for generators; no client sees it
	Doc      string   // one line for the reader of the schema
	Props    []Prop   // of an object with known keys, in the order of the Go type
	Items    *Schema  // of an array
	Values   *Schema  // of an object with free keys: what each value is; nil = anything
	Free     bool     // an object whose keys are the caller's
	Nullable bool     // a result that may be null; never true of an argument
	Words    []string // the allowed texts
	Max      int64    // most: code points, items, keys, or the greatest number; 0 = none
	Min      *int64   // the least number

	kind     kind
	index    int    // field of the Go struct that holds the value
	pointer  bool   // the field is a pointer, nil when absent
	line     bool   // breaks and tabs become one space
	open     bool   // Words advise; other texts reach the operation
	required bool   // blank texts are refused
	bytes    int    // of a free object: most bytes as compact JSON
	levels   int    // of a free object: deepest nesting
	preset   string // value of an absent text or number
	rule     string // the limit in words, for refusals
}

// Prop is one member of an object.
type Prop struct {
	Name     string
	Required bool
	*Schema
}

// kind says how the validator reads a value and where it puts it.
type kind uint8

const (
	unset kind = iota
	aString
	anInteger
	aNumber // results only
	aBoolean
	aStruct
	aList
	theMetrics
	theObject
)

var (
	orderedType = reflect.TypeFor[Ordered]()
	objectType  = reflect.TypeFor[Object]()
)

// inputSchema builds the schema of the arguments in the struct type t. A type
// or tag it does not know is a programmer's error and panics, so that no tool
// ever carries an empty schema.
func inputSchema(tool string, t reflect.Type) *Schema {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("ops: %s: arguments are a %s, not a struct", tool, t))
	}
	return inputStruct("ops: "+tool, t)
}

func inputStruct(at string, t reflect.Type) *Schema {
	s := &Schema{Type: "object", kind: aStruct}
	if t.NumField() > 64 { // the walker notes the keys it has seen in 64 bits
		panic(fmt.Sprintf("%s: %s has more than 64 fields", at, t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		at := at + ": field " + f.Name
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || opts != "" || !f.IsExported() || f.Anonymous {
			panic(at + ": wants an exported field and a plain json name")
		}
		for _, p := range s.Props {
			if p.Name == name {
				panic(at + ": a second " + name)
			}
		}
		arg := inputField(at, f)
		arg.index = i
		arg.Doc = f.Tag.Get("doc")
		s.Props = append(s.Props, Prop{Name: name, Required: arg.required, Schema: arg})
	}
	return s
}

func inputField(at string, f reflect.StructField) *Schema {
	for _, key := range tagKeys(at, string(f.Tag)) {
		if key != "json" && key != "arg" && key != "doc" {
			panic(at + ": unknown tag " + key)
		}
	}
	s := inputType(at, f.Type)
	s.tags(at, f.Tag.Get("arg"))
	s.check(at)
	s.say()
	return s
}

// tagKeys returns the keys of a struct tag.
func tagKeys(at, tag string) []string {
	var keys []string
	for tag = strings.TrimSpace(tag); tag != ""; tag = strings.TrimSpace(tag) {
		key, rest, ok := strings.Cut(tag, ":")
		value, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			panic(at + ": malformed tag")
		}
		keys = append(keys, key)
		tag = rest[len(value):]
	}
	return keys
}

func inputType(at string, t reflect.Type) *Schema {
	s := &Schema{}
	switch t {
	case orderedType:
		s.Type, s.kind, s.Free, s.Values = "object", theMetrics, true, &Schema{Type: "number", kind: aNumber}
		return s
	case objectType:
		s.Type, s.kind, s.Free = "object", theObject, true
		return s
	}
	if t.Kind() == reflect.Pointer {
		s.pointer = true
		t = t.Elem()
		if k := t.Kind(); k != reflect.Int && k != reflect.Int64 && k != reflect.Bool {
			panic(fmt.Sprintf("%s: a pointer to %s is no argument", at, t))
		}
	}
	switch t.Kind() {
	case reflect.String:
		s.Type, s.kind = "string", aString
	case reflect.Int, reflect.Int64:
		s.Type, s.kind = "integer", anInteger
	case reflect.Bool:
		s.Type, s.kind = "boolean", aBoolean
	case reflect.Struct:
		s = inputStruct(at, t)
	case reflect.Slice:
		s.Type, s.kind = "array", aList
		switch t.Elem().Kind() {
		case reflect.Struct:
			s.Items = inputStruct(at, t.Elem())
		case reflect.String:
			s.Items = &Schema{Type: "string", kind: aString, line: true}
		default:
			panic(fmt.Sprintf("%s: a list of %s is no argument", at, t.Elem()))
		}
	default:
		panic(fmt.Sprintf("%s: %s is no argument", at, t))
	}
	return s
}

// tags reads the comma-separated words of an arg tag.
func (s *Schema) tags(at, tag string) {
	for word := range strings.SplitSeq(tag, ",") {
		key, value, _ := strings.Cut(word, "=")
		number := func() int64 {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				panic(at + ": " + word + " wants a number")
			}
			return n
		}
		switch key {
		case "":
		case "required":
			s.required = true
		case "line":
			s.line = true
		case "max":
			s.Max = number()
		case "each":
			if s.kind != aList || s.Items.kind != aString {
				panic(at + ": each is for a list of strings")
			}
			s.Items.Max = number()
			s.Items.say()
		case "min":
			n := number()
			s.Min = &n
		case "enum", "words":
			s.Words, s.open = strings.Split(value, "|"), key == "words"
		case "default":
			s.preset = value
		case "bytes":
			s.bytes = int(number())
		case "levels":
			s.levels = int(number())
		default:
			panic(at + ": unknown arg tag " + word)
		}
	}
}

// check panics when tags and type do not belong together, or a limit is missing.
func (s *Schema) check(at string) {
	bad := func(ok bool, what string) {
		if !ok {
			panic(at + ": " + what)
		}
	}
	text, list, keys := s.kind == aString, s.kind == aList, s.kind == theMetrics
	bad(!s.line || text, "line is for a string")
	bad(s.Words == nil || text, "enum and words are for a string")
	bad(s.Min == nil || s.kind == anInteger, "min is for an integer")
	bad(s.preset == "" || text || s.kind == anInteger && !s.pointer, "default is for a string or a plain integer")
	bad(s.preset == "" || !s.required, "default of a required argument")
	bad((s.bytes > 0 && s.levels > 0) == (s.kind == theObject), "bytes and levels are for a free object, which wants both")
	bad(!list || s.Items.kind != aString || s.Items.Max > 0, "a list of strings wants each, the most characters of one")
	bad(s.Max > 0 || !(text && (s.Words == nil || s.open) || list || keys), "wants a max")
	bad(s.Max == 0 || text || list || keys || s.kind == anInteger, "max is for a string, a list, metrics or an integer")
	bad(!s.required || s.kind != anInteger || !s.pointer, "a required pointer")
	if s.kind == anInteger && s.preset != "" {
		_, err := strconv.ParseInt(s.preset, 10, 64)
		bad(err == nil, "default wants a number")
	}
}

// say puts the limit in words once, so that a refusal costs no more than it must.
func (s *Schema) say() {
	switch s.kind {
	case aString:
		switch {
		case s.Words != nil && !s.open:
			s.rule = "one of " + strings.Join(s.Words, ", ")
		case s.required:
			s.rule = fmt.Sprintf("required, 1 to %d characters", s.Max)
		default:
			s.rule = fmt.Sprintf("at most %d characters", s.Max)
		}
	case anInteger:
		switch {
		case s.Min != nil && s.Max > 0:
			s.rule = fmt.Sprintf("an integer from %d to %d", *s.Min, s.Max)
		case s.Min != nil:
			s.rule = fmt.Sprintf("an integer of at least %d", *s.Min)
		case s.Max > 0:
			s.rule = fmt.Sprintf("an integer of at most %d", s.Max)
		default:
			s.rule = "an integer"
		}
	case aList:
		s.rule = fmt.Sprintf("at most %d items", s.Max)
	case theMetrics:
		s.rule = fmt.Sprintf("at most %d keys", s.Max)
	case theObject:
		s.rule = fmt.Sprintf("at most %d bytes as compact JSON", s.bytes)
	}
}

// Open tells whether other texts than Words are taken too.
func (s *Schema) Open() bool { return s.open }

// JSON returns the schema as JSON Schema, on one line, keys in a fixed order.
func (s *Schema) JSON() json.RawMessage { return s.appendJSON(nil, "") }

func (s *Schema) appendJSON(b []byte, doc string) []byte {
	if s.Nullable {
		plain := *s
		plain.Nullable = false
		b = append(b, `{"anyOf":[`...)
		b = plain.appendJSON(b, doc)
		return append(b, `,{"type":"null"}]}`...)
	}
	b = append(b, `{"type":`...)
	b = appendString(b, s.Type)
	if doc == "" {
		doc = s.Doc
	}
	if doc != "" {
		b = append(b, `,"description":`...)
		b = appendString(b, doc)
	}
	if len(s.Words) > 0 {
		b = append(b, `,"enum":[`...)
		for i, w := range s.Words {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, w)
		}
		b = append(b, ']')
	}
	b = s.appendLimits(b)
	switch {
	case s.Items != nil:
		b = append(b, `,"items":`...)
		b = s.Items.appendJSON(b, "")
	case s.Free && s.Values != nil:
		b = append(b, `,"additionalProperties":`...)
		b = s.Values.appendJSON(b, "")
	case s.Type == "object" && !s.Free:
		b = s.appendProps(b)
	}
	return append(b, '}')
}

func (s *Schema) appendLimits(b []byte) []byte {
	number := func(key string, n int64) {
		b = append(b, `,"`...)
		b = append(b, key...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, n, 10)
	}
	if s.kind == aString && s.Words != nil {
		return s.appendPreset(b) // the words say how long they are
	}
	if s.required && s.kind == aString {
		number("minLength", 1)
	}
	if s.Min != nil {
		number("minimum", *s.Min)
	}
	if s.Max > 0 {
		switch s.kind {
		case aString:
			number("maxLength", s.Max)
		case anInteger:
			number("maximum", s.Max)
		case aList:
			number("maxItems", s.Max)
		case theMetrics:
			number("maxProperties", s.Max)
		}
	}
	return s.appendPreset(b)
}

func (s *Schema) appendPreset(b []byte) []byte {
	switch {
	case s.preset == "":
		return b
	case s.kind == aString:
		return appendString(append(b, `,"default":`...), s.preset)
	}
	return append(append(b, `,"default":`...), s.preset...)
}

func (s *Schema) appendProps(b []byte) []byte {
	b = append(b, `,"properties":{`...)
	var required []byte
	for i, p := range s.Props {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, p.Name)
		b = append(b, ':')
		b = p.Schema.appendJSON(b, "")
		if p.Required {
			if required != nil {
				required = append(required, ',')
			}
			required = appendString(required, p.Name)
		}
	}
	b = append(b, '}')
	if required != nil {
		b = append(b, `,"required":[`...)
		b = append(b, required...)
		b = append(b, ']')
	}
	return append(b, `,"additionalProperties":false`...)
}

// names lists an object's keys for a refusal.
func (s *Schema) names() string {
	if len(s.Props) == 0 {
		return "none"
	}
	names := make([]string, len(s.Props))
	for i, p := range s.Props {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

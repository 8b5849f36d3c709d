package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"steward/mcp/ops"
)

const typesFile = "frontend/src/ops.gen.ts"

// typescript declares, for the front end, the arguments and the result of every
// operation that the window or the page is offered.
func typescript(list []ops.Op) string {
	g := tsWriter{named: map[string]*ops.Schema{}}
	var body, table strings.Builder
	for _, o := range list {
		if o.Surfaces&(ops.Window|ops.Web) == 0 {
			continue
		}
		name := camel(o.Name)
		where := ""
		if o.Surfaces&ops.Web == 0 {
			where = " In the window only."
		}
		body.WriteString(comment("", o.Text+where) + g.declare(name+"Args", o.In) + g.declare(name+"Result", o.Out))
		fmt.Fprintf(&table, "  %s: { args: %sArgs; result: %sResult };\n", o.Name, name, name)
	}
	var b strings.Builder
	b.WriteString("// Generated from the operations in mcp/ops by `go run ./mcp/ops/gen`. Do not edit.\n\n")
	b.WriteString(body.String())
	for len(g.todo) > 0 { // writing one may name others
		slices.Sort(g.todo)
		name := g.todo[0]
		g.todo = g.todo[1:]
		b.WriteString(g.declare(name, g.named[name]))
	}
	b.WriteString(comment("", "Every operation by its name."))
	fmt.Fprintf(&b, "export interface Ops {\n%s}\n", table.String())
	return b.String()
}

// tsWriter writes schemas as TypeScript and collects the named types they use.
type tsWriter struct {
	named map[string]*ops.Schema
	todo  []string // names that are used and not declared yet
}

// declare exports an object's type.
func (g *tsWriter) declare(name string, s *ops.Schema) string {
	if len(s.Props) == 0 {
		return fmt.Sprintf("export type %s = Record<string, never>;\n\n", name)
	}
	return fmt.Sprintf("export interface %s %s\n\n", name, g.members(s, ""))
}

// members writes the members of an object between braces.
func (g *tsWriter) members(s *ops.Schema, indent string) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range s.Props {
		b.WriteString(comment(indent+"  ", p.Doc))
		mark := "?"
		if p.Required {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, p.Name, mark, g.of(p.Schema, indent+"  "))
	}
	b.WriteString(indent + "}")
	return b.String()
}

func (g *tsWriter) of(s *ops.Schema, indent string) string {
	if s.Nullable {
		plain := *s
		plain.Nullable = false
		return g.of(&plain, indent) + " | null"
	}
	switch {
	case s.Type == "string" && len(s.Words) > 0 && !s.Open():
		words := make([]string, len(s.Words))
		for i, w := range s.Words {
			words[i] = `"` + w + `"`
		}
		return strings.Join(words, " | ")
	case s.Type == "string", s.Type == "boolean":
		return s.Type
	case s.Type == "integer", s.Type == "number":
		return "number"
	case s.Type == "array":
		item := g.of(s.Items, indent)
		if strings.Contains(item, " | ") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case s.Type == "object" && s.Free && s.Values == nil:
		return "Record<string, unknown>"
	case s.Type == "object" && s.Free:
		return "Record<string, " + g.of(s.Values, indent) + ">"
	case s.Type == "object" && s.Name != "":
		return g.name(s)
	case s.Type == "object":
		return g.members(s, indent)
	}
	panic("gen: a schema of type " + s.Type)
}

// name returns the name of an object's type, which is declared once.
func (g *tsWriter) name(s *ops.Schema) string {
	bare := *s
	bare.Doc = "" // it belongs to the member
	switch old := g.named[s.Name]; {
	case old == nil:
		g.named[s.Name] = &bare
		g.todo = append(g.todo, s.Name)
	case !reflect.DeepEqual(old, &bare):
		panic("gen: two types are called " + s.Name)
	}
	return s.Name
}

// comment is a line of documentation; none for an empty text.
func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + strings.ReplaceAll(text, "*/", "*\\/") + " */\n"
}

// camel makes BriefGet of brief_get.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"steward/mcp/ops"
)

// maxArguments bounds what is read from the standard input, in bytes.
const maxArguments = 8 << 20

func callCommand() *command {
	return &command{
		name:  "call",
		usage: "TOOL [JSON | -] [--field VALUE …]",
		short: "call one of Steward's tools",
		text: `Calls a tool as an agent would, with its arguments as one JSON object, from the
standard input with -, or as options named after its fields: a list's option is
given once for each item, a number of an object as KEY=VALUE. Starts the service
if none runs. What only a person may decide is not offered here.

Tools: ` + strings.Join(toolNames(), ", ") + `.
steward call TOOL --help shows the fields of one.`,
		examples: []string{
			`steward call report_done '{"actor":"me","outcome":"tests pass"}'`,
			`steward call report_done --actor me --outcome "tests pass" --metrics passed=42`,
			`steward call handoff_list --status pending --json`,
			`jq -c . receipt.json | steward call report_done -`,
		},
		min: 1, max: 2,
		more: callTool,
		run:  runCall,
	}
}

// shellOps are the operations offered in the shell.
func shellOps() []ops.Op {
	var out []ops.Op
	for _, o := range ops.All() {
		if o.Surfaces&ops.Shell != 0 {
			out = append(out, o)
		}
	}
	return out
}

func toolNames() []string {
	var names []string
	for _, o := range shellOps() {
		names = append(names, o.Name)
	}
	return names
}

// toolOf is the first argument that is no option.
func toolOf(args []string) string {
	for _, a := range args {
		if a == "--" {
			return ""
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

func toolNamed(name string) (ops.Op, error) {
	for _, o := range ops.All() {
		switch {
		case o.Name != name:
		case o.Surfaces&ops.Shell == 0:
			hint := "offered to " + strings.Join(o.Surfaces.Names(), ", ")
			if o.Kind == ops.Decides {
				hint = "a person decides this, in Steward's window or on its web page"
			}
			return o, &ops.Error{Code: ops.Forbidden, Message: name + ": not offered in the shell", Hint: hint}
		default:
			return o, nil
		}
	}
	hint := "there are " + strings.Join(toolNames(), ", ")
	if n := nearest(name, toolNames()); n != "" {
		hint = "did you mean " + n + "?"
	}
	return ops.Op{}, &ops.Error{Code: ops.NotFound, Message: fmt.Sprintf("%s: there is no such tool", name), Hint: hint}
}

// callTool is the command as it is for the tool in args: each field of that
// tool is an option.
func callTool(args []string) (c command, err error) {
	name := toolOf(args)
	if name == "" {
		return c, nil
	}
	op, err := toolNamed(name)
	if err != nil {
		return c, err
	}
	c.usage, c.text = op.Name+" [JSON | -] [--field VALUE …]", op.Text
	for _, p := range op.In.Props {
		o := option{name: strings.ReplaceAll(p.Name, "_", "-"), help: p.Doc, value: "TEXT"}
		switch p.Type {
		case "boolean":
			o.value = ""
		case "integer", "number":
			o.value = "N"
		case "array":
			o.value, o.repeat = "TEXT", true
			if p.Items.Type != "string" {
				o.value = "JSON"
			}
		case "object":
			o.value, o.repeat = "JSON", true
			if p.Values != nil {
				o.value = "KEY=N"
			}
		}
		if len(p.Words) > 0 {
			o.value = strings.Join(p.Words, "|")
		}
		if p.Required {
			o.help = strings.TrimSpace("required. " + o.help)
		}
		c.options = append(c.options, o)
	}
	return c, nil
}

func runCall(s *session, in input) error {
	op, err := toolNamed(in.args[0])
	if err != nil {
		return err
	}
	var args json.RawMessage
	switch fields := fieldsGiven(in, op); {
	case len(in.args) == 2 && fields > 0:
		return misuse("arguments", "arguments: as one JSON object or as options; got both", "")
	case len(in.args) == 2:
		args, err = s.arguments(in.args[1])
	default:
		args, err = argumentsOf(in, op)
	}
	if err != nil {
		return err
	}
	result, err := s.ask(op.Name, args)
	if err != nil {
		return err
	}
	if s.json {
		return s.write(append(visibleJSON(result.Structured), '\n'))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, result.Structured, "", "  "); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return s.write(append(visibleJSON(b.Bytes()), '\n'))
}

func fieldsGiven(in input, op ops.Op) int {
	n := 0
	for _, p := range op.In.Props {
		if in.has(strings.ReplaceAll(p.Name, "_", "-")) {
			n++
		}
	}
	return n
}

// arguments takes a JSON text, or reads it for "-". It goes to the service as
// it is: the service refuses what is wrong in it by name.
func (s *session) arguments(text string) (json.RawMessage, error) {
	b := []byte(text)
	if text == "-" {
		var err error
		if b, err = io.ReadAll(io.LimitReader(s.stdin, maxArguments+1)); err != nil {
			return nil, fmt.Errorf("read the standard input: %w", err)
		}
		if len(b) > maxArguments {
			return nil, misuse("arguments", fmt.Sprintf("arguments: at most %d bytes; got more", maxArguments), "")
		}
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return nil, misuse("arguments", "arguments: one JSON object; got something else", `such as '{"actor":"me"}'; on Windows' own shell write \" for "`)
	}
	var one bytes.Buffer // on one line, because that is what the protocol's lines are
	if err := json.Compact(&one, b); err != nil {
		return nil, err
	}
	return one.Bytes(), nil
}

// argumentsOf builds the arguments from options, in the order given.
func argumentsOf(in input, op ops.Op) (json.RawMessage, error) {
	b := []byte{'{'}
	done := map[string]bool{}
	for _, name := range in.order {
		for _, p := range op.In.Props {
			if strings.ReplaceAll(p.Name, "_", "-") != name || done[name] {
				continue
			}
			done[name] = true
			value, err := valueOf(p, name, in.values[name])
			if err != nil {
				return nil, err
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, quote(p.Name)...), ':'), value...)
		}
	}
	return append(b, '}'), nil
}

func valueOf(p ops.Prop, name string, given []string) ([]byte, error) {
	v := given[0]
	switch p.Type {
	case "boolean":
		return []byte(v), nil
	case "integer", "number":
		if !number(v) {
			return nil, misuse("--"+name, fmt.Sprintf("--%s: a number; got %s", name, v), "")
		}
		return []byte(v), nil
	case "object":
		return objectOf(name, given)
	case "array":
		if len(given) == 1 && strings.HasPrefix(strings.TrimSpace(v), "[") {
			if !json.Valid([]byte(v)) {
				return nil, misuse("--"+name, fmt.Sprintf("--%s: not valid JSON", name), "")
			}
			return []byte(v), nil
		}
		items := make([]string, len(given))
		for i, g := range given {
			if items[i] = g; p.Items.Type == "string" {
				items[i] = string(quote(g))
			} else if !json.Valid([]byte(g)) {
				return nil, misuse("--"+name, fmt.Sprintf("--%s: each item as JSON; got %s", name, g), `such as '{"path":"/a/file"}'`)
			}
		}
		return []byte("[" + strings.Join(items, ",") + "]"), nil
	}
	return quote(v), nil
}

// objectOf reads one JSON object, or KEY=NUMBER pairs in their order.
func objectOf(name string, given []string) ([]byte, error) {
	if len(given) == 1 && strings.HasPrefix(strings.TrimSpace(given[0]), "{") {
		if !json.Valid([]byte(given[0])) {
			return nil, misuse("--"+name, fmt.Sprintf("--%s: not valid JSON", name), "")
		}
		return []byte(given[0]), nil
	}
	b := []byte{'{'}
	for i, g := range given {
		key, value, ok := strings.Cut(g, "=")
		if !ok || key == "" || !number(value) {
			return nil, misuse("--"+name, fmt.Sprintf("--%s: KEY=NUMBER, or one JSON object; got %s", name, g), "")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(key)...), ':'), value...)
	}
	return append(b, '}'), nil
}

// number tells whether s is a number as JSON writes it.
func number(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && json.Valid([]byte(s))
}

// quote writes s as a JSON string. Bytes that are no UTF-8 stay as they are,
// so that the service can refuse them.
func quote(s string) []byte {
	b := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

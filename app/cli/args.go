package cli

import (
	"fmt"
	"strings"

	"steward/mcp/ops"
)

// option is one --name of a command.
type option struct {
	name   string // as written after the two dashes
	value  string // placeholder of its value in the help; "" = a switch
	help   string
	repeat bool // may be given more than once
}

// input is what a command line says, before anything is done about it.
type input struct {
	args   []string            // what is no option, in order
	values map[string][]string // by option; a switch has "true" or "false"
	order  []string            // the options in the order given, repeated ones repeated
	help   bool
}

func (in *input) has(name string) bool { return len(in.values[name]) > 0 }

// get returns the option's only value, "" if it was not given.
func (in *input) get(name string) string {
	if v := in.values[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (in *input) on(name string) bool { return in.get(name) == "true" }

// parse reads args against options. Options may stand anywhere; after "--"
// everything is an argument, and so is "-". Errors name what was not
// understood; nothing is guessed.
func parse(args []string, options []option) (input, error) {
	in := input{values: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			in.args = append(in.args, args[i+1:]...)
			return in, nil
		case a == "-h", a == "--help", a == "-help":
			in.help = true
			continue
		case len(a) < 2 || a[0] != '-':
			in.args = append(in.args, a)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		o := find(options, name)
		if o == nil {
			return in, unknownOption(name, options)
		}
		if in.has(o.name) && !o.repeat {
			return in, misuse("--"+o.name, fmt.Sprintf("--%s: once; got it twice", o.name), "")
		}
		if o.value == "" {
			if !given {
				value = "true"
			}
			if value != "true" && value != "false" {
				return in, misuse("--"+o.name, fmt.Sprintf("--%s: alone, or =true or =false; got =%s", o.name, value), "")
			}
		} else if !given {
			if i+1 >= len(args) {
				return in, misuse("--"+o.name, fmt.Sprintf("--%s: a value must follow: --%s %s", o.name, o.name, o.value), "")
			}
			i++
			value = args[i]
		}
		in.values[o.name] = append(in.values[o.name], value)
		in.order = append(in.order, o.name)
	}
	return in, nil
}

// find takes a name with dashes or underscores, as tools' fields have them.
func find(options []option, name string) *option {
	name = strings.ReplaceAll(name, "_", "-")
	for i := range options {
		if options[i].name == name {
			return &options[i]
		}
	}
	return nil
}

func unknownOption(name string, options []option) error {
	names := make([]string, 0, len(options)+1)
	for _, o := range options {
		names = append(names, o.name)
	}
	hint := "see --help"
	if s := nearest(name, names); s != "" {
		hint = "did you mean --" + s + "?"
	}
	return misuse("--"+name, fmt.Sprintf("--%s: an unknown option", name), hint)
}

// misuse is a command line that does not say what to do.
func misuse(field, message, hint string) error {
	return &ops.Error{Code: ops.Invalid, Field: field, Message: message, Hint: hint}
}

// nearest returns the name closest to what was written, "" if none is close.
func nearest(written string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if len(written) >= 2 && strings.HasPrefix(n, written) {
			return n
		}
		if d := distance(written, n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	var older []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(change, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], older[j-2]+1)
			}
		}
		older, row = row, next
	}
	return row[len(b)]
}

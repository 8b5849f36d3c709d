package cli

import (
	"slices"
	"strings"
)

// subject is one command, or one tool as `call` takes it, with every option that
// it understands: what the manual and the completions are made of.
type subject struct {
	*command
	tool string // "": a command
}

// subjects are all commands in the order of the overview, and all tools.
func subjects() (all, tools []subject) {
	for _, c := range commands() {
		c.options = append(c.options, jsonOption)
		all = append(all, subject{command: c})
	}
	for _, name := range toolNames() {
		c := callCommand()
		special, err := callTool([]string{name})
		if err != nil {
			panic(err) // the name is from the list of those it knows
		}
		c.usage, c.text, c.options = special.usage, special.text, append(special.options, jsonOption)
		tools = append(tools, subject{command: c, tool: name})
	}
	return all, tools
}

// takesFile tells whether the command's arguments are files.
func (s subject) takesFile() bool {
	return s.tool == "" && slices.Contains(strings.FieldsFunc(s.usage, func(r rune) bool { return strings.ContainsRune(" []", r) }), "FILE")
}

// words are the values that an option may have; nil when they are not a few.
func (o option) words() []string {
	if !strings.Contains(o.value, "|") {
		return nil
	}
	return strings.Split(o.value, "|")
}

// file tells whether the option's value is a file.
func (o option) file() bool { return o.value == "FILE" || o.value == "PATH" }

package cli

import (
	"fmt"
	"io"
	"strings"
)

// Completion writes what completes Steward's command line in a shell: "bash",
// "zsh" or "fish". It is made of the same commands that run, so it cannot name
// another option than they take. The error is w's; another shell panics.
func Completion(w io.Writer, shell string) error {
	var b strings.Builder
	switch shell {
	case "bash":
		bash(&b)
	case "zsh":
		zsh(&b)
	case "fish":
		fish(&b)
	default:
		panic("cli: no completion for " + shell)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func names(of []subject) (all []string) {
	for _, s := range of {
		if s.tool != "" {
			all = append(all, s.tool)
		} else {
			all = append(all, s.name)
		}
	}
	return all
}

// single puts text in single quotes, as all three shells but fish read them.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func bash(b *strings.Builder) {
	all, tools := subjects()
	b.WriteString(`# Completes steward's commands in bash.

_steward() {
	local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local command=${COMP_WORDS[1]} words= files=
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
`)
	fmt.Fprintf(b, "\t\twords='%s help'\n\telse\n", strings.Join(names(all), " "))
	b.WriteString("\t\tif [ \"$command\" = call ] && [ \"$COMP_CWORD\" -gt 2 ]; then command=\"call ${COMP_WORDS[2]}\"; fi\n\t\tcase $command in\n")
	fmt.Fprintf(b, "\t\thelp) words='%s' ;;\n", strings.Join(names(all), " "))
	for _, s := range append(all, tools...) {
		label := s.name
		if s.tool != "" {
			label = `"call ` + s.tool + `"`
		}
		fmt.Fprintf(b, "\t\t%s)\n\t\t\tcase $previous in\n", label)
		var options, free []string
		for _, o := range s.options {
			options = append(options, "--"+o.name)
			switch {
			case o.value == "":
			case o.words() != nil:
				fmt.Fprintf(b, "\t\t\t--%s) words='%s' ;;\n", o.name, strings.Join(o.words(), " "))
			case o.file():
				fmt.Fprintf(b, "\t\t\t--%s) files=1 ;;\n", o.name)
			default:
				free = append(free, "--"+o.name)
			}
		}
		if len(free) > 0 {
			fmt.Fprintf(b, "\t\t\t%s) ;;\n", strings.Join(free, "|"))
		}
		if s.name == "call" && s.tool == "" {
			fmt.Fprintf(b, "\t\t\tcall) [ \"${current#-}\" = \"$current\" ] && words='%s' || words='%s --help' ;;\n", strings.Join(names(tools), " "), strings.Join(options, " "))
		}
		fmt.Fprintf(b, "\t\t\t*) words='%s --help'", strings.Join(options, " "))
		if s.takesFile() {
			b.WriteString(" files=1")
		}
		b.WriteString(" ;;\n\t\t\tesac\n\t\t\t;;\n")
	}
	b.WriteString(`		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "$current"))
	if [ -n "$files" ] && [ "${current#-}" = "$current" ]; then
		IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$current"))
		compopt -o filenames 2>/dev/null
	fi
}

complete -F _steward steward
`)
}

func zsh(b *strings.Builder) {
	all, tools := subjects()
	list := func(name string, of []subject) {
		fmt.Fprintf(b, "\tlocal -a %s=(\n", name)
		for _, s := range of {
			label, short := s.name, s.short
			if s.tool != "" {
				label, short = s.tool, firstSentence(s.text)
			}
			fmt.Fprintf(b, "\t\t%s\n", single(label+":"+short))
		}
		b.WriteString("\t)\n")
	}
	cases := func(of []subject) {
		for _, s := range of {
			label := s.name
			if s.tool != "" {
				label = s.tool
			}
			fmt.Fprintf(b, "\t\t%s)\n\t\t\t_arguments", label)
			for _, o := range s.options {
				fmt.Fprintf(b, " \\\n\t\t\t\t%s", single(zshOption(o)))
			}
			b.WriteString(" \\\n\t\t\t\t'--help[say more]'")
			if s.takesFile() {
				b.WriteString(" \\\n\t\t\t\t'*:FILE:_files'")
			}
			b.WriteString("\n\t\t\t;;\n")
		}
	}
	b.WriteString("#compdef steward\n# Completes steward's commands in zsh.\n\n_steward() {\n")
	list("commands", all)
	list("tools", tools)
	b.WriteString(`	if (( CURRENT == 2 )); then
		commands+=('help:say more about a command')
		_describe -t commands command commands
		return
	fi
	shift words
	(( CURRENT-- ))
	if [[ $words[1] == help ]]; then
		(( CURRENT == 2 )) && _describe -t commands command commands
		return
	fi
	if [[ $words[1] == call ]]; then
		if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
			_describe -t tools tool tools
			return
		fi
		case $words[2] in
`)
	cases(tools)
	b.WriteString("\t\t*)\n\t\t\t_arguments '--json[print one line of JSON, for programs]' '--help[say more]'\n\t\t\t;;\n\t\tesac\n\t\treturn\n\tfi\n\tcase $words[1] in\n")
	var plain []subject
	for _, s := range all {
		if s.name != "call" {
			plain = append(plain, s)
		}
	}
	cases(plain)
	b.WriteString("\tesac\n}\n\n_steward \"$@\"\n")
}

// zshOption is an option as _arguments takes it.
func zshOption(o option) string {
	escape := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace
	spec := "--" + o.name + "[" + escape(firstSentence(o.help)) + "]"
	if o.repeat {
		spec = "*" + spec
	}
	switch {
	case o.value == "":
		return spec
	case o.words() != nil:
		return spec + ":" + o.name + ":(" + strings.Join(o.words(), " ") + ")"
	case o.file():
		return spec + ":" + o.value + ":_files"
	}
	return spec + ":" + escape(o.value) + ": "
}

func fish(b *strings.Builder) {
	all, tools := subjects()
	quoted := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	b.WriteString(`# Completes steward's commands in fish.

# __steward_at COMMAND [TOOL]: whether the words before the cursor begin so.
function __steward_at
	set -l words (commandline -opc)
	test (count $words) -gt (count $argv); or return 1
	for i in (seq (count $argv))
		test $words[(math $i + 1)] = $argv[$i]; or return 1
	end
end

# __steward_after N: whether N words stand before the cursor.
function __steward_after
	test (count (commandline -opc)) -eq $argv[1]
end

complete -c steward -f
`)
	for _, s := range all {
		fmt.Fprintf(b, "complete -c steward -n '__steward_after 1' -a %s -d %s\n", s.name, quoted(s.short))
	}
	b.WriteString("complete -c steward -n '__steward_after 1' -a help -d 'say more about a command'\n")
	fmt.Fprintf(b, "complete -c steward -n '__steward_after 2; and __steward_at help' -a '%s'\n", strings.Join(names(all), " "))
	for _, s := range tools {
		fmt.Fprintf(b, "complete -c steward -n '__steward_after 2; and __steward_at call' -a %s -d %s\n", s.tool, quoted(firstSentence(s.text)))
	}
	for _, s := range append(all, tools...) {
		at := "__steward_at " + s.name
		if s.tool != "" {
			at += " " + s.tool
		}
		for _, o := range s.options {
			fmt.Fprintf(b, "complete -c steward -n '%s' -l %s", at, o.name)
			switch {
			case o.value == "":
			case o.words() != nil:
				fmt.Fprintf(b, " -x -a '%s'", strings.Join(o.words(), " "))
			case o.file():
				b.WriteString(" -r -F")
			default:
				b.WriteString(" -x")
			}
			fmt.Fprintf(b, " -d %s\n", quoted(firstSentence(o.help)))
		}
		fmt.Fprintf(b, "complete -c steward -n '%s' -l help -d 'say more'\n", at)
		if s.takesFile() {
			fmt.Fprintf(b, "complete -c steward -n '%s' -F\n", at)
		}
	}
}

// firstSentence is what a menu of completions has room for.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.TrimPrefix(text, "required. ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ".")
}

package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"steward/app/daemon"
)

// Manual writes the page steward(1) for man, in roff. It is made of the same
// commands, tools and settings that run. at is the day it stands for: a release
// gives its commit's, so that two builds make one page. The error is w's.
func Manual(w io.Writer, at time.Time) error {
	all, tools := subjects()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH STEWARD 1 %s %s \"User Commands\"\n", roffWord(at.UTC().Format(time.DateOnly)), roffWord("Steward "+version))
	b.WriteString(".nh\n.ad l\n")
	b.WriteString(".SH NAME\nsteward, steward\\-desktop \\- a durable record of what your agents report, and the work they hand over\n")
	b.WriteString(".SH SYNOPSIS\n.B steward\n.I COMMAND\n.RI [ arguments ]\n.br\n.B steward\\-desktop\n")
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, about+"\n\nThe program `steward-desktop` shows a window when it is started without a command,\n"+
		"and takes the same commands. Every command says more with `--help`.")
	b.WriteString(".SH COMMANDS\n")
	for _, s := range all {
		section(&b, s.line(), s)
	}
	b.WriteString(".SH TOOLS\n")
	paragraphs(&b, "What `steward call` calls. Each field is an option, whose name may be written with dashes or underscores.")
	for _, s := range tools {
		section(&b, s.line(), s)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range exitCodes {
		item(&b, strconv.Itoa(c.code), c.means)
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, s := range daemon.Known() {
		if s.Var == "" {
			continue
		}
		text := s.Meaning.English + ". Default: " + s.Default.English + "."
		if s.Older != "" {
			text += " Its older name is " + s.Older + "."
		}
		item(&b, s.Var, text)
	}
	b.WriteString(".SH FILES\n")
	paragraphs(&b, "Everything is in the state folder, which `steward doctor` names. In its config.json every key may be left out:")
	for _, s := range daemon.Known() {
		if s.Key != "" {
			item(&b, s.Key, s.Meaning.English+". Default: "+s.Default.English+".")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title string, s subject) {
	fmt.Fprintf(b, ".SS %s\n", roffWord(title))
	paragraphs(b, s.text)
	for _, o := range s.options {
		item(b, strings.TrimSpace("--"+o.name+" "+o.value), o.help)
	}
	if s.tool == "" && len(s.examples) > 0 {
		b.WriteString(".PP\nExamples:\n.PP\n.nf\n.RS 4\n")
		for _, e := range s.examples {
			b.WriteString(roffLine(roff(e)) + "\n")
		}
		b.WriteString(".RE\n.fi\n")
	}
}

func item(b *strings.Builder, name, text string) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roffWord(name), roffLine(marked(strings.Join(strings.Fields(text), " "))))
}

// paragraphs writes text whose paragraphs are parted by empty lines.
func paragraphs(b *strings.Builder, text string) {
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		b.WriteString(".PP\n")
		for _, line := range strings.Split(marked(p), "\n") {
			b.WriteString(roffLine(line) + "\n")
		}
	}
}

// marked is text for roff with what stands between backquotes in bold.
func marked(text string) string {
	parts := strings.Split(text, "`")
	for i, p := range parts {
		if parts[i] = roff(p); i%2 == 1 {
			parts[i] = `\fB` + parts[i] + `\fR`
		}
	}
	return strings.Join(parts, "")
}

// roff is text as roff prints it as it is.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// roffWord is text as one argument of a macro.
func roffWord(text string) string {
	return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"`
}

// roffLine keeps a line of text from being read as a request.
func roffLine(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

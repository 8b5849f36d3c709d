package cli

import (
	"fmt"
	"io"
	"strings"
)

const about = "Steward keeps one durable record of what your agents and scripts report,\nand the work they hand to each other."

// overview lists the commands.
func overview(w io.Writer) error {
	var b strings.Builder
	b.WriteString(about + "\n\nUsage: steward COMMAND [arguments]\n\n")
	var rows [][]string
	for _, c := range commands() {
		rows = append(rows, []string{c.name, c.short})
	}
	if err := table(&b, "  ", rows); err != nil {
		return err
	}
	b.WriteString(`
steward COMMAND --help says more and has examples. Every command takes --json.

Start here:
  steward emit "hello" --actor me     # the first receipt; starts the service
  steward status                      # what is going on

`)
	codes := make([]string, len(exitCodes))
	for i, c := range exitCodes {
		codes[i] = fmt.Sprintf("%d %s", c.code, c.means)
	}
	b.WriteString(wrap("Exit codes: "+strings.Join(codes, ", ")+".") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// manual is the page of one command.
func manual(w io.Writer, c *command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: steward %s\n\n%s\n", c.line(), wrap(strings.TrimSpace(c.text)))
	b.WriteString("\nOptions:\n")
	var rows [][]string
	for _, o := range c.options {
		rows = append(rows, []string{strings.TrimSpace("--" + o.name + " " + o.value), o.help})
	}
	if err := table(&b, "  ", rows); err != nil {
		return err
	}
	if len(c.examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range c.examples {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks lines of more than 80 characters between words.
func wrap(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for columns(line) > 80 {
			at := strings.LastIndexByte(line[:min(80, len(line))], ' ')
			if at <= 0 {
				break
			}
			out, line = append(out, line[:at]), line[at+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/app/daemon"
)

func manualPage(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := Manual(&b, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func completionFor(t *testing.T, shell string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Completion(&b, shell); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestManualHasEverything(t *testing.T) {
	page := manualPage(t)
	all, tools := subjects()
	if len(all) != len(commands()) || len(tools) != len(shellOps()) || len(tools) == 0 {
		t.Fatalf("%d commands and %d tools", len(all), len(tools))
	}
	for _, s := range append(all, tools...) {
		_, section, found := strings.Cut(page, ".SS "+roffWord(s.line())+"\n")
		if !found {
			t.Errorf("no section %s", s.line())
			continue
		}
		section, _, _ = strings.Cut(section, "\n.S")
		for _, o := range s.options {
			if !strings.Contains(section, "\n.B "+roffWord(strings.TrimSpace("--"+o.name+" "+o.value))+"\n") {
				t.Errorf("%s: no --%s", s.line(), o.name)
			}
		}
		if !strings.Contains(section, "\n.B \"\\-\\-json\"\n") {
			t.Errorf("%s: no --json", s.line())
		}
	}
	for _, s := range daemon.Known() {
		if s.Var != "" && !strings.Contains(page, "\n.B "+roffWord(s.Var)+"\n") || s.Key != "" && !strings.Contains(page, "\n.B "+roffWord(s.Key)+"\n") {
			t.Errorf("no setting %s %s", s.Var, s.Key)
		}
	}
	for _, c := range exitCodes {
		if !strings.Contains(page, fmt.Sprintf("\n.B \"%d\"\n%s\n", c.code, c.means)) {
			t.Errorf("no exit code %d", c.code)
		}
	}
	if again := manualPage(t); again != page {
		t.Error("another page of the same day")
	}
}

// Text that roff would read as a request, or change, is printed as it is.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		"--json":     `\-\-json`,
		`a\b 'c' ^~`: `a\eb \(aqc\(aq \(ha\(ti`,
		"…":          `\[u2026]`,
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q; want %q", in, got, want)
		}
	}
	if got, want := roffLine(marked(".a `b` 'c'")), `\&.a \fBb\fR \(aqc\(aq`; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got, want := roffWord(`a "b"`), `"a \(dqb\(dq"`; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestManualIsRight asks groff whether the page is written as it should be.
func TestManualIsRight(t *testing.T) {
	groff := program(t, "groff")
	file := filepath.Join(t.TempDir(), "steward.1")
	if err := os.WriteFile(file, []byte(manualPage(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

// program is the path of a program of the system's. Without it the test is
// skipped, but not where STEWARD_SHELLS=all says that it must be there.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err != nil && os.Getenv("STEWARD_SHELLS") == "all":
		t.Fatal(err)
	case err != nil:
		t.Skipf("%s is not here", name)
	}
	return path
}

// completed asks a shell what it would offer for each of the lines, by the
// program in ask, which prints the offers of one line and then a line "==".
func completed(t *testing.T, shell string, lines []string, program func(file, line string) string, args ...string) [][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(file, []byte(completionFor(t, filepath.Base(shell))), 0o600); err != nil {
		t.Fatal(err)
	}
	var ask strings.Builder
	for _, line := range lines {
		ask.WriteString(program(file, line) + "\necho '=='\n")
	}
	cmd := exec.Command(shell, append(args, "-c", ask.String())...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir())
	if err := os.WriteFile(filepath.Join(cmd.Dir, "some file.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%s: %v\n%s", shell, err, errs.String())
	}
	var offers [][]string
	for _, part := range strings.Split(strings.TrimSuffix(string(out), "==\n"), "==\n") {
		offers = append(offers, strings.Split(strings.TrimSuffix(part, "\n"), "\n"))
	}
	if len(offers) != len(lines) {
		t.Fatalf("%s: %d answers to %d lines:\n%s", shell, len(offers), len(lines), out)
	}
	return offers
}

// offersEverything holds a shell to the table of commands. The offers are words,
// perhaps with a description behind a tab, or in zsh specifications.
func offersEverything(t *testing.T, shell string, ask func(file, line string) string, word func(string) string, args ...string) {
	all, tools := subjects()
	lines, want := []string{"steward "}, [][]string{append(names(all), "help")}
	add := func(line string, words ...string) { lines, want = append(lines, line), append(want, words) }
	add("steward call ", names(tools)...)
	add("steward help ", names(all)...)
	for _, s := range append(all, tools...) {
		at := "steward " + s.name
		if s.tool != "" {
			at += " " + s.tool
		}
		words := []string{"--help"}
		for _, o := range s.options {
			words = append(words, "--"+o.name)
		}
		add(at+" --", words...)
	}
	for i, offers := range completed(t, shell, lines, ask, args...) {
		got := map[string]bool{}
		for _, o := range offers {
			got[word(o)] = true
		}
		for _, w := range want[i] {
			if !got[w] {
				t.Errorf("%q: no %s among %q", lines[i], w, offers)
			}
			delete(got, w)
		}
		for w := range got {
			t.Errorf("%q: %s is offered and is not there", lines[i], w)
		}
	}
}

func TestBash(t *testing.T) {
	bash := program(t, "bash")
	ask := func(file, line string) string {
		words := strings.Split(line, " ")
		return fmt.Sprintf("source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _steward; printf '%%s\\n' \"${COMPREPLY[@]}\"",
			file, `"`+strings.Join(words, `" "`)+`"`, len(words)-1)
	}
	offersEverything(t, bash, ask, func(w string) string { return w }, "--norc")
	lines := []string{"steward emit x --injectable ", "steward verify so", "steward export --output so", "steward serve --listen ", "steward do"}
	for i, want := range []string{"true false", "some file.db", "some file.db", "", "doctor"} {
		if got := strings.Join(completed(t, bash, lines, ask, "--norc")[i], " "); got != want {
			t.Errorf("%s: %q; want %q", lines[i], got, want)
		}
	}
}

func TestFish(t *testing.T) {
	fish := program(t, "fish")
	ask := func(file, line string) string { return fmt.Sprintf("source %s; complete -C %s", file, single(line)) }
	word := func(w string) string { w, _, _ = strings.Cut(w, "\t"); return w }
	offersEverything(t, fish, ask, word, "--no-config")
	lines := []string{"steward emit x --injectable ", "steward verify so", "steward export --output so", "steward do"}
	for i, want := range []string{"false true", "some file.db", "some file.db", "doctor"} {
		var got []string
		for _, w := range completed(t, fish, lines, ask, "--no-config")[i] {
			got = append(got, strings.ReplaceAll(word(w), `\ `, " "))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q; want %q", lines[i], got, want)
		}
	}
}

func TestZsh(t *testing.T) {
	zsh := program(t, "zsh")
	// The file is run as zsh runs it for a line; what it hands to zsh's own two
	// functions is printed.
	ask := func(file, line string) string {
		words := strings.Split(line, " ")
		return fmt.Sprintf(`_arguments() { print -rl -- "$@" }; _describe() { print -rl -- "${(@P)4}" }
() { local -a words=(%s); local CURRENT=%d PREFIX=%s; source %s }`,
			`"`+strings.Join(words, `" "`)+`"`, len(words), single(words[len(words)-1]), file)
	}
	word := func(w string) string {
		w = strings.TrimPrefix(w, "*")
		if i := strings.IndexAny(w, "[:"); i > 0 {
			return w[:i]
		}
		return ""
	}
	lines := []string{"steward verify "}
	if got := completed(t, zsh, lines, ask, "-f")[0]; got[len(got)-1] != "*:FILE:_files" {
		t.Errorf("verify offers no files: %q", got)
	}
	offersEverything(t, zsh, ask, func(w string) string {
		if w == "*:FILE:_files" {
			return "--help" // files, and no word
		}
		return word(w)
	}, "-f")

	// And once with all that zsh has, at a terminal.
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "_steward"), []byte(completionFor(t, "zsh")), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/dump; steward() { print GOT \$* }; print READY"
while zpty -r shell line; do [[ $line == READY* ]] && break; done
zpty -w -n shell $'steward doc\t'
zpty -w -n shell $'--js\t\nprint DONE\n'
while zpty -r shell line; do print -r -- "$line"; [[ $line == DONE* ]] && break; done
zpty -d shell`
	cmd := exec.Command(zsh, "-f", "-c", script, "zsh", folder)
	cmd.Env = append(os.Environ(), "HOME="+folder, "TERM=dumb", "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "GOT doctor --json") {
		t.Errorf("steward doc<tab>--js<tab>: %v\n%s", err, out)
	}
}

package daemon

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"steward/mcp/ops"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func secretsIn(dir string) Paths {
	return Paths{Home: dir, Token: filepath.Join(dir, "token"), AgentToken: filepath.Join(dir, "agent-token")}
}

func TestTokensAreMadeOnce(t *testing.T) {
	p := secretsIn(t.TempDir())
	first, err := p.tokens(nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	if len(first.owner) != 43 || len(first.agent) != 43 || first.owner == first.agent || first.ownerAt != p.Token || first.agentAt != p.AgentToken {
		t.Errorf("tokens of %d and %d characters at %s and %s", len(first.owner), len(first.agent), first.ownerAt, first.agentAt)
	}
	for _, file := range []string{p.Token, p.AgentToken} {
		if fi, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", file, fi, err)
		}
		if there, problem := CheckToken(file); !there || problem != nil {
			t.Errorf("%s: there %v, %v", file, there, problem)
		}
	}
	if again, err := p.tokens(nil, quiet()); err != nil || again != first {
		t.Errorf("the second time: %v, or others than the first time", err)
	}
	if files, err := os.ReadDir(p.Home); err != nil || len(files) != 2 {
		t.Errorf("%v, %v; want two files", files, err)
	}
}

func TestVariablesComeBeforeTokenFiles(t *testing.T) {
	p := secretsIn(t.TempDir())
	got, err := p.tokens(Env{"READYROOM_TOKEN": " a b ", "STEWARD_AGENT_TOKEN": "x"}, quiet())
	if err != nil || got.owner != "a b" || got.ownerAt != "READYROOM_TOKEN" || got.agent != "x" || got.agentAt != "STEWARD_AGENT_TOKEN" {
		t.Errorf("%+v, %v", got, err)
	}
	if files, _ := os.ReadDir(p.Home); len(files) != 0 {
		t.Errorf("%v was made, though nobody needs it", files)
	}
	_, err = p.tokens(Env{"STEWARD_TOKEN": "same", "STEWARD_AGENT_TOKEN": "same"}, quiet())
	if ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "are the same") || strings.Contains(err.Error(), "same)") {
		t.Errorf("two that are one: %v", err)
	}
}

func TestTokenFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(file string) error
		err   string // why it cannot be used; "" = it can
		value string // "" = a new one
	}{
		{"a person's own", func(f string) error { return os.WriteFile(f, []byte("my-own\r\n"), 0o600) }, "", "my-own"},
		{"empty", func(f string) error { return os.WriteFile(f, nil, 0o600) }, "", ""},
		{"blank", func(f string) error { return os.WriteFile(f, []byte(" \n\n"), 0o600) }, "", ""},
		{"two words", func(f string) error { return os.WriteFile(f, []byte("two words"), 0o600) }, "not one word", ""},
		{"no text", func(f string) error { return os.WriteFile(f, []byte("a\x00b"), 0o600) }, "not one word", ""},
		{"a picture", func(f string) error { return os.WriteFile(f, bytes.Repeat([]byte("x"), 5000), 0o600) }, "at most 1024", ""},
		{"a folder", func(f string) error { return os.Mkdir(f, 0o700) }, "no plain file", ""},
		{"a link", func(f string) error { return os.Symlink(f+"elsewhere", f) }, "no plain file", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := secretsIn(t.TempDir())
			if err := c.make(p.Token); err != nil {
				t.Fatal(err)
			}
			got, err := p.tokens(nil, quiet())
			if c.err != "" {
				if ops.CodeOf(err) != ops.Unavailable || !strings.Contains(err.Error(), p.Token) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v; want it to name the file and %q", err, c.err)
				}
				if there, problem := CheckToken(p.Token); !there || problem == nil || !strings.Contains(problem.Error(), c.err) {
					t.Errorf("checked: %v, %v", there, problem)
				}
				return
			}
			if err != nil || c.value != "" && got.owner != c.value || c.value == "" && len(got.owner) != 43 {
				t.Errorf("a token of %d characters, %v", len(got.owner), err)
			}
		})
	}
}

func TestLooseTokenIsRepaired(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the folder says who can read")
	}
	p := secretsIn(t.TempDir())
	write(t, p.Token, []byte("my-own"))
	if err := os.Chmod(p.Token, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, problem := CheckToken(p.Token); problem == nil || problem.Error() != "others can read it" {
		t.Errorf("checked: %v", problem)
	}
	var log bytes.Buffer
	got, err := p.tokens(nil, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || got.owner != "my-own" {
		t.Fatal(err)
	}
	if fi, err := os.Stat(p.Token); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", fi.Mode(), err)
	}
	if !strings.Contains(log.String(), "others could read a token") || strings.Contains(log.String(), "my-own") {
		t.Errorf("logged %s", log.String())
	}
}

// Two services with one state folder and two ledgers make one token.
func TestTokenIsMadeOnceByMany(t *testing.T) {
	p := secretsIn(t.TempDir())
	var all sync.WaitGroup
	got := make([]tokens, 8)
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = p.tokens(nil, quiet()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, g := range got {
		if g != got[0] {
			t.Fatal("not all found the same tokens")
		}
	}
	if there, problem := CheckToken(p.Home + "/none"); there || problem != nil {
		t.Errorf("none: %v, %v", there, problem)
	}
	if _, err := (Paths{Token: filepath.Join(p.Home, "no", "token")}).tokens(nil, quiet()); err == nil || strings.Contains(err.Error(), fs.ErrInvalid.Error()) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

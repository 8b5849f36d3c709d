package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"steward/ledger"
)

// version is set by the linker: -ldflags "-X steward/app/cli.version=1.2.3". So is
// commit where packages are made: what the go command writes down of the tree by
// itself differs between a clone, a worktree and an unpacked archive.
var (
	version = "0.1.0-dev"
	commit  string
)

// Version returns the version of this program.
func Version() string { return version }

// build is what is known of how this program was made.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	At       string `json:"commit_at,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the tree held uncommitted changes
	Schema   int    `json:"schema"`             // newest ledger schema it knows
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: version, Commit: commit, Schema: ledger.SchemaVersion, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.At = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}

func (b build) String() string {
	extra := ""
	if b.Commit != "" {
		extra = b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			extra += ", modified"
		}
		extra = " (" + extra + ")"
	}
	return fmt.Sprintf("steward %s%s, schema %d, %s %s/%s", b.Version, extra, b.Schema, b.Go, b.OS, b.Arch)
}

func versionCommand() *command {
	return &command{
		name:     "version",
		short:    "print the version",
		text:     "Prints this program's version, the newest ledger schema it knows and how it was built.",
		examples: []string{"steward version", "steward version --json"},
		run: func(s *session, _ input) error {
			return s.print(thisBuild(), func(w *strings.Builder) { fmt.Fprintln(w, thisBuild()) })
		},
	}
}

// print writes v as one line of JSON for a program, else what text writes for
// a person.
func (s *session) print(v any, text func(*strings.Builder)) error {
	if s.json {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return s.write(append(visibleJSON(b), '\n'))
	}
	var b strings.Builder
	text(&b)
	return s.write([]byte(b.String()))
}

func (s *session) write(b []byte) error {
	if _, err := s.stdout.Write(b); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

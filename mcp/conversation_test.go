package mcp

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"steward/mcp/local"
)

var rewrite = flag.Bool("update", false, "rewrite what testdata expects")

// TestConversations holds the conversations in testdata with a real socket.
// Their sections:
//
//	hello    Steward lines instead of the usual hello, sent as they are
//	send     lines for the server; go "…" is a quoted Go string, for bytes a text file cannot hold
//	expect   lines that must come, in this order and byte for byte; requests that
//	         reach an operation run at once, so they are sent one by one
//	close    the server ends the connection here
//
// A conversation without close ends with a ping, whose answer must be the next
// line: what should be silent was. In sent lines ${hnd} is the handoff id seen
// last; in received ones every such id reads hnd_*, and the texts of settled theirs.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			converse(t, a)
			if *rewrite {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var handoffID = regexp.MustCompile(`hnd_[0-9A-HJKMNP-TV-Z]{26}`)

// settled stands in for what other packages may word anew.
var settled = strings.NewReplacer(
	string(appendString(nil, local.Instructions)), `"(instructions)"`,
	`"tools":"`+local.Digest()+`"`, `"tools":"(digest)"`)

func converse(t *testing.T, a *txtar.Archive) {
	f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.OnYield = func(y local.Yield) (bool, string) { return false, "older" }
		cfg.Info = func() local.Info { return local.Info{PID: 7, Role: "auto", Version: "1.2.3"} }
	})
	f.socket.Ready(f.server)
	var c *client
	if len(a.Files) > 0 && a.Files[0].Name == "hello" {
		c = f.dial(t)
	} else {
		c = f.hello(t, local.Hello{ID: "01JDZ0000000000000000BRDG0", Stream: "api", Client: "codex 0.50"})
	}
	lastID, closed := "", false
	for i := range a.Files {
		section := &a.Files[i]
		switch section.Name {
		case "hello", "send":
			for line := range strings.SplitSeq(strings.TrimSuffix(string(section.Data), "\n"), "\n") {
				if quoted, ok := strings.CutPrefix(line, "go "); ok {
					var err error
					if line, err = strconv.Unquote(quoted); err != nil {
						t.Fatalf("%s: %v", quoted, err)
					}
				}
				c.send(strings.ReplaceAll(line, "${hnd}", lastID))
			}
		case "expect":
			var got bytes.Buffer
			for range bytes.Count(section.Data, []byte("\n")) {
				line := c.next()
				if id := handoffID.FindString(line); id != "" {
					lastID = id
				}
				got.WriteString(settled.Replace(handoffID.ReplaceAllString(line, "hnd_*")) + "\n")
			}
			if *rewrite {
				section.Data = got.Bytes()
			} else if got.String() != string(section.Data) {
				t.Fatalf("section %d\n got %s\nwant %s", i+1, got.Bytes(), section.Data)
			}
		case "close":
			if b, err := io.ReadAll(c.r); len(b) > 0 || err != nil && !connectionReset(err) {
				t.Fatalf("section %d: want the end of the connection, got %q, %v", i+1, b, err)
			}
			closed = true
		default:
			t.Fatalf("section %q", section.Name)
		}
	}
	if !closed {
		c.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		if got := c.next(); got != `{"jsonrpc":"2.0","id":"last","result":{}}` {
			t.Fatalf("after the conversation: got %s", got)
		}
	}
}

// connectionReset tells whether the other side closed before it had read all:
// some systems report that instead of the end.
func connectionReset(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset")
}

package local

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Who the server says it is, in both protocol eras and on every transport.
const (
	ServerName  = "steward"
	ServerTitle = "Steward"
)

// Instructions is the text clients show to the model before the first call.
// Older clients cut it at 2 048 characters.
const Instructions = `Steward keeps one durable record of what happens across this person's workspaces, and the work handed from one to another.

When a piece of work ends, call report_done: actor is who did it, outcome one line that stands alone, object_id what it was about. When it failed, send type "failed"; a later report with type "done" for the same actor and object_id clears it. For steps in between use type "progress".
When you begin, or are asked what is going on, call situation_report; pass its last_injected_event_id back as since_id to see only what is new. recent_events reads the record itself.
To give work to another workspace call handoff_create with an idempotency_key that names this piece of work: repeating the call never makes two. To take work, handoff_list with status "pending", then handoff_claim, work, handoff_finish with the fence the claim returned. claimed:false means another has it: leave it alone.
focus_change says what the person is looking at. app_command only checks a command; it moves nothing.

Report pointers (a path, a number, one sentence), never transcripts or file contents. An answer with spooled:true is safely on disk and enters the record when the service is back: do not send it again. An error says what to do next; "unavailable" means nobody answered.`

// definitions is the result object of tools/list, made from the operations by
// `go run ./mcp/ops/gen`.
//
//go:embed tools.gen.json
var definitions []byte

// Definitions returns the embedded result object of tools/list,
// {"tools":[…]}. The caller must not change it.
func Definitions() []byte { return definitions }

// Digest identifies the embedded definitions: 16 hexadecimal digits of their
// SHA-256. Bridge and service tell each other theirs.
func Digest() string { return digest() }

var digest = sync.OnceValue(func() string {
	sum := sha256.Sum256(compactDefinitions())
	return hex.EncodeToString(sum[:8])
})

// compactDefinitions is the definitions on one line, as the wire needs them.
var compactDefinitions = sync.OnceValue(func() []byte {
	if bytes.IndexByte(bytes.TrimSpace(definitions), '\n') < 0 {
		return bytes.TrimSpace(definitions)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, definitions); err != nil {
		// Only a binary built from a broken file gets here, and its tests fail.
		panic(fmt.Sprintf("tools.gen.json: %v", err))
	}
	return b.Bytes()
})

// appending is the set of tools that change something and therefore carry a
// stamp: every tool whose annotations do not say readOnlyHint, but for waits,
// whose arguments change when they are issued again.
var appending = sync.OnceValue(func() map[string]bool {
	var list struct {
		Tools []struct {
			Name        string `json:"name"`
			Annotations struct {
				ReadOnly bool `json:"readOnlyHint"`
			} `json:"annotations"`
		} `json:"tools"`
	}
	set := make(map[string]bool)
	if err := json.Unmarshal(definitions, &list); err != nil {
		panic(fmt.Sprintf("tools.gen.json: %v", err))
	}
	for _, t := range list.Tools {
		if _, waits := waitOf(t.Name); !waits && !t.Annotations.ReadOnly {
			set[t.Name] = true
		}
	}
	return set
})

// Appends reports whether a call of the tool carries a stamp.
func Appends(tool string) bool { return appending()[tool] }

// spools reports whether a call of the tool is kept on disk when nobody
// answers: those that only tell something, and whose answer nobody needs.
func spools(tool string) bool { return tool == "report_done" || tool == "focus_change" }

// A waiting describes a tool that answers when something happens or its time
// is up.
type waiting struct {
	argument string        // the argument that holds the time
	unit     time.Duration // what one of it is
}

// Times of a wait: how long it takes if the caller does not say, how long it
// may take without a progress token, how long at most.
const (
	waitDefault = 50 * time.Second
	waitPlain   = 50 * time.Second
	waitMost    = 600 * time.Second
)

func waitOf(tool string) (waiting, bool) {
	switch tool {
	case "wait_for_answer":
		return waiting{"timeout_seconds", time.Second}, true
	case "wait_task":
		return waiting{"timeout_ms", time.Millisecond}, true
	}
	return waiting{}, false
}

package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

const (
	// MaxLine is the greatest length of one of Steward's own lines in bytes,
	// the line feed included.
	MaxLine = 4096
	// MaxMessage is the greatest length of one JSON-RPC line in bytes, without
	// its line end.
	MaxMessage = 8 << 20
	// HelloTimeout is how long each side waits for the other's next line
	// before the connection is serving.
	HelloTimeout = 2 * time.Second
	// Slots is how many appending calls one bridge can have unanswered.
	Slots = 32
	// StampKey is the member of params._meta that carries a call's stamp.
	StampKey = "steward/stamp"
)

// The roles a hello can name.
const (
	RoleBridge = "bridge" // an agent's stdio bridge
	RoleShell  = "shell"  // a command a person or a script typed
	RoleWindow = "window" // a window whose process does not own the ledger; needs a Proof
)

// The states a welcome can name.
const (
	StateOpening = "opening" // the ledger is being opened; another welcome follows
	StateServing = "serving" // MCP lines may follow
)

// The codes of a refusal that a bridge takes for final. Any other code means:
// not now, dial again.
const (
	RefusedVersion   = "version"   // the ledger or the protocol is newer than this binary
	RefusedCorrupt   = "corrupt"   // the ledger is damaged
	RefusedLedger    = "ledger"    // this service owns another ledger
	RefusedForbidden = "forbidden" // another user's service
)

// Hello is the first line of a bridge, a shell command or a window.
type Hello struct {
	Role      string `json:"role"`                // RoleBridge, RoleShell or RoleWindow
	ID        string `json:"id"`                  // a ULID, new for each process: the owner of the slots
	Version   string `json:"version"`             // of the binary
	Schema    int    `json:"schema,omitempty"`    // highest ledger schema the binary knows
	PID       int    `json:"pid,omitempty"`       // for doctor
	Ledger    string `json:"ledger,omitempty"`    // hash of the ledger's real path; "" takes any
	Workspace string `json:"workspace,omitempty"` // working folder, for doctor and the log
	Stream    string `json:"stream,omitempty"`    // the caller's workspace, see StreamName
	Client    string `json:"client,omitempty"`    // "name version" of the MCP client, when known
	Era       string `json:"era,omitempty"`       // protocol revision the client speaks, when known
	Tools     string `json:"tools,omitempty"`     // Digest of the embedded definitions
	Proof     string `json:"proof,omitempty"`     // of a window: what the token file of the state folder holds
}

// Welcome answers a hello. In state opening, Done goes from 0 to 1 and another
// welcome follows within 500 ms; the other fields come with state serving.
type Welcome struct {
	State   string  `json:"state"`
	Done    float64 `json:"done,omitempty"`
	Version string  `json:"version,omitempty"`
	Schema  int     `json:"schema,omitempty"`
	Tools   string  `json:"tools,omitempty"`
	Slots   int     `json:"slots,omitempty"`
}

// Refused ends a connection whose hello was not accepted. Message says why and
// Hint what to do next, both for people.
type Refused struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error returns the message and the hint.
func (r *Refused) Error() string {
	if r.Hint == "" {
		return r.Message
	}
	return r.Message + " (" + r.Hint + ")"
}

// final reports whether dialling again cannot help.
func (r *Refused) final() bool {
	switch r.Code {
	case RefusedVersion, RefusedCorrupt, RefusedLedger, RefusedForbidden:
		return true
	}
	return false
}

// Yield, as a first line, asks the service to hand its ledger over to the
// asker. The answer is yielding and then the end of the connection, or kept
// with the reason.
type Yield struct {
	Role    string `json:"role"`
	Version string `json:"version"`
	Schema  int    `json:"schema"`
}

// ClientInfo names the MCP client behind a bridge. It may come at any time
// after the welcome.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Era     string `json:"era,omitempty"`
}

// Stop, as a first line, asks the service to answer what is running and exit.
type Stop struct {
	PID    int    `json:"pid,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// SignIn, as a first line, asks the service for a link with which a browser signs
// in as the person. The answer is a Link, or refused.
type SignIn struct {
	PID   int    `json:"pid,omitempty"`
	Proof string `json:"proof"` // what the token file of the state folder holds
}

// Link opens the service's page in a browser, signed in; once, and soon.
type Link struct {
	URL string `json:"url"`
}

// Info is what a service says about itself to doctor. As a first line, empty,
// it is the question.
type Info struct {
	PID         int    `json:"pid,omitempty"`
	Role        string `json:"role,omitempty"`
	Version     string `json:"version,omitempty"`
	Schema      int    `json:"schema,omitempty"`
	State       string `json:"state,omitempty"`  // opening, serving, refusing
	Ledger      string `json:"ledger,omitempty"` // hash of the ledger's real path
	Path        string `json:"path,omitempty"`   // the ledger file
	Since       string `json:"since,omitempty"`  // when it started, UTC
	Connections int    `json:"connections,omitempty"`
}

// Line is one of Steward's own lines. Exactly one member besides Steward is
// set.
type Line struct {
	Steward  int         `json:"steward"` // always 1
	Hello    *Hello      `json:"hello,omitempty"`
	Welcome  *Welcome    `json:"welcome,omitempty"`
	Refused  *Refused    `json:"refused,omitempty"`
	Yield    *Yield      `json:"yield,omitempty"`
	Yielding bool        `json:"yielding,omitempty"`
	Kept     string      `json:"kept,omitempty"` // older, busy or kept
	Client   *ClientInfo `json:"client,omitempty"`
	Stop     *Stop       `json:"stop,omitempty"`
	Stopping bool        `json:"stopping,omitempty"`
	SignIn   *SignIn     `json:"signin,omitempty"`
	Link     *Link       `json:"link,omitempty"`
	Info     *Info       `json:"info,omitempty"`
}

var (
	// ErrLineTooLong means a Steward line over MaxLine bytes.
	ErrLineTooLong = fmt.Errorf("steward line: at most %d bytes", MaxLine)
	// ErrNotSteward means a line that is not one of Steward's own.
	ErrNotSteward = errors.New(`steward line: not an object with "steward":1`)
)

var linePrefix = []byte(`{"steward":`)

// IsLine reports whether a received line is one of Steward's own. It looks at
// the first bytes only; WriteLine always writes them so.
func IsLine(b []byte) bool { return bytes.HasPrefix(b, linePrefix) }

// ParseLine decodes one of Steward's own lines, with or without its line end.
// Unknown members are ignored. The error is ErrLineTooLong, or wraps
// ErrNotSteward.
func ParseLine(b []byte) (Line, error) {
	if len(b) > MaxLine {
		return Line{}, ErrLineTooLong
	}
	var l Line
	if err := json.Unmarshal(b, &l); err != nil {
		return Line{}, fmt.Errorf("%w: %w", ErrNotSteward, err)
	}
	if l.Steward != 1 {
		return Line{}, ErrNotSteward
	}
	return l, nil
}

// ReadLine reads one of Steward's own lines. It never takes more than the line
// from r, so MCP lines may follow. The error is io.EOF if nothing came,
// ErrLineTooLong, one that wraps ErrNotSteward, or r's own.
func ReadLine(r *bufio.Reader) (Line, error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(buf)+len(part) > MaxLine {
			return Line{}, ErrLineTooLong
		}
		if err == nil && buf == nil {
			return ParseLine(part)
		}
		buf = append(buf, part...)
		switch {
		case err == nil:
			return ParseLine(buf)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(buf) > 0:
			return Line{}, io.ErrUnexpectedEOF
		default:
			return Line{}, err
		}
	}
}

// WriteLine writes l as one line in one call of w.Write. It sets l.Steward.
// The error is ErrLineTooLong or w's own.
func WriteLine(w io.Writer, l Line) error {
	b, err := encodeLine(l)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func encodeLine(l Line) ([]byte, error) {
	l.Steward = 1
	b, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("steward line: %w", err)
	}
	if len(b)+1 > MaxLine {
		return nil, ErrLineTooLong
	}
	return append(b, '\n'), nil
}

// Limits of what a hello repeats of its surroundings, so that no folder or client
// name can push the line over MaxLine even when JSON escapes all of it: six bytes
// for a byte of a path, or for a character of a name.
const (
	maxHelloWorkspace = 256 // bytes
	maxHelloName      = 128 // characters, as many as the ledger keeps
)

// fitted returns h with its free texts cut to fit into one line. Of a path the
// end is kept, of a name the beginning.
func (h Hello) fitted() Hello {
	h.Workspace = tail(h.Workspace, maxHelloWorkspace)
	h.Stream = characters(h.Stream, maxHelloName)
	h.Client = characters(h.Client, maxHelloName)
	h.Era = head(h.Era, 32)
	h.Version = head(h.Version, 64)
	return h
}

// characters returns the first n characters of s.
func characters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// head returns the longest prefix of s within n bytes that cuts no character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail is head for the end of s.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

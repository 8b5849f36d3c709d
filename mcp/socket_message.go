package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"steward/mcp/local"
)

// The error codes of JSON-RPC, and Steward's own in the range that is left to
// implementations. -32000 and -32001 are avoided: the TypeScript SDK uses them
// for a lost connection and a time-out. The bridge answers with the same ones.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeUnavailable    = -32010
	codeVersion        = -32011
	codeCorrupt        = -32012
)

const maxID = 1024 // bytes of a request's id as JSON

const (
	methodInitialize = "initialize"
	methodToolsCall  = "tools/call"
	methodCancelled  = "notifications/cancelled"
)

// Keys of params._meta.
const (
	metaProgress = "progressToken"
	metaVersion  = "io.modelcontextprotocol/protocolVersion"
	metaCaps     = "io.modelcontextprotocol/clientCapabilities"
)

type messageKind uint8

const (
	isRequest messageKind = iota
	isNotification
	isResponse // to a request this side never made
	isSteward  // a line of Steward's own, not JSON-RPC
)

// message is one line taken apart. Its parts are bytes of that line.
type message struct {
	kind   messageKind
	line   []byte
	id     []byte // raw JSON, as it came: numbers above 2^53 must come back unchanged
	method string
	params []byte // raw JSON; nil when absent
	call   toolCall
	broken bool // some byte of the line is not UTF-8
}

// toolCall is the params of a tools/call request.
type toolCall struct {
	name    string
	args    []byte // raw JSON; nil when absent or null
	token   []byte // raw JSON of the progress token; nil when absent
	stamp   []byte // raw JSON of the stamp; nil when absent
	version string // protocol version the request itself declares; "" before 2026-07-28
	caps    bool   // the request carries the client's capabilities
}

// fault is a refusal of a line: what becomes a JSON-RPC error response.
type fault struct {
	id   []byte // nil answers with a null id
	code int
	text string
}

// parse takes one line apart and checks the envelope. The line must not change
// while the message is in use.
func parse(line []byte) (message, *fault) {
	m := message{line: line}
	if !json.Valid(line) {
		return m, &fault{code: codeParse, text: "parse error: the message is not JSON"}
	}
	line = bytes.TrimLeft(line, " \t")
	if line[0] == '[' {
		return m, &fault{code: codeInvalidRequest, text: "batches are not supported: send one message at a time"}
	}
	if line[0] != '{' {
		return m, &fault{code: codeInvalidRequest, text: "a message is a JSON object"}
	}

	var version, method, result []byte
	seen := 0
	for o := (members{b: line}); o.next(); {
		var bit int
		switch string(o.key) {
		case "jsonrpc":
			bit, version = 1, o.value
		case "id":
			bit, m.id = 2, o.value
		case "method":
			bit, method = 4, o.value
		case "params":
			bit, m.params = 8, o.value
		case "result", "error":
			bit, result = 16, o.value
		case "steward":
			bit = 32
		}
		if seen&bit != 0 {
			return m, &fault{code: codeInvalidRequest, text: fmt.Sprintf("%s: given twice", o.key)}
		}
		seen |= bit
	}

	switch {
	case seen&(1|32) == 32:
		m.kind = isSteward
		return m, nil
	case method == nil && result != nil:
		m.kind = isResponse
		return m, nil
	case method != nil && m.id == nil:
		m.kind = isNotification
		if method[0] == '"' {
			m.method = string(unquote(method))
		}
		return m, nil
	}

	m.broken = !utf8.Valid(line)
	if bad := checkID(m.id); bad != "" {
		m.id = nil
		return m, &fault{code: codeInvalidRequest, text: bad}
	}
	switch {
	case string(version) != `"2.0"`:
		return m, &fault{m.id, codeInvalidRequest, `jsonrpc: must be "2.0"`}
	case method == nil:
		return m, &fault{m.id, codeInvalidRequest, "method: missing"}
	case method[0] != '"':
		return m, &fault{m.id, codeInvalidRequest, "method: must be a string"}
	case string(method) == `""`:
		return m, &fault{m.id, codeInvalidRequest, "method: must not be empty"}
	}
	m.method = string(unquote(method))
	if m.method == methodToolsCall {
		return m, m.parseCall()
	}
	if m.broken {
		return m, &fault{m.id, codeParse, "parse error: the message is not valid UTF-8"}
	}
	if m.params != nil && m.params[0] != '{' && m.params[0] != 'n' { // null is as good as none
		return m, &fault{m.id, codeInvalidParams, "params: must be an object"}
	}
	if m.params != nil && m.params[0] == '{' && strings.HasSuffix(m.method, "/list") {
		return m, m.checkCursor()
	}
	return m, nil
}

// checkCursor refuses a page that no answer has named: each list is one page. An
// empty cursor means the first one.
func (m *message) checkCursor() *fault {
	for o := (members{b: m.params}); o.next(); {
		if string(o.key) == "cursor" && string(o.value) != `""` && string(o.value) != "null" {
			return &fault{m.id, codeInvalidParams, "params.cursor: no answer has given this one; the list is one page, ask without a cursor"}
		}
	}
	return nil
}

// checkID says what is wrong with a request's id, "" when nothing is.
func checkID(id []byte) string {
	switch {
	case id == nil:
		return "a message has a method, a result or an error"
	case id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9'):
		return "id: must be a string or a number"
	case len(id) > maxID:
		return fmt.Sprintf("id: at most %d bytes; got %d", maxID, len(id))
	case !utf8.Valid(id):
		return "id: must be valid UTF-8"
	}
	if id[0] != '"' {
		if _, err := strconv.ParseFloat(string(id), 64); err != nil { // valid JSON, so it is too great
			return "id: a number that is finite; got " + string(id)
		}
	}
	return ""
}

// parseCall fills m.call from m.params.
func (m *message) parseCall() *fault {
	invalid := func(text string) *fault { return &fault{m.id, codeInvalidParams, text} }
	if m.params == nil || m.params[0] != '{' {
		return invalid("params: must be an object with name and arguments")
	}
	c := &m.call
	var name, meta []byte
	seen := 0
	for o := (members{b: m.params}); o.next(); {
		var bit int
		switch string(o.key) {
		case "name":
			bit, name = 1, o.value
		case "arguments":
			bit, c.args = 2, o.value
		case "_meta":
			bit, meta = 4, o.value
		}
		if seen&bit != 0 {
			return invalid(fmt.Sprintf("params.%s: given twice", o.key))
		}
		seen |= bit
	}
	if name == nil || name[0] != '"' {
		return invalid("params.name: must be a string, the name of a tool")
	}
	// Arguments that are not UTF-8 go on: the operation names the field.
	// Anywhere else they would end up in our own lines.
	if m.broken && !(utf8.Valid(name) && utf8.Valid(meta)) {
		return &fault{m.id, codeParse, "parse error: the message is not valid UTF-8"}
	}
	c.name = string(unquote(name))
	if string(c.args) == "null" {
		c.args = nil
	}
	if meta == nil || string(meta) == "null" {
		return nil
	}
	if meta[0] != '{' {
		return invalid("params._meta: must be an object")
	}
	for o := (members{b: meta}); o.next(); {
		switch string(o.key) {
		case metaProgress:
			if v := o.value[0]; v != '"' && v != '-' && (v < '0' || v > '9') {
				return invalid("params._meta.progressToken: must be a string or a number")
			}
			c.token = o.value
		case local.StampKey:
			c.stamp = o.value
		case metaVersion:
			if o.value[0] == '"' {
				c.version = string(unquote(o.value))
			}
		case metaCaps:
			c.caps = o.value[0] == '{'
		}
	}
	return nil
}

// members walks one JSON object that is known to be valid, member by member.
type members struct {
	b     []byte
	i     int
	key   []byte // the member's name, unescaped
	value []byte // its value as raw JSON
}

func (m *members) next() bool {
	i := skipSpace(m.b, m.i)
	if m.b[i] != '}' { // '{' at the start, ',' afterwards
		i = skipSpace(m.b, i+1)
	}
	if m.b[i] == '}' {
		m.i = i
		return false
	}
	end := valueEnd(m.b, i)
	m.key = unquote(m.b[i:end])
	i = skipSpace(m.b, skipSpace(m.b, end)+1)
	end = valueEnd(m.b, i)
	m.value = m.b[i:end:end]
	m.i = end
	return true
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the index behind the JSON value that begins at b[i].
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; ; i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default: // a number or a word; inside objects also ',', ':' and space
			if depth > 0 {
				continue
			}
			for i++; i < len(b) && bytes.IndexByte(valueStops, b[i]) < 0; i++ {
			}
			return i
		}
		if depth == 0 {
			return i + 1
		}
	}
}

var valueStops = []byte(",}] \t\r\n")

// unquote returns the text of a JSON string that is known to be valid. Without
// an escape in it the result is a part of b.
func unquote(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b[1 : len(b)-1]
	}
	var s string
	_ = json.Unmarshal(b, &s) // valid, so it cannot fail
	return []byte(s)
}

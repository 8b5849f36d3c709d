package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// The JSON-RPC error codes the bridge answers with itself. The last three are
// the service's own for the same trouble; data.code says it in a word.
const (
	codeParse       = -32700
	codeInvalid     = -32600
	codeNoMethod    = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeUnsupported = -32022 // protocol version, since 2026-07-28
	codeUnavailable = -32010
	codeVersion     = -32011
	codeCorrupt     = -32012
)

// maxID bounds a request's id as JSON, in bytes.
const maxID = 1024

// The members of params._meta by which a request of the stateless era says who
// sends it.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// stateless is the first protocol revision without a handshake. Revisions are
// dates and compare as text.
const stateless = "2026-07-28"

// handshakes are the revisions initialize can settle on, newest first.
var handshakes = [...]string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

type kind uint8

const (
	request kind = iota
	notification
	response
)

// A message is what the bridge needs to know of a line. The arguments of a call
// stay bytes.
type message struct {
	kind   kind
	id     []byte // raw; nil if absent
	method string
	params span

	tool string // params.name
	args span   // params.arguments
	meta span   // params._meta
	cursor, client, cancels,
	initVersion, initClient span // params.cursor, _meta clientInfo, params.requestId, initialize's two

	version      string // of _meta; "" before the stateless era
	capabilities bool   // _meta has an object of them
	progress     bool   // _meta has a progress token
}

// modern reports whether the request belongs to the stateless era.
func (m *message) modern() bool { return m.version >= stateless }

// A rejection is the JSON-RPC error a line or a request is answered with.
type rejection struct {
	id   []byte // nil: null
	code int
	text string
	data []byte // nil: none
}

func (r *rejection) line() []byte {
	b := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	if r.id == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, r.id...)
	}
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(r.code), 10)
	b = append(b, `,"message":`...)
	b = append(b, quote(r.text)...)
	if r.data != nil {
		b = append(b, `,"data":`...)
		b = append(b, r.data...)
	}
	return append(b, '}', '}', '\n')
}

// parse reads one line of the client, without its line end. A line that is to
// be ignored gives neither message nor rejection.
func parse(line []byte) (*message, *rejection) {
	start := space(line, 0)
	if start == len(line) {
		return nil, nil
	}
	if !json.Valid(line) {
		return nil, &rejection{code: codeParse, text: "not valid JSON"}
	}
	switch line[start] {
	case '{':
	case '[':
		return nil, &rejection{code: codeInvalid, text: "batches are not supported: send one message at a time"}
	default:
		return nil, &rejection{code: codeInvalid, text: "a message is a JSON object"}
	}

	var m message
	var version, id, method, result, failure, own span
	if bad := pick(line, start, []wanted{
		{"jsonrpc", &version}, {"id", &id}, {"method", &method}, {"params", &m.params},
		{"result", &result}, {"error", &failure}, {"steward", &own},
	}); bad != "" {
		return nil, &rejection{code: codeInvalid, text: bad}
	}
	if method.absent() && !(result.absent() && failure.absent()) {
		m.kind = response
		return &m, nil
	}
	if !id.absent() {
		switch c := id.first(line); {
		case c == '"', c == '-', c >= '0' && c <= '9':
			m.id = id.of(line)
		default:
			return nil, &rejection{code: codeInvalid, text: "id: a string or a number"}
		}
		if len(m.id) > maxID || !utf8.Valid(m.id) {
			return nil, &rejection{code: codeInvalid, text: fmt.Sprintf("id: valid UTF-8, at most %d bytes; got %d", maxID, len(m.id))}
		}
	}
	switch {
	case !result.absent() || !failure.absent() || !own.absent():
		return nil, &rejection{id: m.id, code: codeInvalid, text: "a request has jsonrpc, id, method and params; got more"}
	case method.absent():
		return nil, &rejection{id: m.id, code: codeInvalid, text: "method: missing"}
	case method.first(line) != '"':
		return nil, &rejection{id: m.id, code: codeInvalid, text: "method: a string"}
	}
	m.method = string(unquote(method.of(line)))
	if m.id == nil {
		m.kind = notification
	}
	if version.absent() || string(unquote(version.of(line))) != "2.0" {
		return m.rejected(codeInvalid, `jsonrpc: must be "2.0"`)
	}
	return m.readParams(line)
}

// rejected is the answer to a bad message: none if it is a notification.
func (m *message) rejected(code int, text string) (*message, *rejection) {
	if m.kind == notification {
		return nil, nil
	}
	return nil, &rejection{id: slices.Clone(m.id), code: code, text: text}
}

func (m *message) readParams(line []byte) (*message, *rejection) {
	call := m.method == "tools/call"
	if m.params.absent() || string(m.params.of(line)) == "null" {
		if call {
			return m.rejected(codeParams, "params.name: missing")
		}
		return m, nil
	}
	if !m.params.object(line) {
		return m.rejected(codeParams, "params: an object")
	}
	var name span
	want := append(make([]wanted, 0, 3), wanted{"_meta", &m.meta})
	switch m.method {
	case "tools/call":
		want = append(want, wanted{"name", &name}, wanted{"arguments", &m.args})
	case "tools/list":
		want = append(want, wanted{"cursor", &m.cursor})
	case "initialize":
		want = append(want, wanted{"protocolVersion", &m.initVersion}, wanted{"clientInfo", &m.initClient})
	case "notifications/cancelled":
		want = append(want, wanted{"requestId", &m.cancels})
	}
	if bad := pick(line, m.params.from, want); bad != "" {
		return m.rejected(codeParams, "params: "+bad)
	}
	if call {
		if name.absent() || name.first(line) != '"' {
			return m.rejected(codeParams, "params.name: a string is required")
		}
		m.tool = string(unquote(name.of(line)))
	}
	forged := false
	if m.meta.object(line) {
		members(line, m.meta.from, func(key []byte, value span) bool {
			switch string(key) {
			case metaVersion:
				m.version = string(unquote(value.of(line)))
			case metaClient:
				m.client = value
			case metaCapabilities:
				m.capabilities = value.object(line)
			case "progressToken":
				m.progress = true
			case StampKey:
				forged = true
			}
			return true
		})
	}
	if forged {
		// A stamp of the client's own could make the service answer this call
		// with the reply of another.
		return m.rejected(codeParams, "params._meta: "+StampKey+" is set by the bridge, leave it out")
	}
	return m, nil
}

// A wanted member is one whose value the bridge looks at.
type wanted struct {
	name  string
	place *span
}

// pick fills in where the wanted members of the object at b[at] are. A wanted
// member that is repeated, or spelled with other capitals, is refused: what
// reads the line next might take the other one. The answer is the complaint.
func pick(b []byte, at int, want []wanted) (bad string) {
	members(b, at, func(key []byte, value span) bool {
		for _, w := range want {
			switch {
			case !bytes.EqualFold(key, []byte(w.name)):
			case string(key) != w.name:
				bad = string(key) + ": is written " + w.name
			case !w.place.absent():
				bad = w.name + ": given twice"
			default:
				*w.place = value
			}
		}
		return bad == ""
	})
	return bad
}

// answered reads a line of the service: the raw id if it is a response, and
// whether it is a notification.
func answered(line []byte) (id []byte, note bool) {
	start := space(line, 0)
	if start == len(line) || line[start] != '{' {
		return nil, false
	}
	var method, outcome bool
	members(line, start, func(key []byte, value span) bool {
		switch string(key) {
		case "id":
			id = value.of(line)
		case "method":
			method = true
		case "result", "error":
			outcome = true
		}
		return id == nil || !outcome // the rest of a response says nothing more
	})
	if method || !outcome {
		return nil, method && id == nil
	}
	return id, false
}

// stamped returns the line of a tools/call with the stamp in params._meta, and
// where its arguments are then. All other bytes stay as they are. ok is false
// if _meta is something that can take no member; the service refuses such a
// call in its own words.
func (m *message) stamped(line []byte, slot int, seq uint64) (out []byte, args span, ok bool) {
	stamp := append(make([]byte, 0, stampRoom), `"`+StampKey+`":{"slot":`...)
	stamp = strconv.AppendInt(stamp, int64(slot), 10)
	stamp = append(stamp, `,"seq":`...)
	stamp = strconv.AppendUint(stamp, seq, 10)
	stamp = append(stamp, '}')

	at, until := m.params.from+1, m.params.from+1
	switch {
	case m.meta.absent():
		stamp = slices.Concat([]byte(`"_meta":{`), stamp, []byte("},")) // before name, which is there
	case m.meta.object(line):
		at, until = m.meta.from+1, m.meta.from+1
		if line[space(line, at)] != '}' {
			stamp = append(stamp, ',')
		}
	case string(m.meta.of(line)) == "null":
		at, until = m.meta.from, m.meta.to
		stamp = slices.Concat([]byte{'{'}, stamp, []byte{'}'})
	default:
		return line, m.args, false
	}
	args = m.args
	if args.from >= until {
		args = args.shifted(len(stamp) - (until - at))
	}
	return splice(line, span{at, until}, stamp), args, true
}

// splice returns b with a part of it replaced, in new memory.
func splice(b []byte, part span, by []byte) []byte {
	return slices.Concat(b[:part.from], by, b[part.to:])
}

// patience is how long a wait may take from its first arrival on: what its
// arguments say, within what the service would allow. ok is false if they say
// something the service will refuse.
func (m *message) patience(line []byte, w waiting) (total time.Duration, ok bool) {
	total, ok = waitDefault, true
	if m.args.object(line) {
		members(line, m.args.from, func(key []byte, value span) bool {
			if string(key) == w.argument {
				n, err := strconv.ParseFloat(string(value.of(line)), 64)
				if ok = err == nil && n >= 0; ok {
					total = time.Duration(min(n, float64(waitMost/w.unit)) * float64(w.unit))
				}
			}
			return ok
		})
	}
	if !m.progress {
		total = min(total, waitPlain)
	}
	return min(total, waitMost), ok
}

// reissued returns the line of a wait with the time that is left.
func (m *message) reissued(line []byte, w waiting, left time.Duration) []byte {
	n := strconv.AppendInt(nil, int64(max(left, 0)/w.unit), 10)
	if m.args.absent() {
		text := slices.Concat([]byte(`"arguments":{`), quote(w.argument), []byte{':'}, n, []byte("},"))
		return splice(line, span{m.params.from + 1, m.params.from + 1}, text)
	}
	if !m.args.object(line) {
		return line
	}
	var old span
	empty := true
	members(line, m.args.from, func(key []byte, value span) bool {
		empty = false
		if string(key) == w.argument {
			old = value
		}
		return true
	})
	if !old.absent() {
		return splice(line, old, n)
	}
	text := slices.Concat(quote(w.argument), []byte{':'}, n)
	if !empty {
		text = append(text, ',')
	}
	return splice(line, span{m.args.from + 1, m.args.from + 1}, text)
}

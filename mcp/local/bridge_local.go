package local

import (
	"bytes"
	"encoding/json"
	"slices"
)

// local answers the methods that need no service. ok is false for any other.
func (b *bridge) local(m *message, line []byte) (answer []byte, ok bool) {
	switch m.method {
	case "initialize", "ping", "server/discover", "tools/list":
	default:
		return nil, false
	}
	if bad := checkEra(m); bad != nil {
		return bad.line(), true
	}
	if !m.client.absent() {
		b.clientIs(m.client.of(line), m.version)
	}
	switch m.method {
	case "initialize":
		return b.initialize(m, line), true
	case "ping":
		return result(m, []byte("{}")), true
	case "server/discover":
		return b.discover(m), true
	}
	return b.list(m, line), true
}

// checkEra refuses what does not fit the era of the request.
func checkEra(m *message) *rejection {
	no := func(code int, text string) *rejection { return &rejection{id: m.id, code: code, text: text} }
	if !m.modern() {
		if m.method == "server/discover" {
			return no(codeNoMethod, `"server/discover" needs protocol version `+stateless+` in params._meta`)
		}
		return nil
	}
	switch {
	case m.version != stateless:
		r := no(codeUnsupported, "protocol version "+m.version+" is not supported")
		r.data = slices.Concat([]byte(`{"supported":`), versions(), []byte(`,"requested":`), quote(m.version), []byte{'}'})
		return r
	case !m.capabilities:
		return no(codeParams, "params._meta: "+metaCapabilities+" is required, an object")
	case m.method == "initialize" || m.method == "ping":
		return no(codeNoMethod, `"`+m.method+`" was removed in protocol version `+stateless)
	}
	return nil
}

// versions is the JSON array of all revisions, newest first.
func versions() []byte {
	b := append([]byte{'['}, quote(stateless)...)
	for _, v := range handshakes {
		b = append(append(b, ','), quote(v)...)
	}
	return append(b, ']')
}

// result wraps a result object.
func result(m *message, object []byte) []byte {
	b := make([]byte, 0, len(object)+len(m.id)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, m.id...)
	b = append(b, `,"result":`...)
	b = append(b, object...)
	return append(b, '}', '\n')
}

// appendEra begins a result with what the stateless era wants in each: its
// type and who answers; and for one that could be cached, for how long: not at
// all, because a client that starts a newer bridge must see its tools.
func appendEra(b []byte, m *message, version string, cacheable bool) []byte {
	if !m.modern() {
		return b
	}
	b = append(b, `"_meta":{"`+metaServer+`":`...)
	b = appendServer(b, version)
	b = append(b, `},"resultType":"complete",`...)
	if cacheable {
		b = append(b, `"ttlMs":0,"cacheScope":"private",`...)
	}
	return b
}

func appendServer(b []byte, version string) []byte {
	b = append(b, `{"name":"`+ServerName+`","title":"`+ServerTitle+`","version":`...)
	return append(append(b, quote(version)...), '}')
}

func (b *bridge) initialize(m *message, line []byte) []byte {
	version := handshakes[0]
	if !m.initVersion.absent() {
		if v := string(unquote(m.initVersion.of(line))); slices.Contains(handshakes[:], v) {
			version = v
		}
	}
	if !m.initClient.absent() {
		b.clientIs(m.initClient.of(line), version)
	}
	o := append([]byte(nil), `{"protocolVersion":`...)
	o = append(o, quote(version)...)
	o = append(o, `,"capabilities":{"tools":{}},"serverInfo":`...)
	o = appendServer(o, b.version)
	o = append(o, `,"instructions":`...)
	o = append(o, quote(Instructions)...)
	return result(m, append(o, '}'))
}

func (b *bridge) discover(m *message) []byte {
	o := appendEra([]byte{'{'}, m, b.version, true)
	o = append(o, `"supportedVersions":`...)
	o = append(o, versions()...)
	o = append(o, `,"capabilities":{"tools":{}},"instructions":`...)
	o = append(o, quote(Instructions)...)
	return result(m, append(o, '}'))
}

func (b *bridge) list(m *message, line []byte) []byte {
	if c := m.cursor; !c.absent() {
		if v := string(c.of(line)); v != "null" && v != `""` {
			r := rejection{id: m.id, code: codeParams, text: "params.cursor: the list has one page, leave it out"}
			return r.line()
		}
	}
	tools := compactDefinitions()
	if !m.modern() {
		return result(m, tools)
	}
	o := appendEra(append(make([]byte, 0, len(tools)+256), '{'), m, b.version, true)
	return result(m, append(o, tools[1:]...))
}

// clientIs takes the client's description of itself, as it came. Clients of the
// stateless era repeat it with every request.
func (b *bridge) clientIs(info []byte, era string) {
	if bytes.Equal(info, b.lastClient) {
		return
	}
	b.lastClient = slices.Clone(info)
	var c ClientInfo
	if err := json.Unmarshal(info, &c); err != nil || c.Name == "" {
		return
	}
	c.Era = era
	b.engine.named(c)
}

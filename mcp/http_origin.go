package mcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"steward/mcp/ops"
)

// Origin is where a web page comes from, in a form that can be compared: lower
// case, without the scheme's default port.
type Origin struct {
	Scheme, Host, Port string // Host without brackets; Port "" is the scheme's default
}

// ParseOrigin reads an origin as a browser sends it and as
// STEWARD_ALLOWED_ORIGINS lists it: scheme://host or scheme://host:port.
func ParseOrigin(s string) (Origin, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return Origin{}, fmt.Errorf("an origin is scheme://host or scheme://host:port; got %s", printable(s))
	}
	host, port, ok := splitHost(u.Host)
	if !ok {
		return Origin{}, fmt.Errorf("an origin is scheme://host or scheme://host:port; got %s", printable(s))
	}
	o := Origin{Scheme: strings.ToLower(u.Scheme), Host: host, Port: port}
	if port == defaultPort(o.Scheme) {
		o.Port = ""
	}
	return o, nil
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// splitHost takes host, host:port, [v6] or [v6]:port apart. The host comes back
// in lower case, an address in its shortest form.
func splitHost(s string) (host, port string, ok bool) {
	host = s
	if rest, found := strings.CutPrefix(s, "["); found {
		host, rest, found = strings.Cut(rest, "]")
		if addr, err := netip.ParseAddr(host); !found || err != nil || !addr.Is6() {
			return "", "", false
		}
		if rest != "" {
			if port, found = strings.CutPrefix(rest, ":"); !found {
				return "", "", false
			}
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	if host == "" || len(host) > 255 || strings.ContainsAny(host, " /\\@?#%,") || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
		return "", "", false
	}
	return canonicalHost(host), port, true
}

// canonicalHost is a name in lower case, or an address in its shortest form.
func canonicalHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return strings.ToLower(host)
}

// loopback tells whether host, as splitHost returns it, is this machine's own:
// a page of another site cannot be served under such a name.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// checkHost refuses a request that was addressed to somebody else. A site that
// points its own name at this machine (DNS rebinding) is what it keeps out.
func (h *HTTP) checkHost(r *http.Request) *ops.Error {
	host, _, ok := splitHost(r.Host)
	switch {
	case r.Host == "":
		return &ops.Error{Code: ops.Forbidden, Message: "Host: missing", Hint: "send the host that the address names"}
	case !ok:
		return &ops.Error{Code: ops.Forbidden, Message: "Host: must be host or host:port; got " + printable(r.Host)}
	case loopback(host) || h.isBound(host, r):
		return nil
	}
	for _, o := range h.origins() {
		if o.Host == host {
			return nil
		}
	}
	return &ops.Error{Code: ops.Forbidden, Message: "Host: " + printable(r.Host) + " is not a name of this service",
		Hint: "STEWARD_ALLOWED_ORIGINS lists the origins it is reached under, such as https://" + printable(host)}
}

// isBound tells whether host is the address that is listened on. For a service
// on every address it is the one on which this connection came in.
func (h *HTTP) isBound(host string, r *http.Request) bool {
	bound, _, ok := splitHost(h.cfg.Bound)
	if !ok {
		return false
	}
	if bound == host {
		return true
	}
	if addr, err := netip.ParseAddr(bound); err != nil || !addr.IsUnspecified() {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	return err == nil && here.Addr().Unmap().WithZone("").String() == host
}

// checkOrigin refuses a page of another site. Native clients send no Origin;
// their token is the proof.
func (h *HTTP) checkOrigin(r *http.Request) *ops.Error {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return nil
	}
	_, rest, _ := strings.Cut(values[0], "://")
	bare := !strings.ContainsAny(rest, "/?# ") // a browser sends nothing behind host and port; a setting may
	if origin, err := ParseOrigin(values[0]); err == nil && len(values) == 1 && bare {
		if h.isOwn(origin, r) {
			return nil
		}
		for _, o := range h.origins() {
			if o == origin {
				return nil
			}
		}
	}
	return &ops.Error{Code: ops.Forbidden, Message: "Origin: " + printable(strings.Join(values, ", ")) + " is not allowed",
		Hint: "STEWARD_ALLOWED_ORIGINS lists the origins that are, besides the service's own"}
}

// isOwn tells whether a page of this very service sent r: its origin is the
// host that r was addressed to, one that nobody else can answer under. (A name
// from the list is not: the list says which of its origins is meant.) A proxy on
// this machine may add TLS.
func (h *HTTP) isOwn(o Origin, r *http.Request) bool {
	host, port, ok := splitHost(r.Host)
	if !ok || o.Scheme != "http" && o.Scheme != "https" || !loopback(host) && !h.isBound(host, r) {
		return false
	}
	if port == defaultPort(o.Scheme) {
		port = ""
	}
	return o.Host == host && o.Port == port
}

// origins are the allowed ones; what is not an origin has been refused where
// the setting is read, and allows nothing here.
func (h *HTTP) origins() []Origin {
	if h.cfg.AllowedOrigins == nil {
		return nil
	}
	var out []Origin
	for _, s := range h.cfg.AllowedOrigins() {
		if o, err := ParseOrigin(s); err == nil {
			out = append(out, o)
		}
	}
	return out
}

// printable is what somebody sent, fit for a message and a log line.
func printable(s string) string { return fmt.Sprintf("%q", oneLine(s)) }

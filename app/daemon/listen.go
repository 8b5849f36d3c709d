package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// Where HTTP is served when only one half of the address is said.
const (
	defaultBind = "127.0.0.1"
	defaultPort = "8971"
)

// How long a service tries to get its HTTP address, which the owner before it
// may be about to leave. One that was not asked for HTTP in person does not keep
// its clients waiting for it.
const (
	bindWithin     = 2 * time.Second
	bindWithinAuto = 250 * time.Millisecond
	bindAgain      = 20 * time.Millisecond
)

// ListenAddress reads what a person says of where HTTP is to be served:
// ADDRESS:PORT, ADDRESS or PORT, the address being an IP address or localhost.
// It returns host:port. The error, an *ops.Error, names field.
func ListenAddress(field, s string) (string, error) {
	a, err := listenAddress(field, s)
	if err != nil {
		return "", &ops.Error{Code: ops.Invalid, Field: field, Message: err.Error(), Hint: "such as " + defaultBind + ":" + defaultPort}
	}
	return a, nil
}

func listenAddress(field, s string) (string, error) {
	s = strings.TrimSpace(s)
	host, port := s, defaultPort
	switch {
	case s != "" && strings.Trim(s, "0123456789") == "":
		host, port = defaultBind, s
	case strings.HasPrefix(s, "[") || strings.Count(s, ":") == 1:
		if h, p, err := net.SplitHostPort(s); err == nil {
			host, port = h, p
		}
	}
	host, ok := bindHost(host)
	port, okPort := bindPort(port)
	if !ok || !okPort {
		return "", fmt.Errorf("%s: ADDRESS:PORT, the address an IP address or localhost, the port 1 to 65535; got %s", field, ledger.Clip(s, 80))
	}
	return net.JoinHostPort(host, port), nil
}

// bindHost is an address in its shortest form. Other names than localhost are
// not looked up: which address they lead to, and so who may come in, would be
// somebody else's choice.
func bindHost(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.EqualFold(s, "localhost") {
		return defaultBind, true
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		s = s[1 : len(s)-1]
	}
	a, err := netip.ParseAddr(s)
	return a.String(), err == nil
}

func bindPort(s string) (string, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 16)
	return strconv.FormatUint(n, 10), err == nil && n > 0
}

func (c *Config) setBind(field, v string) error {
	host, ok := bindHost(v)
	if !ok {
		return fmt.Errorf("%s: an IP address or localhost; got %s", field, ledger.Clip(v, 80))
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		port = defaultPort
	}
	c.Listen = net.JoinHostPort(host, port)
	return nil
}

func (c *Config) setPort(field, v string) error {
	port, ok := bindPort(v)
	if !ok {
		return fmt.Errorf("%s: a port, 1 to 65535; got %s", field, ledger.Clip(v, 80))
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		host = defaultBind
	}
	c.Listen = net.JoinHostPort(host, port)
	return nil
}

// ThisMachineOnly tells whether nobody but this machine reaches address, a
// host:port as ListenAddress returns it.
func ThisMachineOnly(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// Nearest is where this machine reaches a service that listens on address: one
// on every address is reached on the loopback interface.
func Nearest(address string) string {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil || !at.Addr().IsUnspecified():
		return address
	case at.Addr().Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()).String()
}

// MayListen refuses to let other machines in with a secret that no person has
// chosen to give them. The error is an *ops.Error.
func MayListen(env Env, address string) error {
	if env.IsSet("STEWARD_TOKEN") || ThisMachineOnly(address) {
		return nil
	}
	return &ops.Error{Code: ops.Invalid, Field: "STEWARD_TOKEN", Message: "STEWARD_TOKEN: must be set to listen on " + address + ", which other machines may reach",
		Hint: "set it to a long secret of your own, or listen on " + defaultBind}
}

// bind listens on address, which the owner before this one may still be leaving.
func bind(ctx context.Context, address string, within time.Duration) (net.Listener, error) {
	for limit := time.Now().Add(within); ; {
		l, err := net.Listen("tcp", address)
		if err == nil {
			return l, nil
		}
		taken := errors.Is(err, addressTaken)
		if !taken || time.Now().After(limit) {
			return nil, cannotListen(address, taken, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(bindAgain):
		}
	}
}

func cannotListen(address string, taken bool, err error) error {
	e := &ops.Error{Code: ops.Unavailable, Message: "cannot listen on " + address + ": another program does",
		Hint: "end that program, or choose another port with --listen, STEWARD_PORT or the key listen of config.json", Err: err}
	if !taken {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // the rest of it has been said
		}
		e.Message = fmt.Sprintf("cannot listen on %s: %v", address, err)
		e.Hint = "choose another address with --listen, STEWARD_BIND or the key listen of config.json"
	}
	return e
}

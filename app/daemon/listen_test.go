package daemon

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"steward/mcp/ops"
)

func TestListenAddress(t *testing.T) {
	for given, want := range map[string]string{
		"127.0.0.1:8971":    "127.0.0.1:8971",
		"8080":              "127.0.0.1:8080",
		"0.0.0.0":           "0.0.0.0:8971",
		"localhost:1":       "127.0.0.1:1",
		"LOCALHOST":         "127.0.0.1:8971",
		"::1":               "[::1]:8971",
		"[::1]":             "[::1]:8971",
		"[::]:65535":        "[::]:65535",
		" 127.0.0.1:08971 ": "127.0.0.1:8971",
	} {
		if got, err := ListenAddress("--listen", given); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	for _, given := range []string{"", " ", ":8971", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http", "steward.lan:8971", "300.0.0.1", "[::1:8971", "http://127.0.0.1:8971", "0"} {
		_, err := ListenAddress("--listen", given)
		if ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "--listen: ADDRESS:PORT") {
			t.Errorf("%q: %v; want it refused", given, err)
		}
	}
}

func TestOthersNeedATokenOfThePersons(t *testing.T) {
	for address, only := range map[string]bool{"127.0.0.1:1": true, "127.8.9.1:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:1": false, "[::]:1": false, "192.168.0.9:1": false, "nonsense": false} {
		if got := ThisMachineOnly(address); got != only {
			t.Errorf("%s: %v; want %v", address, got, only)
		}
		err := MayListen(Env{"STEWARD_TOKEN": " "}, address)
		if only != (err == nil) || !only && (ops.CodeOf(err) != ops.Invalid || !strings.Contains(err.Error(), "STEWARD_TOKEN")) {
			t.Errorf("%s without a token: %v", address, err)
		}
		for _, name := range []string{"STEWARD_TOKEN", "READYROOM_TOKEN"} {
			if err := MayListen(Env{name: "x"}, address); err != nil {
				t.Errorf("%s with %s: %v", address, name, err)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	for address, want := range map[string]string{"0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "192.168.0.9:1": "192.168.0.9:1", "": ""} {
		if got := Nearest(address); got != want {
			t.Errorf("%s: %s; want %s", address, got, want)
		}
	}
}

// taken is a local address on which somebody listens until release is called.
func taken(t *testing.T) (address string, release func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // may be closed already
	return l.Addr().String(), func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// free is a local address on which nobody listens.
func free(t *testing.T) string {
	address, release := taken(t)
	release()
	return address
}

func TestBindWaitsForTheOwnerBefore(t *testing.T) {
	address, release := taken(t)
	time.AfterFunc(50*time.Millisecond, release)
	l, err := bind(context.Background(), address, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over with it
	begin := time.Now()
	_, err = bind(context.Background(), address, 60*time.Millisecond)
	if ops.CodeOf(err) != ops.Unavailable || err.Error() != "cannot listen on "+address+": another program does" {
		t.Errorf("a taken address: %v", err)
	}
	if took := time.Since(begin); took < 60*time.Millisecond || took > patience {
		t.Errorf("tried for %s; want 60ms", took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bind(ctx, address, patience); err != context.Canceled { //nolint:errorlint // it is returned as it is
		t.Errorf("given up: %v", err)
	}
	// What waiting does not help with is said at once.
	begin = time.Now()
	_, err = bind(context.Background(), "192.0.2.1:8971", patience)
	if ops.CodeOf(err) != ops.Unavailable || !strings.HasPrefix(err.Error(), "cannot listen on 192.0.2.1:8971: bind: ") || time.Since(begin) > patience/2 {
		t.Errorf("an address of another machine: %v", err)
	}
}

func TestHolderText(t *testing.T) {
	p := Paths{Socket: "/run/x, http y, socket z.sock"}
	for _, listen := range []string{"", "[::1]:8971"} {
		text := lockText(Options{Paths: p, Role: Serve, Version: "1.0.0", Listen: listen}, time.Now())
		if HolderListen(text) != listen || HolderSocket(text) != p.Socket || HolderPID(text) == 0 {
			t.Errorf("%q: listen %q, socket %q, pid %d", text, HolderListen(text), HolderSocket(text), HolderPID(text))
		}
	}
	if HolderListen("a stranger") != "" || HolderSocket("a stranger") != "" || HolderPID("a stranger") != 0 {
		t.Error("something was read out of a text that is not ours")
	}
}

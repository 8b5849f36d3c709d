package mcp

import (
	"testing"
	"time"

	"steward/mcp/local"
)

// While what a client has spooled is entered before its welcome, it hears that
// the service is at work: a silent one would be given up after two seconds.
func TestALongDrainIsNoSilence(t *testing.T) {
	hold := make(chan struct{})
	f := newFixture(t, func(cfg *SocketConfig, tm *timing) {
		tm.opening = time.Millisecond
		cfg.BeforeWelcome = func(local.Hello) error { <-hold; return nil }
	})
	f.socket.Ready(f.server)
	c := f.dial(t)
	c.say(local.Line{Hello: &local.Hello{Role: local.RoleBridge, ID: local.NewID()}})
	for range 3 {
		if l := c.line(); l.Welcome == nil || l.Welcome.State != local.StateOpening {
			t.Fatalf("got %+v", l)
		}
	}
	close(hold)
	l := c.line()
	for l.Welcome != nil && l.Welcome.State == local.StateOpening {
		l = c.line()
	}
	if l.Welcome == nil || l.Welcome.State != local.StateServing {
		t.Fatalf("got %+v", l)
	}
	c.text(1, "test_echo", `{"text":"x"}`)
}

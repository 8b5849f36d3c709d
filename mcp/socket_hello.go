package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"steward/mcp/local"
	"steward/mcp/ops"
)

// useBridge is what a client is told that speaks MCP to the socket itself.
const useBridge = "this is Steward's own socket, not an MCP server: configure the command `steward mcp` instead"

// converse is the life of one connection: its first line, and what that asks for.
func (s *Socket) converse(c *conn) {
	defer s.leave(c)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a connection ended by a fault", "panic", p)
		}
	}()
	if c.nc.SetReadDeadline(time.Now().Add(s.timing.hello)) != nil {
		return
	}
	line, err := c.lines.next()
	if err != nil {
		s.unheard(c, err)
		return
	}
	l, err := local.ParseLine(line)
	switch {
	case err != nil && !bytes.Contains(line, []byte(`"steward"`)):
		c.out.send(errorLine(firstID(line), codeInvalidRequest, useBridge, nil))
	case err != nil:
		c.refuse(local.Refused{Code: string(ops.Invalid), Message: "first line: " + err.Error()})
	case l.Hello != nil:
		s.welcome(c, l.Hello)
	case l.Yield != nil:
		s.yield(c, *l.Yield)
	case l.Stop != nil:
		s.stop(c, *l.Stop)
	case l.SignIn != nil:
		s.signIn(c, *l.SignIn)
	case l.Info != nil:
		s.info(c)
	default:
		c.refuse(local.Refused{Code: string(ops.Invalid), Message: "first line: must be a hello, yield, stop, signin or info"})
	}
}

// unheard ends a connection whose first line did not come.
func (s *Socket) unheard(c *conn, err error) {
	switch {
	case errors.Is(err, errLongLine):
		c.refuse(local.Refused{Code: string(ops.Invalid), Message: fmt.Sprintf("first line: at most %d bytes; got more", local.MaxLine)})
	case timedOut(err) && !s.isDraining():
		c.refuse(local.Refused{Code: string(ops.Invalid), Message: fmt.Sprintf("first line: within %v; got none", s.timing.hello)})
	}
}

// firstID is the id of a request that came as the first line, nil without one.
func firstID(line []byte) []byte {
	m, _ := parse(line)
	return m.id
}

// welcome answers a hello: how far the opening is until there is a server or a
// refusal, then serves.
func (s *Socket) welcome(c *conn, h *local.Hello) {
	if r := s.objection(h); r != nil {
		c.refuse(*r)
		return
	}
	if !s.activate(c) {
		return
	}
	p, changed := s.now()
	if p == (phase{}) {
		tick := time.NewTicker(s.timing.opening)
		defer tick.Stop()
		for p == (phase{}) {
			if s.isDraining() || !c.say(local.Line{Welcome: &local.Welcome{State: local.StateOpening, Done: math.Float64frombits(s.done.Load())}}) {
				return
			}
			select {
			case <-tick.C:
			case <-changed:
			}
			p, changed = s.now()
		}
	}
	if p.refusal != nil {
		c.refuse(*p.refusal)
		return
	}
	if s.cfg.BeforeWelcome != nil {
		err, waited := s.prepare(c, h)
		if !waited {
			return
		}
		if err != nil {
			e := p.server.failure(err)
			s.log.Warn("refusing a hello", "code", e.Code, "error", err)
			c.refuse(local.Refused{Code: string(e.Code), Message: e.Message, Hint: e.Hint})
			return
		}
	}
	c.server = p.server
	c.greet(h)
	if c.say(local.Line{Welcome: &local.Welcome{
		State: local.StateServing, Version: s.cfg.Version, Schema: s.cfg.Schema, Tools: local.Digest(), Slots: local.Slots,
	}}) {
		c.serve()
	}
}

// prepare runs BeforeWelcome and tells the client meanwhile that it is being
// served soon: entering what was spooled may take longer than a client waits for
// a silent service. It is false when the client or the service went away.
func (s *Socket) prepare(c *conn, h *local.Hello) (err error, waited bool) {
	done := make(chan error, 1)
	go func() { done <- s.cfg.BeforeWelcome(*h) }()
	tick := time.NewTicker(s.timing.opening)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err, true
		case <-tick.C:
			if s.isDraining() || !c.say(local.Line{Welcome: &local.Welcome{State: local.StateOpening, Done: 1}}) {
				return nil, false
			}
		}
	}
}

// objection is why a hello is refused whatever the state, nil when it is not.
func (s *Socket) objection(h *local.Hello) *local.Refused {
	switch {
	case h.Role != local.RoleBridge && h.Role != local.RoleShell && h.Role != local.RoleWindow:
		return &local.Refused{Code: string(ops.Invalid), Message: "hello.role: bridge, shell or window; got " + oneLine(h.Role)}
	case h.ID == "" || len(h.ID) > 64:
		return &local.Refused{Code: string(ops.Invalid), Message: "hello.id: 1 to 64 bytes"}
	case h.Ledger != "" && s.cfg.Ledger != "" && h.Ledger != s.cfg.Ledger:
		return &local.Refused{Code: local.RefusedLedger, Message: "the service on this socket keeps another ledger",
			Hint: "STEWARD_DB and STEWARD_SOCKET must belong together; steward doctor shows both"}
	case h.Role == local.RoleWindow && (s.cfg.Person == nil || !s.cfg.Person(h.Proof)):
		return &local.Refused{Code: local.RefusedForbidden, Message: "hello.proof: a window shows what the token file of the service's state folder holds",
			Hint: "start the window with the same STEWARD_HOME as the service"}
	}
	return nil
}

func (s *Socket) yield(c *conn, y local.Yield) {
	granted, why := false, "kept"
	if s.cfg.OnYield != nil {
		if granted, why = s.cfg.OnYield(y); why == "" {
			why = "kept"
		}
	}
	s.log.Info("asked to hand over", "role", oneLine(y.Role), "version", oneLine(y.Version), "granted", granted)
	if !granted {
		c.say(local.Line{Kept: why})
		return
	}
	c.say(local.Line{Yielding: true})
	s.linger(c)
}

func (s *Socket) stop(c *conn, ask local.Stop) {
	s.log.Info("asked to stop", "pid", ask.PID, "reason", oneLine(ask.Reason))
	if !c.say(local.Line{Stopping: true}) {
		return
	}
	if s.cfg.OnStop != nil {
		s.cfg.OnStop(ask)
	}
	s.linger(c)
}

func (s *Socket) signIn(c *conn, ask local.SignIn) {
	refused := &local.Refused{Code: string(ops.Unavailable), Message: "this service serves no page"}
	if s.cfg.OnSignIn != nil {
		var link string
		if link, refused = s.cfg.OnSignIn(ask.Proof); refused == nil {
			c.say(local.Line{Link: &local.Link{URL: link}})
			return
		}
	}
	s.log.Info("refused a link to sign in", "pid", ask.PID, "code", refused.Code)
	c.refuse(*refused)
}

func (s *Socket) info(c *conn) {
	var i local.Info
	if s.cfg.Info != nil {
		i = s.cfg.Info()
	}
	switch p, _ := s.now(); {
	case p.server != nil:
		i.State = local.StateServing
	case p.refusal != nil:
		i.State = stateRefusing
	default:
		i.State = local.StateOpening
	}
	i.Connections = s.Active()
	c.say(local.Line{Info: &i})
}

// stateRefusing is what info calls a socket that refuses every hello.
const stateRefusing = "refusing"

// linger keeps a connection whose end is a message in itself, until the client
// goes or the socket drains.
func (s *Socket) linger(c *conn) {
	if !s.keep(c) {
		return
	}
	_, _ = io.Copy(io.Discard, c.nc)
}

// keep lets a connection read for as long as it likes. False when the socket
// drains.
func (s *Socket) keep(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.draining && c.nc.SetReadDeadline(time.Time{}) == nil
}

// say sends one of Steward's own lines and tells whether it could be written.
func (c *conn) say(l local.Line) bool {
	var b bytes.Buffer
	if err := local.WriteLine(&b, l); err != nil {
		c.socket.log.Error("cannot write a line", "error", err)
		return false
	}
	c.out.send(b.Bytes())
	return c.out.room()
}

func (c *conn) refuse(r local.Refused) { c.say(local.Line{Refused: &r}) }

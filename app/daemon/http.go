package daemon

import (
	"context"
	"errors"
	"net"
	"time"

	"steward/ledger"
	"steward/mcp"
	"steward/mcp/ops"
)

// Door is where clients come in over HTTP.
type Door struct {
	URL   string // http://host:port, as this machine reaches it
	Owner string // where the owner's token is: a file's path, or the variable that holds it
	Agent string // where the agents' token is
	Wide  string // the address listened on, if other machines reach it; else ""
}

// door is HTTP before and while it is served.
type door struct {
	net.Listener
	Door
	tokens tokens
	served chan error // what Serve returned; nil until it is called
}

// prepareDoor listens for HTTP clients, if anybody wants them. They wait until
// openDoor. Somebody who has asked for the service in person is told what is in
// the way; a service that a client needs runs without.
func (s *service) prepareDoor(ctx context.Context) (*door, error) {
	if s.Listen == "" {
		return nil, nil
	}
	d, err := s.newDoor(ctx)
	if err == nil || s.Role == Serve {
		return d, err
	}
	if ctx.Err() == nil {
		s.Logger.Error("running without HTTP", "address", s.Listen, "because", err)
	}
	return nil, nil
}

func (s *service) newDoor(ctx context.Context) (*door, error) {
	if err := MayListen(s.Env, s.Listen); err != nil {
		return nil, err
	}
	t, err := s.Paths.tokens(s.Env, s.Logger)
	if err != nil {
		return nil, err
	}
	within := bindWithinAuto
	if s.Role == Serve {
		within = bindWithin
	}
	l, err := bind(ctx, s.Listen, within)
	if err != nil {
		return nil, err
	}
	d := &door{Listener: l, tokens: t}
	d.URL, d.Owner, d.Agent = "http://"+Nearest(s.Listen), t.ownerAt, t.agentAt
	if !ThisMachineOnly(s.Listen) {
		d.Wide = s.Listen
	}
	return d, nil
}

// openDoor lets the HTTP clients in.
func (s *service) openDoor(server *mcp.Server, set *ops.Set, log *ledger.Log) {
	d := s.door
	if d == nil {
		return
	}
	s.http = mcp.NewHTTP(mcp.HTTPConfig{
		Server: server, Version: s.Version, Logger: s.Logger, Bound: d.Addr().String(),
		OwnerToken: func() string { return d.tokens.owner }, AgentToken: func() string { return d.tokens.agent },
		AllowedOrigins: s.Settings.AllowedOrigins,
	})
	s.mountPage(s.http, set, log)
	d.served = make(chan error, 1)
	go func() {
		err := s.http.Serve(d.Listener)
		if err != nil {
			s.Logger.Error("HTTP has ended", "address", s.Listen, "error", err)
		}
		d.served <- err
	}()
	s.Logger.Info("HTTP is on", "url", d.URL, "owner_token_in", d.Owner, "agent_token_in", d.Agent)
}

// closeDoor is for a service that never let HTTP clients in.
func (s *service) closeDoor() {
	if s.door == nil || s.http != nil {
		return
	}
	if err := s.door.Close(); err != nil && !errors.Is(err, net.ErrClosed) { // the second time it is
		s.Logger.Warn("the HTTP address was not left in order", "error", err)
	}
}

// drainDoor answers what runs and leaves the address.
func (s *service) drainDoor(ctx context.Context) error {
	s.closeDoor()
	if s.http == nil {
		return nil
	}
	err := s.http.Drain(ctx)
	<-s.door.served
	return err
}

// present is how many connections and HTTP requests there are, and when the
// last one ended.
func (s *service) present() (active int, since time.Time) {
	active, since = s.sock.Active(), s.sock.IdleSince()
	if s.http == nil {
		return active, since
	}
	if last := s.http.IdleSince(); last.After(since) {
		since = last
	}
	return active + s.http.Active(), since
}

// watchListen says once for each new value that HTTP is to be elsewhere from
// the next start on.
func (s *service) watchListen(c Config) {
	if s.fixed {
		return
	}
	s.mu.Lock()
	changed := c.Listen != s.wanted
	s.wanted = c.Listen
	s.mu.Unlock()
	if changed {
		s.Logger.Info("where HTTP is served has changed; it counts from the next start", "now", s.Listen, "then", c.Listen)
	}
}

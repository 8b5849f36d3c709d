package daemon

import (
	"context"

	"steward/app/web"
	"steward/ledger"
	"steward/mcp"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// License is under which Steward may be used.
const License = "AGPL-3.0"

// mountPage lets people in over HTTP: the page, its calls and events.
func (s *service) mountPage(h *mcp.HTTP, set *ops.Set, log *ledger.Log) {
	d := s.door
	w := web.New(web.Config{
		Set: set, Log: log, Version: s.Version, Page: s.Page, Logger: s.Logger,
		Origins: s.Settings.AllowedOrigins, Token: func() string { return d.tokens.owner },
		Owner: func(ctx context.Context) bool { return mcp.TokenOf(ctx) == mcp.TokenOwner },
		Wrong: h.Wrong, Stopping: h.Stopping(),
	})
	h.Mount("/", mcp.TokenNone, w.Page())
	h.Mount(web.SignInPath, mcp.TokenNone, w.SignIn())
	h.Mount(web.CallPath, mcp.TokenOwner, w.Call())
	h.Mount(web.TicketsPath, mcp.TokenOwner, w.Tickets())
	h.Mount(web.AnswerPath, mcp.TokenOwner, w.Answer())
	h.Mount(web.UndoPath, mcp.TokenOwner, w.Undo())
	h.MountStream(web.EventsPath, mcp.TokenOwner, w.Events())
	s.mu.Lock()
	s.page = w
	s.mu.Unlock()
}

// onSignIn answers who asks for a link with which a browser signs in.
func (s *service) onSignIn(proof string) (link string, refused *local.Refused) {
	if !s.Paths.isOwner(proof) {
		return "", &local.Refused{Code: local.RefusedForbidden, Message: "the asker does not hold the owner's token of the service's state folder",
			Hint: "ask with the same STEWARD_HOME as the service"}
	}
	s.mu.Lock()
	w := s.page
	s.mu.Unlock()
	if w == nil {
		return "", &local.Refused{Code: string(ops.Unavailable), Message: "the running service serves no HTTP",
			Hint: "stop it with `steward stop`, turn HTTP on with " + TurnsOn + ", and ask again"}
	}
	return s.door.URL + "/#code=" + w.NewCode(), nil
}

// TurnsOn names what turns HTTP on.
const TurnsOn = "`steward serve --listen 127.0.0.1:8971`, STEWARD_BIND or STEWARD_PORT, or the key listen of config.json"

// about is what the person is told of this service.
func (s *service) about() ops.About {
	a := ops.About{
		Version: s.Version, Ledger: s.Paths.Ledger, State: s.Paths.Home, Config: s.Paths.Config, Log: s.Paths.Log,
		Role: string(s.role()), License: License, Update: s.update(),
	}
	if s.door != nil {
		a.HTTP = &s.door.URL
	}
	return a
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/mcp/ops"
)

// probeWithin is how long doctor waits for HTTP.
const probeWithin = 2 * time.Second

// http looks whether HTTP is served where it should be, and who could get in.
func (x *examination) http(settings string) {
	at := daemon.HolderListen(x.holder)
	x.HTTP = &httpState{Listen: at, Settings: settings}
	where := at
	if where == "" {
		where = settings
	}
	if where == "" {
		x.add(fine("http", "off"))
		return
	}
	later := ""
	if x.holder != "" && at != settings {
		later = "the settings here say " + orOff(settings) + ", which counts from the next start"
	}
	switch {
	case at == "":
		c := fine("http", "off")
		if later != "" {
			c = look("http", later, "off")
		} else {
			c.Detail = "to be served on " + settings + " by the next service"
		}
		if err := daemon.MayListen(x.env, settings); err != nil {
			c = wrong("http", err)
		}
		x.add(c)
	default:
		err := x.probe(at)
		x.HTTP.On = err == nil
		switch {
		case err != nil && x.whyNoHTTP(at) != nil:
			x.add(check{Name: "http", Detail: fmt.Sprintf("not served on %s: %v", at, x.whyNoHTTP(at)), Hint: "mend that, then `steward stop`: the next service serves it", Code: ops.Unavailable})
		case err != nil:
			x.add(check{Name: "http", Detail: fmt.Sprintf("not served on %s: %v", at, err), Hint: "the service's log says why: " + x.p.Log, Code: ops.Unavailable})
		case later != "" && settings == "" && strings.Contains(x.holder, ", "+string(daemon.Serve)+","):
			x.add(fine("http", "on at %s for as long as this `steward serve` runs: it was asked for when it was started", at))
		case later != "":
			x.add(look("http", later, "on at %s", at))
		default:
			x.add(fine("http", "on at %s", at))
		}
	}
	x.token("owner token", "STEWARD_TOKEN", x.p.Token)
	x.token("agent token", "STEWARD_AGENT_TOKEN", x.p.AgentToken)
}

// whyNoHTTP is why a service runs without HTTP, as far as it can be seen from
// here; nil if nothing is in the way.
func (x *examination) whyNoHTTP(listen string) error {
	if err := daemon.MayListen(x.env, listen); err != nil {
		return err
	}
	for _, t := range [...]struct{ variable, file string }{{"STEWARD_TOKEN", x.p.Token}, {"STEWARD_AGENT_TOKEN", x.p.AgentToken}} {
		if x.env.IsSet(t.variable) {
			continue
		}
		if err := daemon.TokenUnusable(t.file); err != nil {
			return fmt.Errorf("the token in %s cannot be used: %w", t.file, err)
		}
	}
	return nil
}

func orOff(listen string) string {
	if listen == "" {
		return "off"
	}
	return listen
}

// probe asks for /healthz.
func (x *examination) probe(listen string) error {
	ctx, cancel := context.WithTimeout(x.ctx, probeWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+daemon.Nearest(listen)+"/healthz", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	answer, err := client.Do(r)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			return op.Err // the address is said beside it
		}
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	var health struct{ Status, Version string }
	b, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err == nil {
		err = json.Unmarshal(b, &health)
	}
	if err != nil || answer.StatusCode != http.StatusOK || health.Status != "ok" {
		return fmt.Errorf("what answers there is not Steward (%s)", answer.Status)
	}
	if x.Service != nil && health.Version != x.Service.Version {
		return fmt.Errorf("another Steward answers there, version %s", health.Version)
	}
	return nil
}

// token looks at one of the two secrets, whose text is never shown.
func (x *examination) token(name, variable, file string) {
	if x.env.IsSet(variable) {
		x.add(fine(name, "in %s", variable))
		return
	}
	there, problem := daemon.CheckToken(file)
	switch {
	case daemon.TokenUnusable(file) != nil:
		x.add(check{Name: name, Detail: fmt.Sprintf("%s cannot be used: %v", file, problem), Hint: "move it away and start again to get a new one; or set " + variable, Code: ops.Unavailable})
	case problem != nil:
		x.add(check{Name: name, Detail: fmt.Sprintf("%s: %v", file, problem), Hint: "chmod 600 " + file + ", or delete it and start again to get a new one", Code: ops.Forbidden})
	case !there:
		x.add(fine(name, "%s: not there yet, made when HTTP is first served", file))
	default:
		x.add(fine(name, "%s", file))
	}
}

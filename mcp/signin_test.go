package mcp

import (
	"errors"
	"testing"

	"steward/mcp/local"
)

func TestSignInLine(t *testing.T) {
	f := newFixture(t, func(cfg *SocketConfig, _ *timing) {
		cfg.OnSignIn = func(proof string) (string, *local.Refused) {
			if proof != "right" {
				return "", &local.Refused{Code: local.RefusedForbidden, Message: "no", Hint: "ask otherwise"}
			}
			return "http://127.0.0.1:1/#code=x", nil
		}
	})
	if link, err := local.AskSignIn(t.Context(), f.address, local.SignIn{Proof: "right"}); err != nil || link != "http://127.0.0.1:1/#code=x" {
		t.Errorf("%q, %v", link, err)
	}
	_, err := local.AskSignIn(t.Context(), f.address, local.SignIn{Proof: "wrong"})
	if r, ok := errors.AsType[*local.Refused](err); !ok || *r != (local.Refused{Code: local.RefusedForbidden, Message: "no", Hint: "ask otherwise"}) {
		t.Errorf("%v", err)
	}
	none := newFixture(t, nil)
	_, err = local.AskSignIn(t.Context(), none.address, local.SignIn{Proof: "right"})
	if r, ok := errors.AsType[*local.Refused](err); !ok || r.Code != "unavailable" {
		t.Errorf("where nobody makes links: %v", err)
	}
}

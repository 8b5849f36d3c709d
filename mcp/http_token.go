package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// Token is which of the two secrets a request carries. The greater opens more.
type Token uint8

// The tokens.
const (
	TokenNone  Token = iota // none, or one that is not known
	TokenAgent              // opens /mcp: the only one clients are given
	TokenOwner              // opens everything: the person's own
)

var tokenNames = [...]string{"none", "agent", "owner"}

// String returns the token's name, never its text.
func (t Token) String() string {
	if int(t) < len(tokenNames) {
		return tokenNames[t]
	}
	return "unknown"
}

// NewToken returns a fresh secret: 32 random bytes as 43 characters of base64url.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

type tokenKey struct{}

// TokenOf returns which token a request brought that came through an HTTP's
// guard, from its context. Handlers mounted with TokenNone see what came too.
func TokenOf(ctx context.Context) Token {
	t, _ := ctx.Value(tokenKey{}).(Token)
	return t
}

// token tells which secret a request carries in its Authorization header, the
// only place that is looked at. Both comparisons are always made, over digests,
// so that the time they take says nothing. If the two secrets are the same, the
// lesser counts: clients hold it.
func (h *HTTP) token(r *http.Request) Token {
	given := bearer(r.Header.Values("Authorization"))
	agent := same(given, h.cfg.AgentToken)
	owner := same(given, h.cfg.OwnerToken)
	switch {
	case agent == 1:
		return TokenAgent
	case owner == 1:
		return TokenOwner
	}
	return TokenNone
}

// same is 1 when given is the secret, and there is one.
func same(given string, secret func() string) int {
	want := ""
	if secret != nil {
		want = secret()
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	equal := subtle.ConstantTimeCompare(a[:], b[:])
	if want == "" {
		return 0
	}
	return equal
}

// bearer is the token in an Authorization header; "" when there is none, or more
// than one header.
func bearer(values []string) string {
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

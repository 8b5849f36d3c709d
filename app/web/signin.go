package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"steward/mcp/ops"
)

const (
	codeLife  = 60 * time.Second
	codesMost = 8       // alive at once: a further one takes the oldest's place
	maxSignIn = 4 << 10 // bytes of a body
)

// NewCode returns a code that whoever brings it first within a minute is given
// the owner's token for: 256 bits as 43 characters of base64url.
func (w *Web) NewCode() string { return w.codes.make(time.Now()) }

// SignIn answers POST /api/signin {"code":…} with {"token":…}, the owner's token.
func (w *Web) SignIn() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !allow(rw, r, http.MethodPost) {
			return
		}
		b, bad := body(rw, r, maxSignIn)
		if bad != nil {
			bad.write(rw)
			return
		}
		var in struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal(b, &in); err != nil {
			refuse(rw, 0, &ops.Error{Code: ops.Invalid, Field: "body", Message: `body: {"code":"…"}; got something else`})
			return
		}
		if in.Code != "" && w.codes.take(in.Code, time.Now()) {
			token, err := json.Marshal(map[string]string{"token": w.cfg.Token()})
			if err != nil {
				refuse(rw, 0, ops.AsError(err))
				return
			}
			w.log.Info("a browser has signed in")
			answer(rw, http.StatusOK, token)
			return
		}
		if in.Code != "" && w.cfg.Wrong(r.Context()) {
			rw.Header().Set("Retry-After", "60")
			refuse(rw, http.StatusTooManyRequests, &ops.Error{Code: ops.Unavailable, Message: "too many wrong codes", Hint: "wait a minute, then make a new link with `steward open`"})
			return
		}
		refuse(rw, http.StatusUnauthorized, &ops.Error{Code: ops.Forbidden, Field: "code", Message: "this code is not good, or not good any more",
			Hint: "make a new link with `steward open`: it is good once, for a minute"})
	})
}

// codes are those that are good now. Only their digests are kept.
type codes struct {
	mu    sync.Mutex
	alive []code // oldest first
}

type code struct {
	sum   [sha256.Size]byte
	until time.Time
}

func (c *codes) make(now time.Time) string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	text := base64.RawURLEncoding.EncodeToString(b[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	if len(c.alive) == codesMost {
		c.alive = c.alive[1:]
	}
	c.alive = append(c.alive, code{sha256.Sum256([]byte(text)), now.Add(codeLife)})
	return text
}

// take tells whether the code is good, and uses it up. It looks at every code
// that is alive, however early it finds one, so that its time says nothing.
func (c *codes) take(text string, now time.Time) bool {
	sum := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	found := -1
	for i := range c.alive {
		equal := subtle.ConstantTimeCompare(sum[:], c.alive[i].sum[:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 {
		return false
	}
	c.alive = append(c.alive[:found], c.alive[found+1:]...)
	return true
}

func (c *codes) expire(now time.Time) {
	for len(c.alive) > 0 && !now.Before(c.alive[0].until) {
		c.alive = c.alive[1:]
	}
}

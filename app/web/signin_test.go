package web

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSignIn(t *testing.T) {
	f := newFixture(t, nil)
	code := f.NewCode()
	if b, err := base64.RawURLEncoding.DecodeString(code); err != nil || len(b) != 32 || code == f.NewCode() {
		t.Errorf("code %q: %d bytes, %v", code, len(b), err)
	}
	post := func(body string) got { return f.ask("POST", SignInPath, body) }
	with := func(code string) string { return fmt.Sprintf(`{"code":%q}`, code) }
	if g := post(with(code)); g.StatusCode != 200 || g.body != `{"token":"the-owner's-token"}`+"\n" || g.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %q %v", g.Status, g.body, g.Header)
	}
	for name, body := range map[string]string{"used": with(code), "wrong": with(strings.Repeat("A", 43)), "short": with("A"), "cut": with(code[:42]), "long": with(code + "A")} {
		if g := post(body); g.StatusCode != 401 || g.code() != "forbidden" || strings.Contains(g.body, "token\"") {
			t.Errorf("%s: %s %q", name, g.Status, g.body)
		}
	}
	if n := f.wrong.Load(); n != 5 {
		t.Errorf("%d wrong codes were counted", n)
	}
	// None is not a wrong one.
	for _, body := range []string{`{}`, `{"code":""}`, `null`} {
		if g := post(body); g.StatusCode != 401 {
			t.Errorf("%s: %s", body, g.Status)
		}
	}
	for _, body := range []string{``, `[]`, `{"code":7}`, `code=x`, `{"code":`} {
		if g := post(body); g.StatusCode != 400 || g.code() != "invalid" {
			t.Errorf("%s: %s", body, g.Status)
		}
	}
	if g := post(with(strings.Repeat("A", maxSignIn))); g.StatusCode != 413 {
		t.Errorf("a long body: %s", g.Status)
	}
	if n := f.wrong.Load(); n != 5 {
		t.Errorf("%d wrong codes were counted", n)
	}
	for _, method := range []string{"GET", "HEAD", "PUT"} {
		if g := f.ask(method, SignInPath+"?code="+f.NewCode(), ""); g.StatusCode != 405 || g.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s", method, g.Status)
		}
	}
	// Too many wrong ones do not keep out the right one.
	f.tooMany.Store(true)
	if g := post(with("wrong")); g.StatusCode != 429 || g.Header.Get("Retry-After") != "60" {
		t.Errorf("%s %v", g.Status, g.Header)
	}
	right := f.NewCode()
	if g := post(with(right)); g.StatusCode != 200 {
		t.Errorf("the right one: %s", g.Status)
	}
	for _, secret := range []string{code, right, "the-owner's-token"} {
		if strings.Contains(f.text.String(), secret) {
			t.Error("the log holds a secret")
		}
	}
}

// A code is good for a minute and once; of nine the oldest is dropped.
func TestCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c codes
		take := func(code string, want bool) {
			t.Helper()
			if c.take(code, time.Now()) != want {
				t.Errorf("taken: %v", !want)
			}
		}
		first := c.make(time.Now())
		time.Sleep(30 * time.Second) // the bubble's time, not ours
		second := c.make(time.Now())
		time.Sleep(30*time.Second - time.Nanosecond)
		take(first, true)
		take(first, false)
		third := c.make(time.Now())
		time.Sleep(30 * time.Second)
		take(second, true)
		time.Sleep(30 * time.Second)
		take(third, false)
		take("", false)

		var many []string
		for range codesMost + 1 {
			many = append(many, c.make(time.Now()))
		}
		if len(c.alive) != codesMost {
			t.Errorf("%d are alive", len(c.alive))
		}
		take(many[0], false)
		take(many[4], true) // from the middle
		for i, code := range many[1:] {
			take(code, i != 3)
		}
	})
}

package mcp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHTTPWrongTokens: five a minute are told so at once, further ones wait; who
// has the right one, or none, never does.
func TestHTTPWrongTokens(t *testing.T) {
	inTime(t, func(t *testing.T, d *timed) {
		d.http.cfg.OwnerToken = func() string { return ownerSecret }
		d.http.Mount("/api/", TokenOwner, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		ask := func(authorization string, want int, took time.Duration) {
			t.Helper()
			c := d.open(t)
			defer c.Close()
			begin := time.Now()
			c.send(d.request("GET", "/api/x", "", authorization))
			g := c.response("GET")
			if g.StatusCode != want || time.Since(begin) != took {
				t.Errorf("%.30s: %s after %v; want %d after %v", authorization, g.Status, time.Since(begin), want, took)
			}
			if retry := g.Header.Get("Retry-After"); (want == 429) != (retry == "60") {
				t.Errorf("%.30s: Retry-After %q", authorization, retry)
			}
		}
		round := func() {
			t.Helper()
			for i := range 5 {
				ask(fmt.Sprintf("Authorization: Bearer wrong-%d", i), 401, 0)
			}
			for _, none := range []string{"X: y", "Authorization: Bearer ", "Authorization: Bearer", "Authorization: Basic " + ownerSecret, "Authorization: " + ownerSecret} {
				ask(none, 401, 0)
			}
			for range 3 {
				ask("Authorization: Bearer wrong", 429, time.Second)
			}
			ask(asOwner, 200, 0)
			ask(asAgent, 403, 0)
		}
		round()
		time.Sleep(time.Minute - 4*time.Second) // the bubble's time, not ours
		ask("Authorization: Bearer wrong", 429, time.Second)
		time.Sleep(time.Minute)
		round()

		// Those who wait hold up neither each other nor the right one.
		begin := time.Now()
		var waiting []*wire
		for range 40 {
			c := d.open(t)
			c.send(d.request("POST", "/mcp", "", "Authorization: Bearer wrong"))
			waiting = append(waiting, c)
		}
		synctest.Wait()
		ask(asOwner, 200, 0)
		for _, c := range waiting {
			if g := c.response("POST"); g.StatusCode != 429 {
				t.Error(g.Status)
			}
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("all of them took %v", took)
		}

		// One that waits is no reason to stay.
		c := d.open(t)
		c.send(d.request("GET", "/api/x", "", "Authorization: Bearer wrong"))
		synctest.Wait()
		begin = time.Now()
		d.http.stop()
		if g := c.response("GET"); g.StatusCode != 429 || time.Since(begin) != 0 {
			t.Errorf("while the service leaves: %s after %v", g.Status, time.Since(begin))
		}
	})
}

// A token in the wrong place is none.
func TestHTTPWrongTokenInAnAddress(t *testing.T) {
	d := newDoor(t, nil)
	for range 8 {
		if g := d.raw(t, d.request("POST", "/mcp?token="+agentSecret, "")); g.StatusCode != 401 || strings.Contains(d.text.String(), agentSecret) {
			t.Errorf("%s, or the log holds it", g.Status)
		}
	}
}

// TestHTTPMountStream: a stream holds one of the places of its own, and is told
// when the service leaves.
func TestHTTPMountStream(t *testing.T) {
	d := newDoor(t, func(_ *HTTPConfig, l *limits) { l.streams, l.requests = 2, 1 })
	d.http.MountStream("/api/events", TokenOwner, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-d.http.Stopping():
			fmt.Fprint(w, "bye")
		case <-r.Context().Done():
		}
	}))
	d.http.Mount("/api/", TokenOwner, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	open := func() *wire {
		c := d.connect(t)
		c.send(d.request("GET", "/api/events", "", asOwner))
		return c
	}
	first, second := open(), open()
	for _, c := range []*wire{first, second} {
		if r := c.head("GET"); r.StatusCode != 200 {
			t.Fatal(r.Status)
		}
	}
	third := open()
	if g := third.response("GET"); g.StatusCode != 429 || !strings.Contains(g.body, "event streams") {
		t.Errorf("a third: %s %s", g.Status, g.body)
	}
	if g := d.raw(t, d.request("GET", "/api/x", "", asOwner)); g.StatusCode != 200 {
		t.Errorf("a call beside them: %s", g.Status)
	}
	if d.http.Active() != 2 || d.http.Streams() != 2 {
		t.Errorf("%d active, %d streams", d.http.Active(), d.http.Streams())
	}
	first.Close()
	eventually(t, "the place to be free", func() bool { return d.http.Streams() == 1 && d.http.Active() == 1 })
	fourth := open()
	r := fourth.head("GET")
	if err := d.http.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(r.Body); err != nil || string(b) != "bye" {
		t.Errorf("%q, %v", b, err)
	}
}

package daemon

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"steward/app/update"
	"steward/ledger"
	"steward/mcp/ops"
)

// releases is a server with one release, which a test may change.
func releases(t *testing.T, own string) (src *update.Source, put func(version string)) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var list atomic.Value
	list.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := []byte(list.Load().(string))
		switch {
		case len(b) == 0:
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".sig"):
			_, _ = w.Write([]byte(base64.StdEncoding.EncodeToString(ed25519.Sign(key, b)))) // the client sees what is missing
		default:
			_, _ = w.Write(b)
		}
	}))
	t.Cleanup(server.Close)
	if src, err = update.New(server.URL, base64.StdEncoding.EncodeToString(public), "", own); err != nil {
		t.Fatal(err)
	}
	return src, func(version string) {
		if version != "" {
			version = strings.Repeat("0", 64) + "  steward_" + version + "_linux_amd64.tar.gz\n"
		}
		list.Store(version)
	}
}

func TestLookForNewer(t *testing.T) {
	p := place(t)
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	src, put := releases(t, "1.0.0")
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		newest string
		newer  bool
		code   ops.Code
		state  ops.Update
	}{
		{"", false, ops.Unavailable, ops.Update{State: "failed", Problem: "no release can be had: SHA256SUMS: the server answered 404 Not Found"}},
		{"1.0.0", false, "", ops.Update{State: "current"}},
		{"1.2.0", true, "", ops.Update{State: "newer", Version: "1.2.0", Notes: "notes"}},
		{"1.1.0", false, ops.Forbidden, ops.Update{State: "newer", Version: "1.2.0", Notes: "notes"}}, // a step back
		{"", false, ops.Unavailable, ops.Update{State: "newer", Version: "1.2.0", Notes: "notes"}},
		{"1.3.0", true, "", ops.Update{State: "newer", Version: "1.3.0", Notes: "notes"}},
	} {
		put(c.newest)
		at = at.Add(time.Hour)
		n, err := lookForNewer(t.Context(), p, src, at)
		if ops.CodeOf(err) != c.code || n.Newer != c.newer || err == nil && n.Release.Version != c.newest {
			t.Errorf("at %q: %+v, %v", c.newest, n, err)
		}
		c.state.CheckedAt = ledger.At(at)
		if got := told(readMark(p), "1.0.0", "notes"); got != c.state {
			t.Errorf("at %q: the person is told %+v; want %+v", c.newest, got, c.state)
		}
	}
	if got := told(readMark(p), "1.3.0", "notes"); got.State != "current" { // after the update
		t.Errorf("after it: %+v", got)
	}
	// A look that was given up is none.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lookForNewer(ctx, p, src, at.Add(time.Hour)); ops.CodeOf(err) != ops.Unavailable || !readMark(p).At.Equal(at) {
		t.Errorf("%v, noted at %s", err, readMark(p).At)
	}
	// What is no mark counts as none, and is replaced.
	for _, junk := range []string{"", "{", `{"checked_at":5}`, `{"newest":"<b>"}`, strings.Repeat("x", maxMark+1)} {
		write(t, p.update(), []byte(junk))
		if m := readMark(p); m != (mark{}) {
			t.Errorf("%.20q is %+v", junk, m)
		}
		if _, err := lookForNewer(t.Context(), p, src, at); err != nil || readMark(p).Newest != "1.3.0" {
			t.Errorf("over %.20q: %v, %+v", junk, err, readMark(p))
		}
	}
}

// settingsIn are settings that a test turns on and off by their file.
func settingsIn(t *testing.T) (s *Settings, turn func(on bool)) {
	t.Helper()
	s = NewSettings(filepath.Join(t.TempDir(), "config.json"), nil)
	return s, func(on bool) {
		if _, err := s.Prefer(ops.PreferenceChange{UpdateCheck: &on}); err != nil {
			t.Error(err)
		}
	}
}

func TestOutlook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings, turn := settingsIn(t)
		settings.now = time.Now
		begin := time.Now()
		var mu sync.Mutex // of both
		var looks []time.Duration
		var last time.Time
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		o := &outlook{settings: settings, now: time.Now, last: func() time.Time { mu.Lock(); defer mu.Unlock(); return last }, start: begin.Add(7 * time.Minute), spread: 50 * time.Minute,
			look: func(context.Context) {
				mu.Lock()
				defer mu.Unlock()
				last = time.Now()
				looks = append(looks, time.Since(begin))
			}}
		ended := make(chan struct{})
		go func() { defer close(ended); o.run(ctx) }()
		expect := func(want ...time.Duration) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(looks) != len(want) {
				t.Fatalf("looked at %v; want %v", looks, want)
			}
			for i := range want {
				if looks[i] != want[i] {
					t.Errorf("look %d at %s; want %s", i, looks[i], want[i])
				}
			}
			looks = nil
		}
		time.Sleep(100 * 24 * time.Hour) // turned off: never
		expect()
		turn(true) // the person waits for it
		first := time.Since(begin)
		expect(first)
		time.Sleep(3 * 24 * time.Hour)
		day := 24*time.Hour + 50*time.Minute
		expect(first+day, first+2*day)
		since := time.Since(begin)
		for range 5 { // however often it is turned off and on
			turn(false)
			synctest.Wait()
			turn(true)
			synctest.Wait()
			time.Sleep(time.Minute)
		}
		expect()
		time.Sleep(25*time.Hour - 5*time.Minute)
		expect(first + 3*day)
		if since > first+3*day {
			t.Fatal("the test's own times are wrong")
		}
		turn(false)
		synctest.Wait()
		time.Sleep(30 * 24 * time.Hour)
		expect()
		mu.Lock()
		last = time.Now().Add(1000 * time.Hour) // of a clock that was wrong
		mu.Unlock()
		turn(true)
		expect(time.Since(begin))
		stop()
		<-ended
	})
}

// A service that starts turned on does not ask at once, nor before a day has gone
// since another one did; and a look that cannot be noted is not repeated either.
func TestOutlookAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings, turn := settingsIn(t)
		turn(true)
		settings.now = time.Now
		begin := time.Now()
		for _, c := range []struct {
			last time.Time
			want time.Duration
		}{
			{time.Time{}, 7 * time.Minute}, {begin.Add(-time.Hour), 23 * time.Hour}, {begin.Add(-48 * time.Hour), 7 * time.Minute},
		} {
			ctx, stop := context.WithCancel(t.Context())
			start := time.Now()
			var looks []time.Duration
			o := &outlook{settings: settings, now: time.Now, last: func() time.Time {
				if c.last.IsZero() {
					return c.last
				}
				return c.last.Add(start.Sub(begin))
			}, start: start.Add(7 * time.Minute),
				look: func(context.Context) { looks = append(looks, time.Since(start)) }}
			ended := make(chan struct{})
			go func() { defer close(ended); o.run(ctx) }()
			time.Sleep(c.want + 23*time.Hour)
			synctest.Wait()
			stop()
			<-ended
			if len(looks) != 1 || looks[0] != c.want {
				t.Errorf("last %s: looked at %v; want once, at %s", c.last, looks, c.want)
			}
		}
	})
}

func TestDownloads(t *testing.T) {
	home := t.TempDir()
	env := Env{"HOME": home, "USERPROFILE": home}
	if runtime.GOOS == "windows" {
		t.Skip("the system says where it is")
	}
	if folder, err := Downloads(env); ops.CodeOf(err) != ops.NotFound {
		t.Errorf("%q, %v", folder, err)
	}
	if folder, err := Downloads(Env{}); ops.CodeOf(err) != ops.NotFound {
		t.Errorf("without a home: %q, %v", folder, err)
	}
	for _, f := range []string{"Downloads", "下载", "elsewhere"} {
		if err := os.Mkdir(filepath.Join(home, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for list, want := range map[string]string{
		"": "Downloads",
		"# comment\nXDG_DESKTOP_DIR=\"$HOME/elsewhere\"\nXDG_DOWNLOAD_DIR=\"$HOME/下载\"\n": "下载",
		"XDG_DOWNLOAD_DIR=\"" + filepath.Join(home, "elsewhere") + "\"\n":                 "elsewhere",
		"XDG_DOWNLOAD_DIR=\"relative\"\n":                                                 "Downloads",
	} {
		write(t, filepath.Join(home, ".config", "user-dirs.dirs"), []byte(list))
		if folder, err := Downloads(env); err != nil || folder != filepath.Join(home, want) {
			t.Errorf("%q: %q, %v; want %s", list, folder, err, want)
		}
	}
}

// What fails on this machine is not told as a missing network.
func TestNoRelease(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/there/steward.deb", Err: errors.New("no space left")}
	for _, c := range []struct {
		err       error
		says, not string
	}{
		{fmt.Errorf("fetch: %w", full), "/there/steward.deb: no space left", "network"},
		{&os.LinkError{Op: "rename", Old: "/there/.part", New: "/there/steward.deb", Err: fs.ErrNotExist}, "/there/steward.deb", "network"},
		{context.Canceled, "given up", "network"},
		{errors.New("no such host"), "no such host", "--to"},
	} {
		e := NoRelease(c.err)
		if text := e.Message + "; " + e.Hint; e.Code != ops.Unavailable || !strings.Contains(text, c.says) || strings.Contains(text, c.not) {
			t.Errorf("%v: %s %s", c.err, e.Code, text)
		}
	}
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/ledger/ledgertest"
	"steward/mcp"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// limit is how long anything here may take.
const limit = 10 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// told writes down what a page would be told.
type told struct {
	mu    sync.Mutex
	news  []ops.Notice
	links []linkState
	more  chan struct{}
}

func newPage() *told { return &told{more: make(chan struct{}, 1)} }

func (p *told) emit(event string, data any) {
	p.mu.Lock()
	switch d := data.(type) {
	case ops.Notice:
		p.news = append(p.news, d)
	case linkState:
		p.links = append(p.links, d)
	default:
		panic(event)
	}
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// until waits until the page has been told enough.
func (p *told) until(t *testing.T, enough func(news []ops.Notice, links []linkState) bool) {
	t.Helper()
	for end := time.After(limit); ; {
		p.mu.Lock()
		ok := enough(p.news, p.links)
		p.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-p.more:
		case <-end:
			t.Fatalf("the page was told %v and %v", p.links, p.news)
		}
	}
}

// ids are those of the events that the page was told of, in that order.
func ids(t *testing.T, news []ops.Notice) (all []int64) {
	t.Helper()
	for _, n := range news {
		var d ops.LedgerNotice
		if n.Type != ops.NoticeLedger {
			continue
		}
		if err := json.Unmarshal(n.Data, &d); err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Events {
			all = append(all, e.ID)
		}
	}
	return all
}

func newSet(t *testing.T) *ops.Set {
	t.Helper()
	return ops.NewSet(&ops.Env{Log: ledgertest.Open(t, nil), Targets: func() []string { return []string{"studio"} }}, ops.All()...)
}

func report(t *testing.T, set *ops.Set, object string) {
	t.Helper()
	if _, err := set.Call(t.Context(), ops.Caller{Surface: ops.Agent}, "report_done", fmt.Appendf(nil, `{"actor":"ada","object_id":%q}`, object)); err != nil {
		t.Fatal(err)
	}
}

// overSocket is another process's service, and the window's connection to it.
func overSocket(t *testing.T, set *ops.Set) attached {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s", "s.sock")
	l, err := mcp.Listen(path)
	if err != nil {
		t.Skipf("no socket here: %v", err)
	}
	sock := mcp.NewSocket(mcp.SocketConfig{Logger: quiet, Version: "1.0.0", Person: func(p string) bool { return p == "proof" }})
	go sock.Serve(l)
	sock.Ready(mcp.NewServer("1.0.0", set, quiet))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = sock.Drain(ctx) // a follower never ends by itself
	})
	to, err := local.Attach(t.Context(), path, local.Hello{Version: "1.0.0", Proof: "proof"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	return attached{to: to}
}

// Both kinds of backend answer alike.
func TestBackends(t *testing.T) {
	for name, of := range map[string]func(*testing.T, *ops.Set) Backend{
		"embedded": func(_ *testing.T, set *ops.Set) Backend { return embedded{set} },
		"attached": func(t *testing.T, set *ops.Set) Backend { return overSocket(t, set) },
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet(t)
			b := of(t, set)
			if b.Attached() != (name == "attached") {
				t.Error("it does not know what it is")
			}
			got, oerr := b.Call(t.Context(), "handoff_create", json.RawMessage(`{"target":"studio","instruction":"x","idempotency_key":"k"}`))
			if oerr != nil || !strings.Contains(string(got), `"created":true`) {
				t.Fatalf("%s, %v", got, oerr)
			}
			var made struct{ Handoff struct{ ID string } }
			if err := json.Unmarshal(got, &made); err != nil {
				t.Fatal(err)
			}
			settle := json.RawMessage(`{"handoff_id":"` + made.Handoff.ID + `","status":"done"}`)
			if got, oerr := b.Call(t.Context(), "handoff_settle", settle); oerr != nil {
				t.Fatalf("the person may not decide: %s, %v", got, oerr)
			}
			_, oerr = b.Call(t.Context(), "handoff_settle", json.RawMessage(`{"handoff_id":"`+made.Handoff.ID+`","status":"failed"}`))
			if oerr == nil || oerr.Code != ops.Closed || len(oerr.State) == 0 {
				t.Errorf("against what is: %v %s", oerr, oerr.JSON())
			}
			_, oerr = b.Call(t.Context(), "recent_events", json.RawMessage(`{"limit":1000}`))
			if oerr == nil || oerr.Code != ops.Invalid || oerr.Field != "limit" {
				t.Errorf("a limit of 1000: %v", oerr)
			}
			if _, oerr := b.Call(t.Context(), "handoff_finish", json.RawMessage(`{}`)); oerr == nil {
				t.Error("what only agents may is offered to the window")
			}
		})
	}
}

type tabletop struct{ opened, shown []string }

func (d *tabletop) Open(_ context.Context, file string) error {
	d.opened = append(d.opened, file)
	return nil
}

func (d *tabletop) Show(_ context.Context, path string) error {
	d.shown = append(d.shown, path)
	return nil
}

// A window that is attached opens attachments on its own desktop: a service that
// a client started has none.
func TestAttachmentsOpenWhereTheWindowIs(t *testing.T) {
	set, d := newSet(t), &tabletop{}
	b := overSocket(t, set)
	b.desk = d
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mix, tool := filepath.Join(folder, "mix 14.wav"), filepath.Join(folder, "tool.exe")
	for _, p := range []string{mix, tool} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := json.Marshal([]map[string]string{{"path": mix}, {"path": tool}, {"path": filepath.Join(folder, "gone")}})
	if err != nil {
		t.Fatal(err)
	}
	got, oerr := b.Call(t.Context(), "handoff_create", fmt.Appendf(nil, `{"target":"studio","instruction":"x","idempotency_key":"k","attachments":%s}`, files))
	if oerr != nil {
		t.Fatal(oerr)
	}
	var made struct{ Handoff struct{ ID string } }
	if err := json.Unmarshal(got, &made); err != nil {
		t.Fatal(err)
	}
	open := func(args string) (string, *ops.Error) {
		res, oerr := b.Call(t.Context(), "attachment_open", json.RawMessage(args))
		return string(res), oerr
	}
	for i, want := range []string{`"opened":"file"`, `"opened":"folder"`} {
		if res, oerr := open(fmt.Sprintf(`{"handoff_id":%q,"index":%d}`, made.Handoff.ID, i)); oerr != nil || !strings.Contains(res, want) {
			t.Errorf("%d: %s %v", i, res, oerr)
		}
	}
	if !slices.Equal(d.opened, []string{mix}) || !slices.Equal(d.shown, []string{tool}) {
		t.Errorf("%+v", d)
	}
	for args, code := range map[string]ops.Code{
		fmt.Sprintf(`{"handoff_id":%q,"index":2}`, made.Handoff.ID):          ops.NotFound,
		fmt.Sprintf(`{"handoff_id":%q,"index":3}`, made.Handoff.ID):          ops.NotFound,
		`{"handoff_id":"hnd_none","index":0}`:                                ops.NotFound,
		fmt.Sprintf(`{"handoff_id":%q}`, made.Handoff.ID):                    ops.Invalid,
		fmt.Sprintf(`{"handoff_id":%q,"index":0,"path":1}`, made.Handoff.ID): ops.Invalid,
	} {
		if _, oerr := open(args); oerr == nil || oerr.Code != code {
			t.Errorf("%s: %v, want %s", args, oerr, code)
		}
	}
}

func TestLinkTellsWhatHappensFromNowOn(t *testing.T) {
	set, p := newSet(t), newPage()
	report(t, set, "before")
	l := NewLink(quiet, p.emit)
	defer l.Close()
	l.Use(embedded{set})
	if len(p.links) != 0 {
		t.Errorf("told before it is up: %v", p.links)
	}
	l.Listen()
	for i := range 3 {
		report(t, set, fmt.Sprint(i))
	}
	p.until(t, func(news []ops.Notice, _ []linkState) bool { return len(ids(t, news)) == 3 })
	if got := ids(t, p.news); got[0] != 2 || got[2] != 4 {
		t.Errorf("told of %v", got)
	}
	if p.links[0].State != linkLive {
		t.Errorf("told %v", p.links)
	}
	// A page that comes up anew hears only what is new.
	l.Listen()
	report(t, set, "after")
	p.until(t, func(news []ops.Notice, _ []linkState) bool { return len(ids(t, news)) == 4 })
	if got := ids(t, p.news); got[3] != 5 {
		t.Errorf("told of %v", got)
	}
}

// From one owner to the next the page hears everything once, and its calls wait.
func TestLinkChangesItsBackend(t *testing.T) {
	set, p := newSet(t), newPage()
	l := NewLink(quiet, p.emit)
	defer l.Close()
	l.Listen()
	other := overSocket(t, set)
	l.Use(other)
	report(t, set, "one")
	p.until(t, func(news []ops.Notice, _ []linkState) bool { return len(ids(t, news)) == 1 })
	if !l.Attached() {
		t.Error("it is not attached")
	}
	l.Opening()
	report(t, set, "two") // while nobody listens
	type answer struct {
		got json.RawMessage
		err *ops.Error
	}
	answered := make(chan answer, 1)
	go func() {
		got, err := l.Call(t.Context(), "recent_events", json.RawMessage(`{}`))
		answered <- answer{got, err}
	}()
	l.Use(embedded{set})
	if a := <-answered; a.err != nil || !strings.Contains(string(a.got), `"two"`) {
		t.Errorf("the call that waited: %s, %v", a.got, a.err)
	}
	report(t, set, "three")
	p.until(t, func(news []ops.Notice, _ []linkState) bool { return len(ids(t, news)) == 3 })
	if got := ids(t, p.news); got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("told of %v", got)
	}
	if l.Attached() {
		t.Error("it is still attached")
	}
}

func TestLinkSaysWhyItIsLost(t *testing.T) {
	set, p := newSet(t), newPage()
	l := NewLink(quiet, p.emit)
	defer l.Close()
	l.Listen()
	broken := &ops.Error{Code: ops.Corrupt, Message: "the ledger is damaged", Hint: "steward verify"}
	l.Lost(broken)
	l.Lost(broken) // said once
	if _, err := l.Call(t.Context(), "handoff_list", nil); !errors.Is(err, error(broken)) {
		t.Errorf("a call gets %v", err)
	}
	l.Use(embedded{set})
	want := []linkState{{State: linkOpening}, {State: linkLost, Code: ops.Corrupt, Reason: "the ledger is damaged", Hint: "steward verify"}, {State: linkLive}}
	if fmt.Sprint(p.links) != fmt.Sprint(want) {
		t.Errorf("told %v, want %v", p.links, want)
	}
	if _, err := l.Call(t.Context(), "handoff_list", nil); err != nil {
		t.Error(err)
	}
}

// A call that is given up while the ledger is being opened does not wait for it.
func TestCallGivenUp(t *testing.T) {
	l := NewLink(quiet, newPage().emit)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Call(ctx, "handoff_list", nil); err == nil || err.Code != ops.Unavailable {
		t.Errorf("it gets %v", err)
	}
}

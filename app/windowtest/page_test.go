//go:build linux

package windowtest_test

import (
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"testing"

	"steward/app/windowtest"
	"steward/frontend"
)

// real starts the window with the page that people get.
func real(t *testing.T, d *windowtest.Desktop, h *windowtest.House) *win {
	t.Helper()
	if !frontend.Built() {
		t.Skip("the page is not built; `make build` does that")
	}
	w := start(t, d, h)
	w.until(`document.querySelector('[data-focus="orb"]')`)
	return w
}

// steward runs a command in the window's house.
func (w *win) steward(args ...string) string {
	w.t.Helper()
	out, err := w.House.Run(program(w.t, programVar), args...)
	w.must(err)
	return out
}

// The orb says what agents report, and lets the screen be seen around it.
func TestRealOrb(t *testing.T) {
	d := desktop(t, true)
	other, err := d.Open("editor", image.Rect(100, 100, 500, 400))
	if err != nil {
		t.Fatal(err)
	}
	w := real(t, d, house(t))
	r := w.orb()
	w.until(`document.querySelector('[data-face="idle"]')`)
	w.steward("emit", "tests pass", "--actor", "ada")
	w.until(`document.querySelector('[data-face="working"]')`)
	w.steward("emit", "no disk", "--actor", "ada", "--type", "failed", "--object", "migration")
	w.until(`document.querySelector('[data-focus="orb"]').getAttribute('aria-label').includes('1 failure')`)
	w.must(active(d, other)) // none of it took the keyboard
	w.must(windowtest.Until(patience, func() error {
		img, err := d.Pixels(r)
		if err != nil {
			return err
		}
		for _, corner := range []image.Point{r.Min, {X: r.Min.X, Y: r.Max.Y - 1}, r.Max.Sub(image.Pt(1, 1))} {
			if img.RGBAAt(corner.X, corner.Y) != rgb(windowtest.StripeAt(corner.Y)) {
				return fmt.Errorf("at %v there is %v", corner, img.RGBAAt(corner.X, corner.Y))
			}
		}
		if striped(d, r.Inset(20)) == nil {
			return fmt.Errorf("the orb is not seen")
		}
		return nil
	}))
	p := w.openReal()
	if striped(d, p.Inset(20)) == nil {
		t.Error("the panel is not seen")
	}
	if now := w.fold(); now != r {
		t.Errorf("the orb is at %v, was at %v", now, r)
	}
	w.must(active(d, other))
}

// openReal is open for the real page.
func (w *win) openReal() image.Rectangle {
	w.t.Helper()
	w.must(w.Desktop.Click(1, middle(w.orb())))
	r := w.panel()
	w.until(`document.querySelector('[role="tablist"]')`)
	return r
}

// A person reviews a handoff and ends it, with mouse and keys.
func TestHandoffReviewed(t *testing.T) {
	d := desktop(t, true)
	w := real(t, d, house(t))
	w.orb()
	w.steward("call", "handoff_create", `{"target":"studio","instruction":"Export the stems","idempotency_key":"stems","attachments":[{"path":"/home/ada/mix.wav"}],"context":{"bpm":104}}`)
	var list struct {
		Handoffs []struct {
			ID string `json:"id"`
		} `json:"handoffs"`
	}
	if err := json.Unmarshal([]byte(w.steward("call", "handoff_list", "--json")), &list); err != nil || len(list.Handoffs) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	id := list.Handoffs[0].ID

	w.openReal()
	w.must(d.Type("3"))
	w.until(`document.querySelector('[role="tab"][aria-selected="true"]').textContent.includes('Handoffs')`)
	w.until(`document.querySelector('[data-row="handoff-` + id + `"]')`)
	w.click(`[data-row="handoff-` + id + `"]`)
	w.until(`document.querySelector('h1').textContent.includes('Export the stems')`)
	w.until(`document.body.textContent.includes('mix.wav') && document.body.textContent.includes('"bpm": 104')`)
	w.must(d.Type("c"))
	w.until(`document.querySelector('[aria-current="step"]').textContent.includes('claimed')`)
	w.must(d.Type("d"))
	w.until(`document.querySelector('dialog[open] input') === document.activeElement`)
	w.must(d.Type("eight files"))
	w.until(`document.activeElement.value === 'eight files'`)
	w.click(`dialog[open] button[type="submit"]`)
	w.until(`document.querySelector('[aria-current="step"]').textContent.includes('done')`)
	got := w.steward("call", "handoff_get", `{"handoff_id":"`+id+`"}`, "--json")
	for _, want := range []string{`"status":"done"`, `"outcome":"eight files"`, `"decided_by":"human"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the ledger has no %s: %s", want, got)
		}
	}
	w.must(d.Key(windowtest.Escape)) // back to the list
	w.until(`document.querySelector('[data-row="handoff-` + id + `"]')`)
	w.fold()
}

// Nothing leads out of the page.
func TestNoWayOut(t *testing.T) {
	d := desktop(t, true)
	w := show(t, d, house(t))
	w.orb()
	var got struct {
		Window  bool
		Fetch   string
		Inline  bool
		Evil    bool
		Address string
	}
	w.eval(`(async () => {
		const got = { window: window.open('https://example.org') === null };
		try { await fetch('https://example.org'); got.fetch = 'went out' } catch (e) { got.fetch = '' }
		const s = document.createElement('script'); s.textContent = 'window.inlined = true'; document.head.append(s);
		got.inline = window.inlined === true;
		try { got.evil = (0, eval)('true') } catch { got.evil = false }
		const a = document.createElement('a'); a.href = 'https://example.org/'; a.target = '_blank'; a.textContent = 'x'; document.body.append(a); a.click(); a.remove();
		location.href = 'https://example.org/';
		await new Promise((r) => setTimeout(r, 300));
		location.href = 'file:///etc/passwd';
		await new Promise((r) => setTimeout(r, 300));
		got.address = location.href;
		return got;
	})()`, &got)
	if !got.Window || got.Fetch != "" || got.Inline || got.Evil || got.Address != "wails://wails/" {
		t.Errorf("%+v", got)
	}
	w.open() // and it still works
	w.must(d.Click(3, middle(must(w.Bounds()))))
	if id, err := d.Find("Steward"); err != nil || id == 0 {
		t.Error(id, err)
	}
	w.fold()
}

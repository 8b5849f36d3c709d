//go:build linux

package windowtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/app/windowtest"
)

// The window and two browsers answer the same question at once: one wins, and the
// others are told by whom it was answered, and with what.
func TestDecidedAtOnce(t *testing.T) {
	d, h := desktop(t, true), house(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Home, "config.json"), fmt.Appendf(nil, `{"listen":%q}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	w := real(t, d, h)
	w.openReal()
	w.must(d.Type("2"))
	w.until(`document.querySelector('[role="tab"][aria-selected="true"]').textContent.includes('Decide')`)
	token, err := os.ReadFile(filepath.Join(h.Home, "token"))
	w.must(err)

	won := map[string]int{}
	const rounds = 12
	for i := range rounds {
		question := fmt.Sprintf("Which way, %d?", i)
		var asked struct{ ID string }
		w.must(json.Unmarshal([]byte(w.steward("call", "ask_human", fmt.Sprintf(`{"question":%q,"options":["by the window","by the first","by the second"]}`, question), "--json")), &asked))
		w.until(fmt.Sprintf(`document.querySelector('article[aria-current] h3')?.textContent === %q`, question))
		// Only the key that sends it is left. Right after a card went a digit is not
		// taken for the next one.
		w.must(windowtest.Until(patience, func() error {
			if err := d.Type("1"); err != nil {
				return err
			}
			var picked bool
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := w.Eval(ctx, `document.querySelector('article[aria-current] input').checked`, &picked)
			if err == nil && !picked {
				err = errors.New("nothing is picked")
			}
			return err
		}))

		type answer struct {
			status int
			body   string
			err    error
		}
		answers := make(chan answer, 2)
		for _, who := range []string{"by the first", "by the second"} {
			go func() {
				<-time.After(time.Duration(i) * 5 * time.Millisecond) // a key takes its time to the page: now one is first, now another
				r, err := http.NewRequest(http.MethodPost, "http://"+address+"/api/answer", strings.NewReader(fmt.Sprintf(`{"id":%q,"answer":%q}`, asked.ID, who)))
				if err != nil {
					answers <- answer{err: err}
					return
				}
				r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
				r.Header.Set("Origin", "http://"+address)
				a, err := http.DefaultClient.Do(r)
				if err != nil {
					answers <- answer{err: err}
					return
				}
				defer a.Body.Close()
				b, err := io.ReadAll(a.Body)
				answers <- answer{a.StatusCode, string(b), err}
			}()
		}
		w.must(d.Key(windowtest.Return))
		var taken []string
		var told []string
		for range 2 {
			a := <-answers
			w.must(a.err)
			switch a.status {
			case http.StatusOK:
				taken = append(taken, a.body)
			case http.StatusConflict:
				told = append(told, a.body)
			default:
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		var ticket struct{ Answer string }
		var queue struct {
			Tickets []struct{ ID, Status, Answer string }
		}
		w.must(windowtest.Until(patience, func() error {
			r, err := http.NewRequest(http.MethodGet, "http://"+address+"/api/tickets", nil)
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer a.Body.Close()
			if err := json.NewDecoder(a.Body).Decode(&queue); err != nil {
				return err
			}
			for _, x := range queue.Tickets {
				if x.ID == asked.ID && x.Status == "answered" {
					ticket.Answer = x.Answer
					return nil
				}
			}
			return fmt.Errorf("%s is not answered", asked.ID)
		}))
		won[ticket.Answer]++
		if byWindow := ticket.Answer == "by the window"; len(taken) > 1 || byWindow != (len(taken) == 0) {
			t.Errorf("%q stands; %d browsers were told that theirs was taken", ticket.Answer, len(taken))
		}
		for _, body := range told {
			if !strings.Contains(body, `"answer":"`+ticket.Answer+`"`) {
				t.Errorf("the loser is told %s; %q stands", body, ticket.Answer)
			}
		}
		// The window shows what stands, whoever said it, and the card has gone.
		w.until(fmt.Sprintf(`!document.querySelector('article') && document.querySelector('[data-answered]')?.textContent.includes(%q) && document.querySelector('[data-answered]').textContent.includes(%q)`, question, ticket.Answer))
	}
	answered := strings.Count(w.steward("export"), `"type":"ticket_answered"`)
	if answered != rounds {
		t.Errorf("%d answers in the ledger to %d questions", answered, rounds)
	}
	t.Logf("won: %v", won)
}

// Command ask measures how long ask_human takes while 64 streams ask at once and
// as many wait for answers beside them: it promises never to wait.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
)

const (
	streams = 64
	rounds  = 5
	warm    = 300 * time.Millisecond
	span    = 3 * time.Second
	limit   = 0.2 // s, what is promised
)

func main() {
	rig.ServeIfAsked()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "ask:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	service, err := rig.StartService(rig.ServiceOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Stop()) }()
	conns, err := service.Dial(ctx, 2*streams)
	if err != nil {
		return err
	}
	on := conns[:streams]
	w, err := wait(on, conns[streams:])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end(on)) }()

	// A question is taken back at once, untimed: a thousand may wait, and no person
	// answers here.
	asked := 0
	ask := func() (float64, error) {
		asked++
		round := asked
		took := make([][]float64, streams)
		from := time.Now().Add(warm)
		_, err := rig.Load(streams, warm, span, func(client, i int) error {
			begun := time.Now()
			id, err := question(on[client], client, fmt.Sprintf("%d-%d-%d", round, client, i))
			if err != nil {
				return err
			}
			if begun.After(from) {
				took[client] = append(took[client], time.Since(begun).Seconds())
			}
			_, err = on[client].Call("cancel_ticket", fmt.Appendf(nil, `{"id":%q}`, id))
			return err
		})
		var all []float64
		for _, t := range took {
			all = append(all, t...)
		}
		return gauge.Quantile(all, 0.99), err
	}
	receipts := func() (float64, error) {
		out, err := rig.Load(streams, warm, span, func(client, i int) error {
			_, err := on[client].Call("report_done", rig.Arguments(client, i))
			return err
		})
		return gauge.Quantile(out.Latencies, 0.99), err
	}
	got, err := gauge.Interleave(rounds, ask, receipts)
	if err != nil {
		return err
	}
	ours := gauge.Figure{Name: "ask_human", Value: got[0]}
	gauge.Print(os.Stdout,
		gauge.Row{Name: "64 streams: p99 of ask_human", Unit: gauge.Seconds, Ours: ours,
			Theirs: gauge.Figure{Name: "limit", Value: limit}, Bar: 1, AtMost: true},
		gauge.Row{Name: "64 streams: p99 of ask_human against receipts", Unit: gauge.Seconds, Ours: ours,
			Theirs: gauge.Figure{Name: "report_done", Value: got[1]}, Bar: 3, AtMost: true})
	return nil
}

// question asks one and returns its id.
func question(c *rig.Conn, stream int, key string) (string, error) {
	args, err := json.Marshal(map[string]any{
		"question": "May the migration drop the column owner_id of the table orders? (" + key + ")",
		"options":  []string{"Drop it now", "Keep it and add a view", "Stop the migration"},
		"context":  strings.Repeat("1,204 rows still reference it; a backup was taken at 13:55.\n", 8),
		"stream":   fmt.Sprintf("stream-%02d", stream), "idempotency_key": key,
	})
	if err != nil {
		return "", err
	}
	line, err := c.Call("ask_human", args)
	if err != nil {
		return "", err
	}
	var a struct {
		Result struct {
			Structured struct {
				ID     string `json:"id"`
				Status string `json:"status"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &a); err != nil || a.Result.Structured.Status != "pending" {
		return "", fmt.Errorf("ask_human: %s: %w", line, err)
	}
	return a.Result.Structured.ID, nil
}

// waiters are agents that wait for an answer, one for each stream.
type waiters struct {
	ids  []string
	all  sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// wait asks one question for each stream on its connection, and lets another
// connection wait for the answer until end.
func wait(on, beside []*rig.Conn) (*waiters, error) {
	w := &waiters{}
	for i, c := range on {
		id, err := question(c, i, fmt.Sprintf("waited for %d", i))
		if err != nil {
			return nil, err
		}
		w.ids = append(w.ids, id)
	}
	for i, c := range beside {
		args := fmt.Appendf(nil, `{"id":%q}`, w.ids[i])
		w.all.Go(func() {
			for {
				line, err := c.Call("wait_for_answer", args)
				if err != nil {
					w.mu.Lock()
					w.errs = append(w.errs, err)
					w.mu.Unlock()
					return
				}
				if strings.Contains(string(line), `"status":"cancelled"`) {
					return
				}
			}
		})
	}
	return w, nil
}

// end takes the questions back, which ends the waits.
func (w *waiters) end(on []*rig.Conn) error {
	for i, id := range w.ids {
		if _, err := on[i].Call("cancel_ticket", fmt.Appendf(nil, `{"id":%q}`, id)); err != nil {
			return err
		}
	}
	w.all.Wait()
	return errors.Join(w.errs...)
}

// Command receipts measures what a durable receipt costs beside what cannot be
// avoided: the same transport with the same validation and no ledger, the same
// build with one commit a call, and a bare durable insert.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
)

const (
	rounds = 5
	warm   = 300 * time.Millisecond
	span   = 2 * time.Second

	many  = 64   // clients of the receipt rows
	some  = 16   // clients of the handoff row
	calls = 1500 // of one client, for a median
)

func main() {
	rig.ServeIfAsked()
	profile := flag.String("profile", "", "write a CPU profile of the service to this file")
	only := flag.String("only", "", "measure one of: many, one, handoffs (default: all)")
	flag.Parse()
	if err := run(context.Background(), *profile, *only); err != nil {
		fmt.Fprintln(os.Stderr, "receipts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, profile, only string) (err error) {
	normal, err := rig.StartService(rig.ServiceOptions{Profile: profile})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, normal.Stop()) }()
	single, err := rig.StartService(rig.ServiceOptions{Batch: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, single.Stop()) }()
	on, err := normal.Dial(ctx, many)
	if err != nil {
		return err
	}
	onSingle, err := single.Dial(ctx, many)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		print func() error
	}{
		{"many", func() error { return atMany(on, onSingle) }},
		{"one", func() error { return alone(ctx, on[0]) }},
		{"handoffs", func() error { return cycles(on[:some]) }},
	} {
		if only == "" || only == part.name {
			if err := part.print(); err != nil {
				return err
			}
		}
	}
	return nil
}

// atMany prints the rows of 64 clients.
func atMany(on, onSingle []*rig.Conn) error {
	rate := func(clients []*rig.Conn, tool string) func() (float64, error) {
		return func() (float64, error) {
			out, err := rig.Load(len(clients), warm, span, func(client, i int) error {
				_, err := clients[client].Call(tool, rig.Arguments(client, i))
				return err
			})
			return out.Rate, err
		}
	}
	got, err := gauge.Interleave(rounds, rate(on, "report_done"), rate(on, "echo"), rate(onSingle, "report_done"))
	if err != nil {
		return err
	}
	receipts := gauge.Figure{Name: "receipts", Value: got[0]}
	gauge.Print(os.Stdout,
		gauge.Row{Name: "64 clients: receipts against an echo tool", Ours: receipts, Theirs: gauge.Figure{Name: "echo", Value: got[1]}, Bar: 0.4},
		gauge.Row{Name: "64 clients: receipts against one commit a call", Ours: receipts, Theirs: gauge.Figure{Name: "batches of one", Value: got[2]}, Bar: 3})
	return nil
}

// alone prints the row of one client: a receipt's median against the sum of an
// echo call's and a bare durable insert's.
func alone(ctx context.Context, c *rig.Conn) error {
	insert, done, err := inserter(ctx)
	if err != nil {
		return err
	}
	defer done()
	p50 := func(work func(i int) error) func() (float64, error) {
		return func() (float64, error) {
			took := make([]float64, 0, calls)
			for i := range calls {
				begin := time.Now()
				if err := work(i); err != nil {
					return 0, err
				}
				took = append(took, time.Since(begin).Seconds())
			}
			return gauge.Median(took), nil
		}
	}
	tool := func(name string) func(i int) error {
		return func(i int) error {
			_, err := c.Call(name, rig.Arguments(0, i))
			return err
		}
	}
	got, err := gauge.Interleave(rounds, p50(tool("report_done")), p50(tool("echo")), p50(insert))
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "1 client: p50 of a receipt", Unit: gauge.Seconds, Ours: gauge.Figure{Name: "receipt", Value: got[0]},
		Theirs: gauge.Figure{Name: fmt.Sprintf("insert %s + echo %s =", gauge.Seconds.Text(got[2]), gauge.Seconds.Text(got[1])), Value: got[1] + got[2]}, Bar: 2, AtMost: true})
	return nil
}

// inserter returns a function that commits one row with a receipt's payload, and
// one that ends it: WAL, synchronous FULL, one prepared statement, no service.
func inserter(ctx context.Context) (insert func(i int) error, done func(), err error) {
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, nil, err
	}
	done = func() { db.Close(); os.RemoveAll(dir) }
	conn, err := db.Conn(ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	if _, err := conn.ExecContext(ctx, `CREATE TABLE bare(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, type TEXT NOT NULL,
		object TEXT, outcome TEXT, file TEXT, metrics TEXT) STRICT`); err != nil {
		done()
		return nil, nil, err
	}
	stmt, err := conn.PrepareContext(ctx, `INSERT INTO bare(at, actor, type, object, outcome, file, metrics) VALUES(?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		done()
		return nil, nil, err
	}
	return func(i int) error {
		e := rig.Event(0, i)
		metrics, err := e.Metrics.MarshalJSON()
		if err != nil {
			return err
		}
		_, err = stmt.ExecContext(ctx, time.Now().UnixMilli(), e.Actor, e.Type, e.Object, e.Outcome, e.File, string(metrics))
		return err
	}, done, nil
}

// cycles prints the row of handoffs: create, claim and finish, three calls each.
func cycles(on []*rig.Conn) error {
	run := 0
	handoffs := func() (float64, error) {
		run++
		out, err := rig.Load(len(on), warm, span, func(client, i int) error { return cycle(on[client], fmt.Sprintf("%d-%d-%d", run, client, i)) })
		return 3 * out.Rate, err
	}
	receipts := func() (float64, error) {
		out, err := rig.Load(len(on), warm, span, func(client, i int) error {
			_, err := on[client].Call("report_done", rig.Arguments(client, i))
			return err
		})
		return out.Rate, err
	}
	got, err := gauge.Interleave(rounds, handoffs, receipts)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "16 clients: calls of handoff cycles", Ours: gauge.Figure{Name: "handoffs", Value: got[0]},
		Theirs: gauge.Figure{Name: "receipts", Value: got[1]}, Bar: 0.6})
	return nil
}

func cycle(c *rig.Conn, key string) error {
	line, err := c.Call("handoff_create", fmt.Appendf(nil, `{"target":"studio","instruction":"Look at the failing build and say what broke it.","idempotency_key":%q}`, key))
	if err != nil {
		return err
	}
	id, err := rig.HandoffID(line)
	if err != nil {
		return err
	}
	if _, err := c.Call("handoff_claim", fmt.Appendf(nil, `{"handoff_id":%q,"worker_session_id":"worker-%s"}`, id, key)); err != nil {
		return err
	}
	_, err = c.Call("handoff_finish", fmt.Appendf(nil, `{"handoff_id":%q,"worker_session_id":"worker-%s","status":"done","outcome":"The test was wrong; mended."}`, id, key))
	return err
}

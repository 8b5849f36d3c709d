// Command idle measures what a thousand connections that say nothing cost the
// service, and whether a call beside them is still answered as fast.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
)

const (
	connections = 1000
	calls       = 2000
	limit       = 40 << 20 // bytes, for all of them
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := rig.Build(ctx, dir)
	if err != nil {
		return err
	}
	place, err := rig.NewPlace(binary)
	if err != nil {
		return err
	}
	service, err := place.Serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close(), service.Wait()) }()
	active, err := rig.Dial(ctx, place.Socket, place.Key(), rig.Workspace(0), true)
	if err != nil {
		return err
	}
	defer active.Close()

	alone, err := p50(active)
	if err != nil {
		return err
	}
	before, err := rig.Resident(service.Process.Pid)
	if err != nil {
		return err
	}
	// Each has spoken once: what a first call allocates counts.
	for i := range connections {
		c, err := rig.Dial(ctx, place.Socket, place.Key(), rig.Workspace(i), true)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.Initialize(); err != nil {
			return err
		}
		if _, err := c.Call("report_done", rig.Arguments(i, 0)); err != nil {
			return err
		}
	}
	after, err := rig.Resident(service.Process.Pid)
	if err != nil {
		return err
	}
	beside, err := p50(active)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout,
		gauge.Row{Name: "1 000 idle connections: memory in the service", Unit: gauge.Bytes, Ours: gauge.Figure{Name: "grown by", Value: after - before},
			Theirs: gauge.Figure{Name: "limit", Value: limit}, Bar: 1, AtMost: true},
		gauge.Row{Name: "1 000 idle connections: p50 of a call beside them", Unit: gauge.Seconds, Ours: gauge.Figure{Name: "with them", Value: beside},
			Theirs: gauge.Figure{Name: "alone", Value: alone}, Bar: 1.3, AtMost: true})
	return nil
}

func p50(c *rig.Conn) (float64, error) {
	var took []float64
	for i := range calls {
		begin := time.Now()
		if _, err := c.Call("report_done", rig.Arguments(0, i)); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begin).Seconds())
	}
	return gauge.Median(took), nil
}

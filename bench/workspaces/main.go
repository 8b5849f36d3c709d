// Command workspaces compares eight workspaces that report through their own
// `steward mcp` bridge and one service with eight copies of a plain Python
// server that share one SQLite file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
)

const (
	workspaces = 8
	rounds     = 3
	warm       = 500 * time.Millisecond
	span       = 6 * time.Second
)

func main() {
	peer := flag.String("peer", filepath.Join("bench", "peer", "peer.py"), "the Python peer")
	flag.Parse()
	if err := run(context.Background(), *peer); err != nil {
		fmt.Fprintln(os.Stderr, "workspaces:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, peer string) (err error) {
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
	defer func() { err = errors.Join(err, place.Close()) }()
	python, err := rig.Python()
	if err != nil {
		return err
	}

	ours, err := open(func(i int) (*rig.Process, error) { return place.Bridge(rig.Workspace(i)) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(ours)) }()
	theirs, err := open(func(int) (*rig.Process, error) {
		return rig.Start(exec.Command(python, peer, filepath.Join(dir, "peer.db")))
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(theirs)) }()

	var slowest [2][]float64
	rate := func(side int, all []*rig.Process) func() (float64, error) {
		return func() (float64, error) {
			out, err := rig.Load(len(all), warm, span, func(client, i int) error {
				_, err := all[client].Call("report_done", rig.Arguments(client, i))
				return err
			})
			slowest[side] = append(slowest[side], out.Slowest)
			return out.Rate, err
		}
	}
	rates, err := gauge.Interleave(rounds, rate(0, ours), rate(1, theirs))
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout,
		gauge.Row{Name: "8 workspaces: receipts", Ours: gauge.Figure{Name: "steward", Value: rates[0]},
			Theirs: gauge.Figure{Name: "python peer", Value: rates[1]}, Bar: 3},
		gauge.Row{Name: "8 workspaces: slowest call", Unit: gauge.Seconds, Ours: gauge.Figure{Name: "steward", Value: gauge.Median(slowest[0])},
			Theirs: gauge.Figure{Name: "python peer", Value: gauge.Median(slowest[1])}, Bar: 0.1, AtMost: true})
	return nil
}

func open(start func(i int) (*rig.Process, error)) ([]*rig.Process, error) {
	var all []*rig.Process
	for i := range workspaces {
		p, err := start(i)
		if err == nil {
			all = append(all, p)
			err = p.Initialize()
		}
		if err != nil {
			return nil, errors.Join(err, stop(all))
		}
	}
	return all, nil
}

func stop(all []*rig.Process) error {
	var errs []error
	for _, p := range all {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}

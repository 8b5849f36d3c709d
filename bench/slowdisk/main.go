// Command slowdisk compares group commit with one commit a call on a disk that
// takes 8 ms longer for every fsync. The delay is injected by strace, which has
// to be installed; nothing else of the service is traced.
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
	clients = 64
	rounds  = 3
	warm    = time.Second
	span    = 5 * time.Second
	bar     = 20
)

// slow adds 8 000 µs after each fsync and fdatasync returned. With --seccomp-bpf
// the other system calls run at full speed.
var slow = []string{"strace", "-f", "-qq", "--seccomp-bpf", "-o", os.DevNull, "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_exit=8000"}

func main() {
	rig.ServeIfAsked()
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "slowdisk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	var rates []func() (float64, error)
	for _, batch := range []int{0, 1} {
		service, err2 := rig.StartService(rig.ServiceOptions{Batch: batch, Under: slow})
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, service.Stop()) }()
		on, err2 := service.Dial(ctx, clients)
		if err2 != nil {
			return err2
		}
		rates = append(rates, func() (float64, error) {
			out, err := rig.Load(len(on), warm, span, func(client, i int) error {
				_, err := on[client].Call("report_done", rig.Arguments(client, i))
				return err
			})
			return out.Rate, err
		})
	}
	got, err := gauge.Interleave(rounds, rates...)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "64 clients, fsync 8 ms slower: receipts", Ours: gauge.Figure{Name: "group commit", Value: got[0]},
		Theirs: gauge.Figure{Name: "one commit a call", Value: got[1]}, Bar: bar})
	return nil
}

// Command report measures a situation report on a small and on a large ledger,
// and how many bytes of file an event takes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	"steward/bench/internal/gauge"
	"steward/bench/internal/rig"
)

const (
	small  = 10_000
	rounds = 9
	calls  = 300

	slowest       = 1e-3 // seconds, p50 of a report
	bytesAnEvent  = 320
	growthAllowed = 1.3
)

func main() {
	large := flag.Bool("large", false, "ten million events instead of one")
	flag.Parse()
	if err := run(context.Background(), *large); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// filled is a service on a ledger with a number of events, and a client of it.
type filled struct {
	place   *rig.Place
	service *exec.Cmd
	client  *rig.Conn
	size    int64 // bytes of the file before the service started
}

func fill(ctx context.Context, binary string, events int) (_ *filled, err error) {
	place, err := rig.NewPlace(binary)
	if err != nil {
		return nil, err
	}
	f := &filled{place: place}
	if f.size, err = rig.Fill(ctx, place.Ledger, events); err != nil {
		return nil, errors.Join(err, place.Close())
	}
	if f.service, err = place.Serve(ctx); err != nil {
		return nil, errors.Join(err, place.Close())
	}
	if f.client, err = rig.Dial(ctx, place.Socket, place.Key(), rig.Workspace(0), false); err != nil {
		return nil, errors.Join(err, f.stop())
	}
	return f, nil
}

func (f *filled) stop() error {
	if f.client != nil {
		f.client.Close()
	}
	return errors.Join(f.place.Close(), f.service.Wait())
}

// p50 measures one report, in seconds.
func (f *filled) p50(args func(i int) string) func() (float64, error) {
	return func() (float64, error) {
		took := make([]float64, 0, calls)
		for i := range calls {
			begin := time.Now()
			if _, err := f.client.Call("situation_report", []byte(args(i))); err != nil {
				return 0, err
			}
			took = append(took, time.Since(begin).Seconds())
		}
		return gauge.Median(took), nil
	}
}

func run(ctx context.Context, large bool) (err error) {
	events, name := 1_000_000, "1 M"
	if large {
		events, name = 10_000_000, "10 M"
	}
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := rig.Build(ctx, dir)
	if err != nil {
		return err
	}
	few, err := fill(ctx, binary, small)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, few.stop()) }()
	begin := time.Now()
	full, err := fill(ctx, binary, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, full.stop()) }()
	fmt.Printf("      %s events written and served after %.0f s\n", name, time.Since(begin).Seconds())

	all := func(int) string { return `{}` }
	one := func(i int) string { return fmt.Sprintf(`{"workspace_id":%q}`, rig.Workspace(i)) }
	got, err := gauge.Interleave(rounds, full.p50(all), few.p50(all), full.p50(one), few.p50(one))
	if err != nil {
		return err
	}
	limit := gauge.Figure{Name: "limit", Value: slowest}
	for i, what := range []string{"situation_report", "situation_report of a workspace"} {
		ours := gauge.Figure{Name: name, Value: got[2*i]}
		gauge.Print(os.Stdout,
			gauge.Row{Name: what + ": p50, large against small", Unit: gauge.Seconds, Ours: ours,
				Theirs: gauge.Figure{Name: "10 k", Value: got[2*i+1]}, Bar: growthAllowed, AtMost: true},
			gauge.Row{Name: what + ": p50", Unit: gauge.Seconds, Ours: ours, Theirs: limit, Bar: 1, AtMost: true})
	}
	gauge.Print(os.Stdout, gauge.Row{Name: fmt.Sprintf("file bytes of an event with %d bytes in it", rig.Payload), Unit: gauge.Bytes,
		Ours: gauge.Figure{Name: name, Value: float64(full.size) / float64(events)}, Theirs: gauge.Figure{Name: "limit", Value: bytesAnEvent}, Bar: 1, AtMost: true})
	return nil
}

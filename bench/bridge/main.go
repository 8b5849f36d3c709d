// Command bridge measures what a client waits for when it starts `steward mcp`,
// against a plain Python server and one on the TypeScript SDK, and how much memory
// the bridge holds.
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
	starts = 40   // of each program
	calls  = 2000 // before the bridge's memory is read

	residentLimit = 12 << 20 // bytes
)

func main() {
	peers := flag.String("peers", filepath.Join("bench", "peer"), "the folder of the peers")
	flag.Parse()
	if err := run(context.Background(), *peers); err != nil {
		fmt.Fprintln(os.Stderr, "bridge:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, peers string) (err error) {
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

	bridge := func() (*rig.Process, error) { return place.Bridge("api") }
	times, err := gauge.Interleave(starts,
		func() (float64, error) { return cold(bridge) },
		func() (float64, error) {
			return cold(func() (*rig.Process, error) {
				return rig.Start(exec.Command(python, filepath.Join(peers, "peer.py"), filepath.Join(dir, "peer.db")))
			})
		})
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: "cold start to the first tools/list", Unit: gauge.Seconds, Times: true,
		Ours: gauge.Figure{Name: "steward mcp", Value: times[0]}, Theirs: gauge.Figure{Name: "python peer", Value: times[1]}, Bar: 4})

	if err := againstNode(bridge, peers); err != nil {
		return err
	}
	resident, err := memory(bridge)
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: fmt.Sprintf("memory of a bridge after %d calls", calls), Unit: gauge.Bytes,
		Ours: gauge.Figure{Name: "resident", Value: resident}, Theirs: gauge.Figure{Name: "limit", Value: residentLimit}, Bar: 1, AtMost: true})
	return nil
}

// againstNode measures the start against a server on the TypeScript SDK, where
// Node and the SDK are: .ci/clients-install installs it.
func againstNode(bridge func() (*rig.Process, error), peers string) error {
	const name = "cold start against the TypeScript SDK"
	folder := os.Getenv("STEWARD_CLIENTS")
	if folder == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			folder = filepath.Join(cache, "steward-clients")
		}
	}
	modules := filepath.Join(folder, "node_modules")
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, "@modelcontextprotocol", "sdk"))
	}
	if err != nil {
		fmt.Printf("skip  %s: %v\n", name, err)
		return nil
	}
	times, err := gauge.Interleave(starts,
		func() (float64, error) { return cold(bridge) },
		func() (float64, error) {
			return cold(func() (*rig.Process, error) {
				cmd := exec.Command(node, filepath.Join(peers, "peer.cjs"))
				cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
				return rig.Start(cmd)
			})
		})
	if err != nil {
		return err
	}
	gauge.Print(os.Stdout, gauge.Row{Name: name, Unit: gauge.Seconds, Times: true,
		Ours: gauge.Figure{Name: "steward mcp", Value: times[0]}, Theirs: gauge.Figure{Name: "TypeScript SDK", Value: times[1]}, Bar: 20})
	return nil
}

// cold returns the seconds from before the process is made until its first
// tools/list is read.
func cold(start func() (*rig.Process, error)) (float64, error) {
	begin := time.Now()
	p, err := start()
	if err != nil {
		return 0, err
	}
	err = p.Initialize()
	if err == nil {
		_, err = p.Request("tools/list", "{}")
	}
	took := time.Since(begin).Seconds()
	return took, errors.Join(err, p.Stop())
}

// memory returns the bytes a bridge holds after its client listed the tools and
// made its calls.
func memory(start func() (*rig.Process, error)) (float64, error) {
	p, err := start()
	if err != nil {
		return 0, err
	}
	work := func() (float64, error) {
		if err := p.Initialize(); err != nil {
			return 0, err
		}
		if _, err := p.Request("tools/list", "{}"); err != nil {
			return 0, err
		}
		for i := range calls {
			if _, err := p.Call("report_done", rig.Arguments(0, i)); err != nil {
				return 0, err
			}
			if i%20 == 0 {
				if _, err := p.Call("situation_report", []byte("{}")); err != nil {
					return 0, err
				}
			}
		}
		return rig.Resident(p.Cmd.Process.Pid)
	}
	resident, err := work()
	return resident, errors.Join(err, p.Stop())
}

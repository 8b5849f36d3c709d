// Command kill kills the service a thousand times while workspaces report, and
// counts acknowledged receipts that were lost or came twice: none may.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"steward/bench/internal/rig"
)

func main() {
	kills := flag.Int("kills", 1000, "how often the service is killed")
	bridges := flag.Int("bridges", 16, "how many workspaces report")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the drawn moments")
	flag.Parse()
	dir, err := os.MkdirTemp("", "steward-bench-")
	if err == nil {
		err = run(context.Background(), dir, trial{kills: *kills, bridges: *bridges, restart: true, seed: *seed, within: 15 * time.Minute})
		os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, t trial) (err error) {
	if t.binary, err = rig.Build(ctx, dir); err != nil {
		return err
	}
	v, err := t.run(ctx)
	if err != nil {
		return fmt.Errorf("seed %d: %w", t.seed, err)
	}
	word := "ok"
	if !v.passed() {
		word = "MISS"
	}
	fmt.Printf("%-4s  %s; the chain verifies, %d bridges alive (seed %d)\n", word, v, t.bridges, t.seed)
	return nil
}

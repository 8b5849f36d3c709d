package main

import (
	"testing"
	"time"

	"steward/bench/internal/rig"
)

// TestKills is the short form of the benchmark, in which nobody but the bridges
// starts the service again. The service and the bridges are
// built without the race detector: with it SQLite would be killed while opening.
func TestKills(t *testing.T) {
	binary, err := rig.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	v, err := trial{binary: binary, kills: 40, bridges: 8, seed: seed, within: 5 * time.Minute}.run(t.Context())
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	t.Logf("seed %d: %v", seed, v)
	if !v.passed() {
		t.Errorf("seed %d: %v", seed, v)
	}
	if v.acknowledged < v.kills || v.kept < v.acknowledged {
		t.Errorf("seed %d: %d kills, %d acknowledged, %d kept", seed, v.kills, v.acknowledged, v.kept)
	}
}

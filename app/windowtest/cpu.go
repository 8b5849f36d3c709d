package windowtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tick is how /proc counts the processor's time, on every Linux there is.
const tick = 10 * time.Millisecond

// CPU is the processor's time that a process and those below it have used.
func CPU(pid int) (time.Duration, error) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	parents, used := map[int]int{}, map[int]time.Duration{}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		var id, parent int
		var user, system int64
		if _, err := fmt.Sscan(string(b), &id); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		rest := string(b[strings.LastIndexByte(string(b), ')')+1:]) // behind a name that may hold anything
		f := strings.Fields(rest)
		if len(f) < 13 {
			return 0, fmt.Errorf("%s: %q", path, b)
		}
		for i, to := range map[int]any{1: &parent, 11: &user, 12: &system} {
			if _, err := fmt.Sscan(f[i], to); err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
		}
		parents[id], used[id] = parent, time.Duration(user+system)*tick
	}
	if _, ok := used[pid]; !ok {
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	var sum time.Duration
	for id, u := range used {
		for at := id; at > 1; at = parents[at] {
			if at == pid {
				sum += u
				break
			}
		}
	}
	return sum, nil
}

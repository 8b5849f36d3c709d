package daemon

import (
	"os"
	"path/filepath"
	"strings"

	"steward/ledger"
)

// Reserved says whose place a path leads to, links followed and under whatever
// name, if it is one of Steward's own; else "". Nobody else may write there.
func (p Paths) Reserved(path string) string {
	real, err := ledger.RealPath(path)
	if err != nil {
		real = path
	}
	is := func(own string) bool {
		if r, err := ledger.RealPath(own); err == nil && r == real {
			return true
		}
		a, err1 := os.Stat(own)
		b, err2 := os.Stat(path)
		return err1 == nil && err2 == nil && os.SameFile(a, b)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock", ".new"} {
		if is(p.Ledger + suffix) {
			return "the ledger's"
		}
	}
	switch {
	case is(p.Config):
		return "the settings'"
	case is(p.Token), is(p.AgentToken):
		return "a token's"
	case is(p.Socket):
		return "the socket's"
	}
	for _, folder := range []string{p.Spool, filepath.Dir(p.Log), filepath.Join(p.Home, "run")} {
		r, err := ledger.RealPath(folder)
		if err == nil && (real == r || strings.HasPrefix(real, r+string(filepath.Separator))) {
			return "of a folder that Steward keeps"
		}
	}
	return ""
}

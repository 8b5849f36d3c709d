package daemon

import (
	"context"
	"net"

	"steward/ledger"
	"steward/mcp/local"
)

// Ask asks the service of p. When none is at the usual place, the one that holds
// the ledger is asked where its lock says that it listens: the usual place depends
// on folders, which may have come and gone since it started.
func Ask[T any](p Paths, ask func(address string) (T, error)) (T, error) {
	answer, err := ask(p.Socket)
	if err == nil || !local.Absent(err) {
		return answer, err
	}
	if at := p.elsewhere(); at != "" {
		if answer, err := ask(at); err == nil || !local.Absent(err) {
			return answer, err
		}
	}
	return answer, err
}

// Stop is local.AskStop of the service of p.
func Stop(ctx context.Context, p Paths, s local.Stop) error {
	_, err := Ask(p, func(at string) (struct{}, error) { return struct{}{}, local.AskStop(ctx, at, s) })
	return err
}

// Info is local.AskInfo of the service of p.
func Info(ctx context.Context, p Paths) (local.Info, error) {
	return Ask(p, func(at string) (local.Info, error) { return local.AskInfo(ctx, at) })
}

// Dial connects to the service of p, which listens at address or where its lock
// says. It is a local.DialFunc, and trusts nobody whom local.Dial does not.
func (p Paths) Dial(ctx context.Context, address string) (net.Conn, error) {
	return Ask(p, func(at string) (net.Conn, error) {
		if at == p.Socket {
			at = address
		}
		return local.Dial(ctx, at)
	})
}

// elsewhere is where the holder of the ledger says that it listens, "" if that is
// the usual place or nobody holds it. Whoever has chosen a place means that one.
func (p Paths) elsewhere() string {
	if p.chosen {
		return ""
	}
	text, held, err := ledger.Holder(p.Ledger)
	if at := HolderSocket(text); err == nil && held && at != p.Socket {
		return at
	}
	return ""
}

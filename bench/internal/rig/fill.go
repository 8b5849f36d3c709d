package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"steward/ledger"
)

// Actors and Workspaces bound who appears in a filled ledger, whatever its size.
const (
	Actors     = 200
	Workspaces = 40
)

// Workspace is the name of the i-th workspace of a filled ledger.
func Workspace(i int) string { return fmt.Sprintf("ws-%02d", i%Workspaces) }

// Fill appends n receipts to the ledger file at path, a thousand in each update,
// waits until the search index has them all, and returns how many bytes the file
// has when it is closed again.
func Fill(ctx context.Context, path string, n int) (size int64, err error) {
	return FillWith(ctx, path, n, func(i int) ledger.Event {
		e := Event(i%Actors, i/Actors)
		e.Workspace = Workspace(i)
		e.Caller = e.Workspace
		return e
	})
}

// FillWith is Fill with other events: the i-th is what event returns.
func FillWith(ctx context.Context, path string, n int, event func(i int) ledger.Event) (size int64, err error) {
	lock, err := ledger.Lock(path, "bench")
	if err != nil {
		return 0, err
	}
	defer lock.Release() //nolint:errcheck // the process ends soon
	l, err := ledger.Open(ctx, ledger.Options{Path: path})
	if err != nil {
		return 0, err
	}
	const many = 1000
	for from := 0; from < n; from += many {
		_, err := l.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			for i := from; i < min(n, from+many); i++ {
				if _, err := tx.Append(event(i)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		if err != nil {
			l.Close()
			return 0, err
		}
	}
	if err := errors.Join(indexed(ctx, l, int64(n)), l.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// indexed waits until the search index reaches the event with the given id.
func indexed(ctx context.Context, l *ledger.Log, id int64) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var through int64
		err := l.View(ctx, func(v *ledger.View) error {
			return v.QueryRow(`SELECT through_id FROM followers WHERE name = 'search'`).Scan(&through)
		})
		if err != nil || through >= id {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// restoreWithin is how long a restore tries to get the ledger. An owner drains
// within two seconds; a client may start another before the lock is taken.
const restoreWithin = 20 * time.Second

// Restored is what a restore did.
type Restored struct {
	From   string   `json:"from"`
	Ledger string   `json:"ledger"`
	Events int64    `json:"events"`
	LastID int64    `json:"last_event_id"`
	Hash   string   `json:"hash"`            // of the last event
	Kept   []string `json:"kept"`            // where the files now are that were in its place
	Ended  string   `json:"ended,omitempty"` // what the lock said of the service that was ended
}

// Restore puts a copy of the ledger in its place, whoever uses the ledger: the
// copy is made whole beside it and checked first, then the owner is asked to stop
// and its lock is held while the files change places. The old ones are kept among
// the backups. Nothing is changed unless the copy is sound. The error is an
// *ops.Error, or ctx's.
func Restore(ctx context.Context, p Paths, from, version string, progress func(done, total int64)) (r Restored, err error) {
	r = Restored{From: from, Ledger: p.Ledger, Kept: []string{}}
	if err := p.Make(); err != nil {
		return r, err
	}
	temp := fmt.Sprintf("%s.restore-%d", p.Ledger, os.Getpid())
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process of that number that was killed
		return r, Explain(err, p)
	}
	defer os.Remove(temp) //nolint:errcheck // it is there only when something went wrong
	report, err := ledger.CopyFile(ctx, from, temp, progress)
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case errors.Is(err, ledger.ErrForeign):
		return r, &ops.Error{Code: ops.Invalid, Field: "FILE", Message: "FILE: " + from + " is not a Steward ledger", Hint: "`steward import FILE` takes over the ledger of an older program", Err: err}
	case err != nil:
		return r, Explain(err, p)
	case !report.OK():
		return r, &ops.Error{Code: ops.Corrupt, Field: "FILE", Message: "FILE: " + from + " is damaged: " + Damage(report), Hint: "nothing was changed; take another copy"}
	}
	r.Events, r.LastID, r.Hash = report.Events, report.LastID, report.Hash
	lock, ended, err := seize(ctx, p, version)
	if err != nil {
		return r, err
	}
	defer lock.Release() //nolint:errcheck // the lock goes with the process at the latest
	r.Ended = ended
	if err := os.MkdirAll(p.Backups, 0o700); err != nil {
		return r, unwritable(p.Backups, err)
	}
	if kept, err := ledger.Replace(p.Ledger, temp, asideName(p.Backups)); err != nil {
		return r, Explain(err, p)
	} else if kept != nil {
		r.Kept = kept
	}
	return r, nil
}

// asideName is a dated name in the folder that no file has, nor one beside it.
func asideName(folder string) string {
	base := filepath.Join(folder, "replaced-"+time.Now().UTC().Format(dailyTime))
	for i := 1; ; i++ {
		name := base + ".db"
		if i > 1 {
			name = fmt.Sprintf("%s-%d.db", base, i)
		}
		free := true
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			_, err := os.Lstat(name + suffix)
			free = free && errors.Is(err, fs.ErrNotExist)
		}
		if free {
			return name
		}
	}
}

// seize takes the lock from whoever holds it: each holder is asked to stop, and
// what a client starts meanwhile is asked as well.
func seize(ctx context.Context, p Paths, version string) (lock *ledger.FileLock, ended string, err error) {
	ctx, cancel := context.WithTimeout(ctx, restoreWithin)
	defer cancel()
	text := lockText(Options{Role: "restore", Version: version, Paths: p}, time.Now())
	var asked string
	var refused error
	for {
		lock, err = ledger.Lock(p.Ledger, text)
		if err == nil {
			return lock, ended, nil
		}
		if !errors.Is(err, ledger.ErrLocked) {
			return nil, ended, Explain(err, p)
		}
		holder, held, err := ledger.Holder(p.Ledger)
		if err == nil && held && holder != "" && holder != asked {
			if refused = stopOwner(ctx, p); refused == nil {
				asked, ended = holder, holder
			}
		}
		select {
		case <-ctx.Done():
			e := &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the process that holds the ledger (%s) has not let go of it within %s", holder, restoreWithin),
				Hint: "nothing was changed; end that process yourself, then try again", Err: refused}
			return nil, ended, e
		case <-time.After(pollFast / 5):
		}
	}
}

// stopOwner asks the owner to stop and returns when it has closed the connection.
func stopOwner(ctx context.Context, p Paths) error {
	ctx, cancel := context.WithTimeout(ctx, takeOver)
	defer cancel()
	return Stop(ctx, p, local.Stop{PID: os.Getpid(), Reason: "steward restore"})
}

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"steward/app/update"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

const (
	pollFast = 10 * time.Millisecond  // while the lock is about to be free
	pollSlow = 100 * time.Millisecond // while another process serves
	autoWait = time.Second            // how long an Auto service tries
	takeOver = 10 * time.Second       // how long an owner that yields may need
	askAgain = 500 * time.Millisecond // after an owner was busy
)

// lockText is what the lock file says of its holder, for people.
func lockText(o Options, since time.Time) string {
	http := ""
	if o.Listen != "" {
		http = ", http " + o.Listen
	}
	return fmt.Sprintf("pid %d, %s, version %s, since %s%s, socket %s", os.Getpid(), o.Role, o.Version, ledger.At(since), http, o.Paths.Socket)
}

// HolderListen reads out of a lock's text where its holder was to serve HTTP,
// "" if nowhere.
func HolderListen(text string) string {
	before, _, _ := strings.Cut(text, ", socket ")
	_, at, _ := strings.Cut(before, ", http ")
	return at
}

// HolderSocket reads the address of the socket out of a lock's text, "" if there
// is none.
func HolderSocket(text string) string {
	_, at, _ := strings.Cut(text, ", socket ")
	return at
}

// HolderPID reads the process id out of a lock's text, 0 if there is none.
func HolderPID(text string) int {
	rest, ok := strings.CutPrefix(text, "pid ")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// acquire gets the lock, asking the owner to yield when that may help. It
// returns neither lock nor error when an Auto service is not needed, and a
// reason beside the lock when the ledger cannot be written anyway.
func (s *service) acquire(ctx context.Context) (lock *ledger.FileLock, unusable, err error) {
	unusable = s.Paths.Make()
	if was, err := s.Paths.tighten(); err != nil {
		s.Logger.Warn("others can enter the state folder", "folder", s.Paths.Home, "error", err)
	} else if was != 0 {
		s.Logger.Warn("others could enter the state folder; now only you can", "folder", s.Paths.Home, "mode_before", was.String())
	}
	start := time.Now()
	w := waiter{service: s}
	for {
		if unusable == nil {
			lock, err = ledger.Lock(s.Paths.Ledger, s.text)
		} else {
			lock, err = s.lockSocket()
		}
		switch {
		case err == nil:
			return lock, unusable, nil
		case errors.Is(err, ledger.ErrReadOnly) && unusable == nil:
			unusable = err
			continue
		case !errors.Is(err, ledger.ErrLocked):
			return nil, nil, Explain(err, s.Paths)
		}
		var pause time.Duration
		if s.Role == Auto {
			if pause = w.auto(ctx, time.Since(start)); pause == 0 {
				return nil, nil, nil
			}
		} else {
			pause = w.insist(ctx)
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil
		case <-time.After(pause):
		}
	}
}

// lockSocket is the lock of a service whose ledger folder cannot be written:
// nobody can own that ledger, but somebody should say so on its socket. It
// guards the socket's path alone.
func (s *service) lockSocket() (*ledger.FileLock, error) {
	if dir := filepath.Dir(s.Paths.Socket); runtime.GOOS != "windows" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return ledger.Lock(s.Paths.Socket, s.text)
	}
	return ledger.Lock(filepath.Join(os.TempDir(), filepath.Base(s.Paths.Socket)), s.text)
}

// waiter is a service that found the lock taken.
type waiter struct {
	*service
	holder  string    // the lock's text when the owner was last asked
	asked   time.Time // when that was
	reached bool      // the owner has answered
	reply   string    // why it stays; "" if it yields
	until   time.Time // it has yielded: the lock will be free before
	said    string    // the holder that was last reported
}

// auto decides how long an Auto service goes on trying: until another service
// answers, a second at most. It takes the place only of an older Auto.
func (w *waiter) auto(ctx context.Context, tried time.Duration) (pause time.Duration) {
	if time.Now().Before(w.until) {
		return pollFast
	}
	ctx, cancel := context.WithTimeout(ctx, local.HelloTimeout)
	defer cancel()
	info, err := Info(ctx, w.Paths)
	switch {
	case err == nil && Replaces(w.Version, info) && !w.reached:
		if err := w.mayMigrate(info.Schema); err != nil {
			w.Logger.Warn("the older Steward serves on: this one could not bring the ledger to its schema", "older", info.Version, "error", err)
			return 0
		}
		if w.ask(ctx, ""); w.reply == "" && w.reached {
			return pollFast
		}
		return 0
	case err == nil:
		return 0
	case tried >= autoWait:
		holder, _, _ := ledger.Holder(w.Paths.Ledger) // for the log alone
		w.Logger.Warn("another process holds the ledger but does not answer on the socket", "holder", holder, "socket", w.Paths.Socket)
		return 0
	}
	return pollFast
}

// Replaces tells whether an Auto service of that version takes the place of the
// owner that answers i: of an older one that a client has started, or that serves
// nobody.
func Replaces(version string, i local.Info) bool {
	return (i.Role == string(Auto) || i.State == Refusing.String()) && update.Compare(version, i.Version) > 0
}

// mayMigrate tells, before an owner that works has left, what would keep this
// process from making the copy without which it brings no ledger to a newer schema.
func (s *service) mayMigrate(schema int) error {
	if schema >= ledger.SchemaVersion {
		return nil
	}
	fi, err := os.Stat(s.Paths.Ledger)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Paths.Backups, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Paths.Backups, ".try-")
	if err != nil {
		return err
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	free, err := FreeSpace(s.Paths.Backups)
	if err == nil && free < 2*uint64(fi.Size()) { // the copy, and what the migration itself writes
		err = fmt.Errorf("%d MiB are free in %s, and the copy needs as much as the ledger's %d MiB", free>>20, s.Paths.Backups, fi.Size()>>20)
	}
	return err
}

// insist asks each owner to yield, and says who holds the lock when it stays.
func (w *waiter) insist(ctx context.Context) (pause time.Duration) {
	now := time.Now()
	holder, held, err := ledger.Holder(w.Paths.Ledger)
	switch {
	case err == nil && !held:
		return time.Millisecond
	case holder == w.holder && now.Before(w.until):
		return pollFast
	case holder != w.holder, !w.reached, w.reply == keptBusy && now.Sub(w.asked) >= askAgain:
		if w.ask(ctx, holder); w.reached && w.reply == "" {
			return pollFast
		}
	}
	starting := !w.reached && now.Sub(w.since) <= autoWait // it has the lock but does not listen yet
	if w.said != holder && !starting {
		w.said = holder
		w.Logger.Info("another process holds the ledger; waiting for it to leave", "holder", holder, "answer", w.reply)
		w.become(Waiting, holder)
	}
	if starting {
		return pollFast
	}
	return pollSlow
}

// ask asks the owner, which is known by what its lock says, to yield.
func (w *waiter) ask(ctx context.Context, holder string) {
	ctx, cancel := context.WithTimeout(ctx, local.HelloTimeout)
	defer cancel()
	var granted bool
	kept, err := Ask(w.Paths, func(at string) (kept string, err error) {
		granted, kept, err = local.AskYield(ctx, at, local.Yield{Role: string(w.Role), Version: w.Version, Schema: ledger.SchemaVersion})
		return kept, err
	})
	w.holder, w.asked, w.reached, w.reply = holder, time.Now(), err == nil, kept
	if granted {
		w.until = w.asked.Add(takeOver)
	}
}

// notPlainAt is the path of what is no file.
func notPlainAt(err error, path string) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Path
	}
	return path
}

// bareDamage is what is damaged, without the words that say that something is.
func bareDamage(problem string) string {
	return strings.ReplaceAll(problem, ledger.ErrCorrupt.Error()+": ", "")
}

// Damage is what a check found, without the words that say that it found
// something.
func Damage(r ledger.Report) string { return bareDamage(r.Problem) }

// Explain turns what the ledger says into what a person can do about it.
func Explain(err error, p Paths) *ops.Error {
	var e *ops.Error
	if errors.As(err, &e) {
		return e
	}
	say := func(code ops.Code, message, hint string) *ops.Error {
		return &ops.Error{Code: code, Message: message, Hint: hint, Err: err}
	}
	switch {
	case errors.Is(err, ledger.ErrNotPlain):
		return say(ops.Unavailable, fmt.Sprintf("%s cannot be used: %v", notPlainAt(err, p.Ledger), cause(err)), "move it away: what belongs there is a file of Steward's own")
	case errors.Is(err, ledger.ErrNewer):
		_, detail, _ := strings.Cut(err.Error(), ledger.ErrNewer.Error()+": ")
		if detail != "" {
			detail = " (" + detail + ")"
		}
		return say(ops.Version, fmt.Sprintf("the ledger %s was made by a newer Steward%s, so it was not touched", p.Ledger, detail),
			"start the newer Steward, or look for one with `steward update`; STEWARD_HOME set to another folder begins a new ledger there")
	case errors.Is(err, ledger.ErrForeign):
		return say(ops.Unavailable, fmt.Sprintf("%s is not a Steward ledger, so it was not touched", p.Ledger), "set STEWARD_DB to another file, or unset it")
	case errors.Is(err, ledger.ErrCorrupt):
		return say(ops.Corrupt, fmt.Sprintf("the ledger %s is damaged: %s", p.Ledger, bareDamage(err.Error())), "`steward verify` names the first broken row; "+p.Restore())
	case errors.Is(err, ledger.ErrFull):
		return say(ops.Unavailable, fmt.Sprintf("the disk of %s is full", p.Ledger), "free some space; what was said meanwhile is kept and entered then")
	case errors.Is(err, ledger.ErrReadOnly):
		return say(ops.Unavailable, fmt.Sprintf("the ledger %s cannot be written: its folder or file is read-only for this user", p.Ledger), "give your user write access to it, or set STEWARD_HOME to another folder")
	}
	return say(ops.Unavailable, fmt.Sprintf("the ledger %s cannot be opened: %v", p.Ledger, err), "see "+p.Log)
}

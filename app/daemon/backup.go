package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"steward/ledger"
)

const (
	dailyKept  = 7              // daily copies that are kept
	dailyEvery = 24 * time.Hour // how old the newest one may become
	dailyLook  = time.Hour      // how long nothing is looked at, at most: the clock may be set, the machine sleep
)

// Types of the events that tell of daily copies.
const (
	BackupObject = "daily_backup"
	BackupFailed = "backup_failed"
)

var copying = chore{object: BackupObject, failed: BackupFailed}

// DailyBackup is one daily copy of the ledger.
type DailyBackup struct {
	File string
	At   time.Time // when it was made
	Last int64     // the id of its last event
}

// The name of a daily copy says when it was made and which event is its last:
// daily-20260504T120000Z-4711.db. Copies made by hand or before a migration have
// other names.
const (
	dailyPrefix = "daily-"
	dailyTime   = "20060102T150405Z"
)

func dailyName(at time.Time, last int64) string {
	return dailyPrefix + at.UTC().Format(dailyTime) + "-" + strconv.FormatInt(last, 10) + ".db"
}

// parseDaily reads a name of dailyName, and no other.
func parseDaily(name string) (at time.Time, last int64, ok bool) {
	rest, ok := strings.CutPrefix(name, dailyPrefix)
	when, id, found := strings.Cut(strings.TrimSuffix(rest, ".db"), "-")
	if !ok || !found {
		return time.Time{}, 0, false
	}
	at, err := time.Parse(dailyTime, when)
	if err == nil {
		last, err = strconv.ParseInt(id, 10, 64)
	}
	return at, last, err == nil && dailyName(at, last) == name
}

// half tells whether a file is what a daily copy leaves behind that was broken
// off.
func half(name string) bool {
	return strings.HasPrefix(name, dailyPrefix) && strings.Contains(name, ".db.part")
}

// DailyBackups lists the daily copies in a folder, the newest first, and counts
// the ledger's other copies there. A folder that does not exist holds none.
func DailyBackups(folder string) (daily []DailyBackup, others int, err error) {
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for _, f := range files {
		if at, last, ok := parseDaily(f.Name()); ok {
			daily = append(daily, DailyBackup{File: filepath.Join(folder, f.Name()), At: at, Last: last})
		} else if filepath.Ext(f.Name()) == ".db" {
			others++
		}
	}
	slices.SortStableFunc(daily, func(a, b DailyBackup) int { return b.At.Compare(a.At) })
	return daily, others, nil
}

// keeper makes the daily copies of the ledger that its service holds.
type keeper struct {
	folder string
	log    *ledger.Log
	on     func() bool      // whether daily copies are wanted
	now    func() time.Time // the wall clock
	logger *slog.Logger
}

// run makes a copy when it is time to, until ctx ends. One that is being made
// then is given up.
func (k *keeper) run(ctx context.Context) {
	k.tidy()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			if ctx.Err() != nil {
				return
			}
			timer.Reset(k.look(ctx))
		}
	}
}

// look makes a copy if one is due, and returns when to look again.
func (k *keeper) look(ctx context.Context) time.Duration {
	if !k.on() {
		return dailyLook
	}
	start := time.Now()
	made, due, err := k.daily(ctx)
	switch {
	case err == nil && made != "":
		k.logger.Info("the daily copy of the ledger is made", "file", made, "took", took(start))
	case err != nil && ctx.Err() == nil:
		k.logger.Error("the daily copy of the ledger cannot be made", "folder", k.folder, "because", err)
		if err := copying.fails(ctx, k.log, err, k.folder); err != nil {
			k.logger.Warn("the ledger does not say so", "error", err)
		}
	}
	return min(max(due, time.Second), dailyLook)
}

// daily makes a copy unless there is one of today or nothing has happened since
// the newest, and takes those away that are too many. due is when to try again.
func (k *keeper) daily(ctx context.Context) (made string, due time.Duration, err error) {
	all, _, err := DailyBackups(k.folder)
	if err != nil {
		return "", dailyLook, err
	}
	now := k.now().UTC()
	// A copy from the future was made while the clock was wrong; it says nothing
	// about today, and its turn to go comes when the clock gets there.
	past := slices.DeleteFunc(all, func(b DailyBackup) bool { return b.At.After(now) })
	if len(past) > 0 {
		if age := now.Sub(past[0].At); age < dailyEvery {
			return "", dailyEvery - age, nil
		}
	}
	var last ledger.Event
	if err := k.log.View(ctx, func(v *ledger.View) error {
		newest, _, err := v.Newest(1)
		if len(newest) == 1 {
			last = newest[0]
		}
		return err
	}); err != nil {
		return "", dailyLook, err
	}
	// The same last event that was there when the copy was made: another ledger
	// in its place would have got there later.
	if last.ID == 0 || len(past) > 0 && past[0].Last == last.ID && !last.At.Time().After(past[0].At.Add(time.Second)) {
		return "", dailyLook, nil
	}
	if err := os.MkdirAll(k.folder, 0o700); err != nil {
		return "", dailyLook, err
	}
	file := filepath.Join(k.folder, dailyName(now, last.ID))
	if err := k.log.Backup(ctx, file); err != nil {
		return "", dailyLook, err
	}
	err = k.prune(past)
	if err == nil {
		_, err = k.log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) { return nil, copying.works(tx, "a daily copy is made again") })
	}
	return file, dailyEvery, err
}

// prune removes the oldest of the copies there were before the new one.
func (k *keeper) prune(before []DailyBackup) error {
	var errs []error
	for i := dailyKept - 1; i < len(before); i++ {
		if err := os.Remove(before[i].File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("an old copy stays: %w", err))
		}
	}
	return errors.Join(errs...)
}

// tidy removes what daily copies have left behind that were broken off.
func (k *keeper) tidy() {
	files, err := os.ReadDir(k.folder)
	if err != nil {
		return // the first copy will say so
	}
	for _, f := range files {
		if half(f.Name()) {
			if err := os.Remove(filepath.Join(k.folder, f.Name())); err != nil {
				k.logger.Warn("a copy that was broken off stays", "error", err)
			}
		}
	}
}

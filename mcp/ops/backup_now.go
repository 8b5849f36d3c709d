package ops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"steward/ledger"
)

type backupNowArgs struct {
	File string `json:"file" arg:"line,max=4096" doc:"Absolute path of a file that does not exist yet; default: a dated one in the backups folder"`
}

// Backup is a finished copy of the ledger.
type Backup struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func backupNow() Op {
	return Act(Spec{
		Name:     "backup_now",
		Title:    "Copy the ledger",
		Text:     "Write a whole copy of the ledger to a new file while it is in use. steward restore puts it back.",
		Surfaces: Window | Web | Shell,
	}, func(ctx context.Context, env *Env, _ Caller, in backupNowArgs) (Backup, error) {
		to := in.File
		if to == "" {
			var err error
			if to, err = env.nextBackup(); err != nil {
				return Backup{}, err
			}
		}
		if !filepath.IsAbs(to) {
			return Backup{}, &ledger.FieldError{Field: "file", Rule: "an absolute path", Got: strconv.Quote(ledger.Clip(to, 80))}
		}
		if err := env.Log.Backup(ctx, to); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return Backup{}, &ledger.FieldError{Field: "file", Rule: "a name in a folder that exists", Got: strconv.Quote(ledger.Clip(to, 80))}
			}
			return Backup{}, err
		}
		s, err := os.Stat(to)
		if err != nil {
			return Backup{}, err
		}
		return Backup{File: to, Bytes: s.Size()}, nil
	})
}

// nextBackup returns a free dated name in the backups folder.
func (e *Env) nextBackup() (string, error) {
	if e.Backups == "" {
		return "", &Error{Code: Unavailable, Message: "there is no folder for backups", Hint: "name a file"}
	}
	if err := os.MkdirAll(e.Backups, 0o700); err != nil {
		return "", &Error{Code: Unavailable, Message: "the folder for backups cannot be made", Hint: "name a file elsewhere", Err: err}
	}
	name := "ledger-" + time.Now().UTC().Format("20060102T150405Z")
	for i := 1; ; i++ {
		file := filepath.Join(e.Backups, name+".db")
		if i > 1 {
			file = filepath.Join(e.Backups, name+"-"+strconv.Itoa(i)+".db")
		}
		if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
			return file, nil
		}
	}
}

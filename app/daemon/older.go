package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"steward/ledger"
	"steward/mcp/ops"
)

// Types of the events that tell of the take-over of an older ledger. All are by
// steward and about ImportObject, and name the older file.
const (
	ImportObject  = ops.ImportObject
	ImportBegun   = "ledger_import_started"
	ImportDone    = ops.ImportDone
	ImportFailed  = "ledger_import_failed"
	ImportGivenUp = "ledger_import_given_up" // the file is no longer there
)

// underWay is the kept counter that is 1 from ImportBegun to ImportDone or
// ImportGivenUp.
const underWay = "older_import"

var importing = chore{object: ImportObject, failed: ImportFailed}

// older tells whether path is an SQLite database without Steward's application
// id, which a ledger of an older program is. It looks at the file's header alone.
func older(path string) bool {
	header := databaseHeader(path)
	return header != nil && string(header[68:72]) != applicationID
}

// IsDatabase tells whether path is an SQLite database, a ledger or another.
func IsDatabase(path string) bool { return databaseHeader(path) != nil }

// databaseHeader reads the first 100 bytes of an SQLite database; nil if path is
// none.
func databaseHeader(path string) []byte {
	f, err := ledger.OpenPlain(path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // opened for reading
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return nil
	}
	return header
}

// applicationID stands at byte 68 of a Steward ledger's header.
const applicationID = "STWR"

// olderDefault is where the older program kept its ledger unless it was told
// otherwise.
func olderDefault(env Env) string {
	home, _ := env.First("HOME", "USERPROFILE")
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, "Documents", "ShadowRoom", "_steward", "ledger.db")
}

// importOlder takes over the ledger of an older program into one that is new.
// It begins only in an empty ledger; begun, it goes on at every start until it
// is done, which a crash or a full disk only delays: what has been taken is not
// taken twice. Whatever comes of it, the service goes on.
func (s *service) importOlder(ctx context.Context, log *ledger.Log) {
	source, err := s.olderSource(ctx, log)
	if source == "" && err == nil {
		return
	}
	start := time.Now()
	if err == nil {
		s.Logger.Info("taking over an older ledger", "file", source)
		err = takeOlder(ctx, log, source)
	}
	switch {
	case err == nil:
		s.Logger.Info("the older ledger is taken over; it stays as it was", "file", source, "took", took(start))
	case ctx.Err() != nil:
		s.Logger.Info("taking over the older ledger goes on at the next start", "file", source)
	default:
		s.Logger.Error("an older ledger is not taken over", "file", source, "because", err)
		if _, gone := os.Lstat(source); errors.Is(gone, fs.ErrNotExist) {
			err = endOlder(ctx, log, ledger.Event{Type: ImportGivenUp, File: source, Outcome: "the older ledger is no longer there; `steward import FILE` takes it over from elsewhere"})
		} else {
			err = importing.fails(ctx, log, err, source)
		}
		if err != nil {
			s.Logger.Warn("the ledger does not say so", "error", err)
		}
	}
}

// olderSource is the older ledger that is to be taken over now, "" if none is.
func (s *service) olderSource(ctx context.Context, log *ledger.Log) (source string, err error) {
	empty := false
	err = log.View(ctx, func(v *ledger.View) error {
		head, err := v.Head()
		if empty = head.LastID == 0; empty || err != nil {
			return err
		}
		begun, err := v.TallyOf(underWay, 0)
		if begun == 0 || err != nil {
			return err
		}
		first, err := v.Event(1) // nothing comes before it in an empty ledger
		source = first.File
		return err
	})
	if !empty || err != nil || s.Paths.Older == "" {
		return source, err
	}
	source = s.Paths.Older
	if is, err := ledger.IsOlder(source); err == nil && !is { // what is wrong with it otherwise, the import says
		s.Logger.Warn("this is no older ledger: it has no table events with an actor and a type", "file", source)
		return "", nil
	}
	_, err = log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		tx.Tally(underWay, 0, 1)
		_, err := tx.Append(ledger.Event{Actor: self, Type: ImportBegun, Object: ImportObject, File: source, Source: ledger.System})
		return nil, err
	})
	return source, err
}

// takeOlder takes over one file, and notes what it was.
func takeOlder(ctx context.Context, log *ledger.Log, source string) error {
	r, err := ops.Import(ctx, log, source)
	if err != nil {
		return err
	}
	e, err := ops.Imported(r)
	if err != nil {
		return err
	}
	return endOlder(ctx, log, e)
}

// endOlder notes the end of a take-over.
func endOlder(ctx context.Context, log *ledger.Log, e ledger.Event) error {
	e.Actor, e.Object, e.Source = self, ImportObject, ledger.System
	_, err := log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		tx.Tally(underWay, 0, -1)
		if _, err := tx.Append(e); err != nil {
			return nil, err
		}
		return nil, importing.works(tx, e.Outcome)
	})
	return err
}

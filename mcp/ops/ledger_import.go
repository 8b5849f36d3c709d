package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"steward/handoff"
	"steward/ledger"
)

type ledgerImportArgs struct {
	File string `json:"file" arg:"required,line,max=4096" doc:"Absolute path of the older ledger; it is not changed"`
}

func ledgerImport() Op {
	return Act(Spec{
		Name:       "ledger_import",
		Title:      "Take over an older ledger",
		Text:       "Take over the events and handoffs of an older ledger, each once however often it runs. Imported events are never key events, failures or activity.",
		Surfaces:   Window | Web | Shell,
		Idempotent: true,
	}, func(ctx context.Context, env *Env, _ Caller, in ledgerImportArgs) (ledger.Imported, error) {
		if !filepath.IsAbs(in.File) {
			return ledger.Imported{}, &ledger.FieldError{Field: "file", Rule: "an absolute path", Got: strconv.Quote(ledger.Clip(in.File, 80))}
		}
		r, err := Import(ctx, env.Log, in.File)
		if err != nil {
			return r, err
		}
		e, err := Imported(r)
		if err != nil {
			return r, err
		}
		_, err = env.Log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			e, err := tx.Append(e)
			r.LastID = e.ID
			return nil, err
		})
		return r, err
	})
}

// The event that tells of a finished take-over of an older ledger, by hand or by
// itself. It is about ImportObject, names the older file, and its data is a
// ledger.Imported.
const (
	Self         = "steward" // the actor of what the service does itself
	ImportObject = "ledger_import"
	ImportDone   = "ledger_imported"
)

// Imported returns that event.
func Imported(r ledger.Imported) (ledger.Event, error) {
	r.Unmapped = ledger.Clip(r.Unmapped, 1000) // an event's data has a limit, a table's columns have not
	data, err := json.Marshal(r)
	if err != nil {
		return ledger.Event{}, err
	}
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	rows := r.Events + r.Others + r.Already // what an earlier run has taken, this one has met again
	return ledger.Event{
		Actor: Self, Type: ImportDone, Object: ImportObject, Source: ledger.System, File: r.Source, Data: data,
		Outcome: fmt.Sprintf("%d events and handoffs of an older ledger are taken over", rows),
		Metrics: ledger.Metrics{{Key: "rows", Value: number(rows)}, {Key: "skipped", Value: number(r.Skipped)}, {Key: "clipped", Value: number(r.Clipped)}},
	}, nil
}

// Import takes over an older ledger with its handoffs. A fault of the file is
// the caller's, not the open ledger's, and says so.
func Import(ctx context.Context, log *ledger.Log, file string) (ledger.Imported, error) {
	r, err := log.Import(ctx, file, map[string]ledger.Follow{"handoffs": handoff.Older})
	name := strconv.Quote(ledger.Clip(file, 200))
	switch {
	case errors.Is(err, ledger.ErrNotPlain):
		return r, &Error{Code: Invalid, Field: "file", Message: "file: " + name + " is not a plain file", Hint: "name the SQLite file that the older program wrote", Err: err}
	case errors.Is(err, os.ErrNotExist):
		if _, there := os.Stat(file); there == nil {
			return r, &Error{Code: Invalid, Field: "file", Message: "file: " + name + " is empty", Err: err}
		}
		return r, &Error{Code: NotFound, Field: "file", Message: "file: there is no " + name, Err: err}
	case errors.Is(err, ledger.ErrForeign):
		return r, &Error{Code: Invalid, Field: "file", Message: "file: " + name + " is no older ledger: it has no table events with an actor and a type", Err: err}
	case errors.Is(err, ledger.ErrCorrupt):
		return r, &Error{Code: Invalid, Field: "file", Message: "file: " + name + " is damaged or no SQLite file; nothing was taken from it",
			Hint: "sqlite3 FILE .recover may save what is left of it", Err: err}
	}
	return r, err
}

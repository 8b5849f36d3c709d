package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/ops"
)

func exportCommand() *command {
	return &command{
		name:  "export",
		short: "write events out as JSONL or CSV",
		text: `Writes the events of the ledger, in their order, one JSON object a line. It
reads the file itself, so it works with and without a service, and beside one.

--csv is for spreadsheets: a header and one line an event, control characters
shown as signs, and a ' before a text that begins with = + - or @, which a
spreadsheet would run as a formula. JSON has every text as it is.

--from and --to take an RFC 3339 time, a date (UTC, the whole day), or how long
ago: 24h, 7d, "90m ago". Both ends are included. They go by when an event was
entered; what was said earlier has that time in said_at.

--output writes the file whole or not at all, and replaces the one that is there:
a plain file, through a link as well, that is no database and none of Steward's
own. For anything else: steward export > FILE.`,
		options: []option{
			{name: "csv", help: "CSV instead of JSON lines"},
			{name: "from", value: "WHEN", help: "only events entered then or later"},
			{name: "to", value: "WHEN", help: "only events entered then or earlier"},
			{name: "actor", value: "NAME", help: "only this actor's events"},
			{name: "output", value: "FILE", help: "where to; by default the standard output"},
		},
		examples: []string{
			"steward export > events.jsonl",
			"steward export --csv --from 2026-05-01 --to 2026-05-31 --output may.csv",
			`steward export --from "24h ago" --actor ci | jq -r .outcome`,
		},
		run: runExport,
	}
}

// exported is what an export into a file did.
type exported struct {
	File   string `json:"file"`
	Events int64  `json:"events"`
	Bytes  int64  `json:"bytes"`
}

func runExport(s *session, in input) error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	chosen := ledger.Selection{Actor: in.get("actor")}
	if in.has("actor") && chosen.Actor == "" {
		return misuse("--actor", "--actor: a name; got an empty one", "")
	}
	now := time.Now()
	if chosen.From, err = moment("from", in.get("from"), now, false); err != nil {
		return err
	}
	if chosen.To, err = moment("to", in.get("to"), now, true); err != nil {
		return err
	}
	if chosen.To != 0 && chosen.From > chosen.To {
		return misuse("--from", fmt.Sprintf("--from: before --to; got %s and %s", chosen.From, chosen.To), "")
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	e := exporter{ctx: ctx, path: paths.Ledger, chosen: chosen, csv: in.on("csv")}
	if file := in.get("output"); in.has("output") && file != "-" {
		var done exported
		if done.File, err = whole(file); err != nil {
			return err
		}
		if s.isStdout(done.File) {
			_, err = e.write(s.stdout)
			return explainExport(ctx, err, paths)
		}
		if done.File, err = writable("--output", done.File, paths); err != nil {
			return err
		}
		if err = e.file(&done); err != nil {
			return explainExport(ctx, err, paths)
		}
		return s.print(done, func(b *strings.Builder) {
			fmt.Fprintf(b, "%s written to %s.\n", plural(done.Events, "event"), visible(done.File))
		})
	}
	_, err = e.write(s.stdout)
	return explainExport(ctx, err, paths)
}

// isStdout tells whether a path is another name of the standard output, as
// /dev/stdout is.
func (s *session) isStdout(path string) bool {
	f, ok := s.stdout.(*os.File)
	if !ok {
		return false
	}
	mine, err1 := f.Stat()
	named, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, named)
}

// writable returns where a file that is to be made or replaced really lies. It
// refuses places of Steward's own, databases, and what is no plain file.
func writable(field, path string, p daemon.Paths) (string, error) {
	refuse := func(err error, format string, args ...any) (string, error) {
		return "", &ops.Error{Code: ops.Invalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...), Hint: "name another file", Err: err}
	}
	if whose := p.Reserved(path); whose != "" {
		return refuse(nil, "%s is %s place", path, whose)
	}
	if err := ledger.CheckPlain(path); err != nil {
		return refuse(err, "%s cannot be replaced: %v", path, reason(err))
	}
	real, err := ledger.RealPath(path)
	if err != nil {
		return refuse(err, "%s cannot be followed: %v", path, reason(err))
	}
	if daemon.IsDatabase(real) {
		return refuse(nil, "%s is a database, which is not replaced", path)
	}
	return real, nil
}

func explainExport(ctx context.Context, err error, p daemon.Paths) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("interrupted before the end")
	case errors.As(err, new(notWritten)):
		return &ops.Error{Code: ops.Unavailable, Message: err.Error(), Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return noLedger(p, err)
	}
	return daemon.Explain(err, p)
}

// noLedger is for a command that reads a ledger that is not there yet.
func noLedger(p daemon.Paths, err error) error {
	message := "there is no ledger at " + p.Ledger
	if _, there := os.Stat(p.Ledger); there == nil {
		message = "there is no ledger in " + p.Ledger + ": the file is empty"
	}
	return &ops.Error{Code: ops.NotFound, Message: message, Hint: "it is made with the first receipt: steward emit \"hello\" --actor me", Err: err}
}

// notWritten is an error of where an export goes, not of the ledger.
type notWritten struct{ error }

func (e notWritten) Unwrap() error { return e.error }

// exporter writes chosen events of a ledger file.
type exporter struct {
	ctx    context.Context
	path   string
	chosen ledger.Selection
	csv    bool
}

// file writes to a file, which appears whole and for this user alone.
func (e exporter) file(done *exported) error {
	temp, err := os.CreateTemp(filepath.Dir(done.File), "."+filepath.Base(done.File)+"-")
	if err != nil {
		return notWritten{fmt.Errorf("the export cannot be written: %w", reason(err))}
	}
	done.Events, err = e.write(temp)
	if err == nil {
		err = finish(temp, done)
	}
	if err != nil {
		return errors.Join(err, ignoreClosed(temp.Close()), os.Remove(temp.Name()))
	}
	return nil
}

func finish(temp *os.File, done *exported) error {
	fi, err := temp.Stat()
	if err == nil {
		done.Bytes = fi.Size()
		err = errors.Join(temp.Sync(), temp.Close())
	}
	if err == nil {
		err = os.Rename(temp.Name(), done.File)
	}
	if err != nil {
		return notWritten{fmt.Errorf("the export cannot be written: %w", reason(err))}
	}
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// write writes to w and returns how many events there were.
func (e exporter) write(w io.Writer) (n int64, err error) {
	out := bufio.NewWriterSize(w, 64<<10)
	line := func(ev ledger.Event) error {
		b, err := json.Marshal(ev)
		if err == nil {
			_, err = out.Write(append(visibleJSON(b), '\n'))
		}
		return err
	}
	if e.csv {
		rows := newRows(out)
		if err := rows.header(); err != nil {
			return 0, notWritten{err}
		}
		line = rows.event
	}
	err = ledger.ReadFile(e.ctx, e.path, e.chosen, func(ev ledger.Event) error {
		if err := line(ev); err != nil {
			return notWritten{err}
		}
		n++
		return nil
	})
	if err == nil {
		if err = out.Flush(); err != nil {
			err = notWritten{err}
		}
	}
	return n, err
}

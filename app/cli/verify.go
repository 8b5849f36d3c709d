package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/ops"
)

func verifyCommand() *command {
	return &command{
		name:  "verify",
		usage: "[FILE]",
		short: "check the whole ledger",
		text: `Reads every event and checks that it follows from the one before, that none is
missing, and that what is kept beside them agrees. The service may go on working
meanwhile. Names the first broken row and exits with 7 if there is one. FILE is
another ledger to check, such as a copy before it is put back.

This finds damage and careless edits. It does not find the work of someone who
computed the chain anew: note the last hash elsewhere to recognise that.`,
		examples: []string{"steward verify", "steward verify --json", "steward verify ~/.local/share/steward/backups/daily-20260504T120000Z-4711.db"},
		max:      1,
		run:      runVerify,
	}
}

func runVerify(s *session, in input) error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	hint := paths.Restore()
	if len(in.args) == 1 {
		if paths.Ledger, err = whole(in.args[0]); err != nil {
			return err
		}
		hint = "take another copy"
		if err := named("FILE", paths.Ledger); err != nil {
			return err
		}
	}
	if _, err := os.Stat(paths.Ledger); errors.Is(err, fs.ErrNotExist) {
		return noLedger(paths, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	start := time.Now()
	report, err := verified(ctx, paths.Ledger, s.progress("events"))
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted before the end")
	case errors.Is(err, fs.ErrNotExist):
		return noLedger(paths, err)
	case err != nil:
		return daemon.Explain(err, paths)
	}
	if err := s.print(report, func(b *strings.Builder) {
		if !report.OK() {
			return
		}
		fmt.Fprintf(b, "%s, no fault found in %s.\n", plural(report.Events, "event"), time.Since(start).Round(time.Millisecond))
		if report.Events > 0 {
			fmt.Fprintf(b, "Last hash %s\n", report.Hash)
		}
	}); err != nil {
		return err
	}
	if report.OK() {
		return nil
	}
	bad := &ops.Error{Code: ops.Corrupt, Message: "the ledger is damaged: " + daemon.Damage(report), Hint: hint}
	if s.json {
		return said{bad} // the report has it
	}
	return bad
}

// named refuses a file that was named on the command line and is not there, is no
// file, or has nothing in it.
func named(field, path string) error {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &ops.Error{Code: ops.NotFound, Field: field, Message: field + ": there is no " + path, Err: err}
	case err != nil:
		return &ops.Error{Code: ops.Unavailable, Field: field, Message: fmt.Sprintf("%s: %v", field, err), Err: err}
	}
	if err := ledger.CheckPlain(path); err != nil {
		return &ops.Error{Code: ops.Invalid, Field: field, Message: fmt.Sprintf("%s: %s cannot be used: %v", field, path, reason(err)), Err: err}
	}
	if fi.Size() == 0 {
		return &ops.Error{Code: ops.Invalid, Field: field, Message: field + ": " + path + " is empty"}
	}
	return nil
}

// reason is an error of a file without its name, which has been said.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// verified is ledger.VerifyFile, but returns as soon as ctx ends: SQLite's own
// check of a long file cannot be broken off, and the process is about to end.
func verified(ctx context.Context, path string, progress func(done, total int64)) (ledger.Report, error) {
	type outcome struct {
		ledger.Report
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := ledger.VerifyFile(ctx, path, progress)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.Report, o.err
	case <-ctx.Done():
		return ledger.Report{}, ctx.Err()
	}
}

// progress shows how far something is on a person's terminal; nil elsewhere.
func (s *session) progress(what string) func(done, total int64) {
	if s.json || !isTerminal(s.stderr) {
		return nil
	}
	var last time.Time
	return func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= 200*time.Millisecond {
			last = now
			fmt.Fprintf(s.stderr, "\r%s of %s %s ", count(done), count(total), what)
		}
		if done == total {
			fmt.Fprint(s.stderr, "\r\x1b[K")
		}
	}
}

// count writes a number with thin gaps between its thousands.
func count(n int64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// plural is n of a thing whose word takes an s.
func plural(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return count(n) + " " + word
}

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
		short: "check the whole ledger",
		text: `Reads every event and checks that it follows from the one before, that none is
missing, and that what is kept beside them agrees. The service may go on working
meanwhile. Names the first broken row and exits with 7 if there is one.

This finds damage and careless edits. It does not find the work of someone who
computed the chain anew: note the last hash elsewhere to recognise that.`,
		examples: []string{"steward verify", "steward verify --json"},
		run:      func(s *session, _ input) error { return s.verify() },
	}
}

func (s *session) verify() error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	if _, err := os.Stat(paths.Ledger); errors.Is(err, fs.ErrNotExist) {
		return &ops.Error{Code: ops.NotFound, Message: "there is no ledger at " + paths.Ledger, Hint: "it is made with the first receipt: steward emit \"hello\" --actor me", Err: err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	start := time.Now()
	report, err := ledger.VerifyFile(ctx, paths.Ledger, s.progress("events"))
	if ctx.Err() != nil {
		return errors.New("interrupted before the end")
	}
	if err != nil {
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
	bad := &ops.Error{Code: ops.Corrupt, Message: "the ledger is damaged: " + report.Problem, Hint: "stop Steward, put back a copy from " + paths.Backups + ", or keep the file for a look and move it away to begin anew"}
	if s.json {
		return said{bad} // the report has it
	}
	return bad
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

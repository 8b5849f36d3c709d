package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"

	"steward/app/daemon"
)

func restoreCommand() *command {
	return &command{
		name:  "restore",
		usage: "FILE",
		short: "put a copy of the ledger in its place",
		text: `Puts FILE, a copy that backup or the service has made, in the place of the ledger.
The copy is checked first, and nothing is changed if it is damaged. A running
service is ended; clients may go on calling meanwhile, their next call starts a
new one on the ledger that is there then.

What was in the place of the ledger is kept in the backups folder, under a name
that begins with replaced- and the time. What was entered after the copy was made
is in there, and no longer in the ledger.`,
		examples: []string{"steward restore ~/.local/share/steward/backups/daily-20260504T120000Z-4711.db", "steward restore copy.db --json | jq -r .kept[]"},
		min:      1, max: 1,
		run: runRestore,
	}
}

func runRestore(s *session, in input) error {
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	file, err := whole(in.args[0])
	if err != nil {
		return err
	}
	if err := named("FILE", file); err != nil {
		return err
	}
	if whose := paths.Reserved(file); whose != "" {
		return misuse("FILE", fmt.Sprintf("FILE: a copy of the ledger; %s is %s place", file, whose), "steward doctor lists the copies there are")
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	done, err := daemon.Restore(ctx, paths, file, version, s.progress("events"))
	if ctx.Err() != nil && err != nil {
		return errors.New("interrupted before the end; nothing was changed")
	}
	if err != nil {
		return err
	}
	return s.print(done, func(b *strings.Builder) {
		fmt.Fprintf(b, "Restored %s from %s.\n", plural(done.Events, "event"), visible(file))
		if len(done.Kept) > 0 {
			fmt.Fprintf(b, "What was there before is kept: %s\n", visible(strings.Join(done.Kept, ", ")))
		}
		if done.Ended != "" {
			fmt.Fprintf(b, "The service that ran was ended (%s); the next call of a client starts one.\n", visible(done.Ended))
		}
	})
}

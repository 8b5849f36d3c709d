package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/ops"
)

func backupCommand() *command {
	return &command{
		name:  "backup",
		usage: "[FILE]",
		short: "copy the ledger while it is in use",
		text: `Writes a whole copy of the ledger to FILE, which must not exist yet, or to a
dated file in the backups folder. The service goes on meanwhile, and is started
if none runs. It also makes one copy a day by itself and keeps the newest 7;
backup_daily in config.json turns that off.

steward restore FILE puts a copy back, with clients at work too.`,
		examples: []string{"steward backup", "steward backup /media/stick/steward.db", "steward backup --json | jq -r .file"},
		max:      1,
		run:      runBackup,
	}
}

func runBackup(s *session, in input) error {
	args := map[string]string{}
	if len(in.args) == 1 {
		file, err := whole(in.args[0])
		if err != nil {
			return err
		}
		paths, err := daemon.Find(s.env)
		if err != nil {
			return err
		}
		if whose := paths.Reserved(file); whose != "" {
			return misuse("FILE", fmt.Sprintf("FILE: %s is %s place", file, whose), "name another file")
		}
		args["file"] = file
	}
	var done ops.Backup
	return s.tell("backup_now", args, &done, func(b *strings.Builder) {
		fmt.Fprintf(b, "Copied to %s, %s bytes.\n", visible(done.File), count(done.Bytes))
	})
}

func importCommand() *command {
	return &command{
		name:  "import",
		usage: "FILE",
		short: "take over the ledger of an older program",
		text: `Takes over the events and handoffs of an older ledger, each once, however often
this is run and from whichever copy of the file. The file is not changed. What is
taken over is found by search, export and recent_events; it never counts as a key
event, a failure or activity. Starts the service if none runs.

An older ledger in its usual place, or named by STEWARD_DB, is taken over by
itself at the very first start.`,
		examples: []string{"steward import ~/Documents/ShadowRoom/_steward/ledger.db", "steward import old.db --json"},
		min:      1, max: 1,
		run: runImport,
	}
}

func runImport(s *session, in input) error {
	file, err := whole(in.args[0])
	if err != nil {
		return err
	}
	var r ledger.Imported
	return s.tell("ledger_import", map[string]string{"file": file}, &r, func(b *strings.Builder) { imported(b, &r) })
}

// imported writes what an import did for people.
func imported(b *strings.Builder, r *ledger.Imported) {
	fmt.Fprintf(b, "Taken over: %s and %s.\n", plural(r.Events, "event"), plural(r.Others, "handoff"))
	if r.Already > 0 {
		fmt.Fprintf(b, "%s had been taken over before.\n", plural(r.Already, "row"))
	}
	if r.Skipped > 0 {
		fmt.Fprintf(b, "%s without an actor or a type left out.\n", plural(r.Skipped, "row"))
	}
	if r.Clipped > 0 {
		fmt.Fprintf(b, "%s cut to the limits of an event.\n", plural(r.Clipped, "row"))
	}
	if r.Unmapped != "" {
		fmt.Fprintf(b, "Columns that have no place in an event: %s\n", visible(r.Unmapped))
	}
}

// whole makes a path that was typed absolute: the service has another folder.
func whole(path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", misuse("FILE", "FILE: the name of a file; got an empty one", "")
	}
	if path == "-" {
		return "", misuse("FILE", "FILE: the name of a file; got -", "the standard output or input is not taken here")
	}
	if i := strings.IndexFunc(path, unicode.IsControl); i >= 0 { // a service takes it for one line of text
		return "", misuse("FILE", fmt.Sprintf("FILE: a name without control characters; got %q", path), "")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("this folder cannot be found: %w", err)
	}
	return abs, nil
}

// tell calls a tool and shows its result: as it is for a program, else what
// text writes of it once it is in into.
func (s *session) tell(tool string, args, into any, text func(*strings.Builder)) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, err := s.ask(tool, raw)
	if err != nil {
		return err
	}
	if s.json {
		return s.write(append(visibleJSON(result.Structured), '\n'))
	}
	if err := json.Unmarshal(result.Structured, into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var b strings.Builder
	text(&b)
	return s.write([]byte(b.String()))
}

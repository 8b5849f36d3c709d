package cli

import (
	"context"
	"fmt"
	"strings"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// check is one line of doctor's findings.
type check struct {
	Name    string   `json:"name"`
	OK      bool     `json:"ok"`
	Warning bool     `json:"warning,omitempty"` // nothing is broken, but somebody should look
	Detail  string   `json:"detail"`
	Hint    string   `json:"hint,omitempty"`
	Code    ops.Code `json:"code,omitempty"` // of what is wrong
}

// diagnosis is doctor's whole answer. Programs rely on its keys: they are always
// there, null when nothing is known.
type diagnosis struct {
	OK      bool            `json:"ok"`
	Build   build           `json:"build"`
	Paths   *places         `json:"paths"`
	Lock    *lockState      `json:"lock"`
	Service *local.Info     `json:"service"` // null: none answers
	HTTP    *httpState      `json:"http"`
	Ledger  *ledger.Report  `json:"ledger"`                     // null: not checked
	Orphans []ledger.Orphan `json:"lost_ledger_logs,omitempty"` // write-ahead logs found without their ledger
	Backups *backupState    `json:"backups"`
	Import  *importState    `json:"older_import"` // null: none was begun
	Spool   *spoolState     `json:"spool"`
	Disk    *diskState      `json:"disk"`
	Clock   *clockState     `json:"clock"`
	Checks  []check         `json:"checks"`
}

type places struct {
	Home       string `json:"home"`
	Ledger     string `json:"ledger"`
	Socket     string `json:"socket"`
	Spool      string `json:"spool"`
	Backups    string `json:"backups"`
	Config     string `json:"config"`
	Log        string `json:"log"`
	Token      string `json:"token"`
	AgentToken string `json:"agent_token"`
	Older      string `json:"older_ledger,omitempty"`
}

type lockState struct {
	Held   bool   `json:"held"`
	Holder string `json:"holder,omitempty"`
	PID    int    `json:"pid,omitempty"`
}

type httpState struct {
	On       bool   `json:"on"`                 // somebody answers
	Listen   string `json:"listen,omitempty"`   // where the running service was to serve it
	Settings string `json:"settings,omitempty"` // where the settings here say
}

type backupState struct {
	Daily   bool          `json:"daily"` // wanted
	Copies  int           `json:"copies"`
	Others  int           `json:"others"` // made by hand or before a migration
	Newest  string        `json:"newest,omitempty"`
	At      ledger.Millis `json:"newest_at,omitempty"`
	Problem string        `json:"problem,omitempty"`
}

type importState struct {
	State   string        `json:"state"` // started, imported, failed, given_up
	File    string        `json:"file"`
	At      ledger.Millis `json:"at"`
	Outcome string        `json:"outcome,omitempty"`
}

type spoolState struct {
	Waiting int `json:"waiting"`
	Bad     int `json:"bad"`
}

type diskState struct {
	Free uint64 `json:"free_bytes"`
}

type clockState struct {
	Now   ledger.Millis `json:"now"`
	Ahead int64         `json:"ahead_ms"` // how far the newest time in the ledger lies in the future
}

func doctorCommand() *command {
	return &command{
		name:  "doctor",
		short: "check this installation",
		text: `Shows which folders, which ledger and which socket are used, who holds the
ledger, whether the service answers and of which version it is, where HTTP is
served, and checks the whole ledger, its copies, the spool, the settings, the
disk and the clock. Starts nothing and changes nothing.

!! marks what is wrong, ! what should be looked at. The exit code is that of the
worst thing that is wrong: 7, damage, before 6 and so on.`,
		examples: []string{"steward doctor", "steward doctor --json", "steward doctor --json | jq -r .backups.newest"},
		run:      func(s *session, _ input) error { return s.doctor() },
	}
}

func (s *session) doctor() error {
	d := diagnosis{OK: true, Build: thisBuild()}
	paths, err := daemon.Find(s.env)
	if err != nil {
		d.add(wrong("paths", err))
	} else {
		x := examination{session: s, diagnosis: &d, p: paths, ctx: context.Background()}
		x.all()
	}
	if err := s.print(d, d.text); err != nil {
		return err
	}
	if c := d.worst(); c != nil {
		return said{&ops.Error{Code: c.Code, Message: c.Detail, Hint: c.Hint}}
	}
	return nil
}

// worst is the finding with the greatest exit code; nil when nothing is wrong.
func (d *diagnosis) worst() (worst *check) {
	for i := range d.Checks {
		if c := &d.Checks[i]; !c.OK && (worst == nil || c.Code.Exit() > worst.Code.Exit()) {
			worst = c
		}
	}
	return worst
}

// text is the diagnosis for people.
func (d *diagnosis) text(b *strings.Builder) {
	fmt.Fprintln(b, d.Build)
	rows := [][]string{}
	for _, c := range d.Checks {
		mark := "ok"
		switch {
		case !c.OK:
			mark = "!!"
		case c.Warning:
			mark = "!"
		}
		rows = append(rows, []string{mark, c.Name, visible(c.Detail)})
		if c.Hint != "" {
			rows = append(rows, []string{"", "", visible(c.Hint)})
		}
	}
	_ = table(b, "  ", rows) // a strings.Builder takes everything
}

func (d *diagnosis) add(c check) {
	d.OK = d.OK && c.OK
	d.Checks = append(d.Checks, c)
}

func fine(name, detail string, args ...any) check {
	return check{Name: name, OK: true, Detail: fmt.Sprintf(detail, args...)}
}

// look is what is not broken, but should be looked at.
func look(name, hint, detail string, args ...any) check {
	return check{Name: name, OK: true, Warning: true, Detail: fmt.Sprintf(detail, args...), Hint: hint}
}

func wrong(name string, err error) check {
	e := asError(err)
	return check{Name: name, Detail: e.Message, Hint: e.Hint, Code: e.Code}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// check is one line of doctor's findings.
type check struct {
	Name   string   `json:"name"`
	OK     bool     `json:"ok"`
	Detail string   `json:"detail"`
	Hint   string   `json:"hint,omitempty"`
	Code   ops.Code `json:"code,omitempty"` // of what is wrong
}

type diagnosis struct {
	OK      bool           `json:"ok"`
	Build   build          `json:"build"`
	Service *local.Info    `json:"service"` // null: none answers
	Ledger  *ledger.Report `json:"ledger"`  // null: not checked
	Checks  []check        `json:"checks"`
}

func doctorCommand() *command {
	return &command{
		name:  "doctor",
		short: "check this installation",
		text: `Shows which folders, which ledger and which socket are used, who holds the
ledger, whether the service answers, and checks the whole ledger. Starts nothing
and changes nothing. The exit code is that of the first thing that is wrong.`,
		examples: []string{"steward doctor", "steward doctor --json"},
		run:      func(s *session, _ input) error { return s.doctor() },
	}
}

func (s *session) doctor() error {
	d := diagnosis{OK: true, Build: thisBuild()}
	paths, err := daemon.Find(s.env)
	if err != nil {
		d.add(wrong("paths", err))
	} else {
		s.examine(&d, paths)
	}
	if err := s.print(d, func(b *strings.Builder) {
		fmt.Fprintln(b, d.Build)
		rows := [][]string{}
		for _, c := range d.Checks {
			mark := "ok"
			if !c.OK {
				mark = "!!"
			}
			rows = append(rows, []string{mark, c.Name, visible(c.Detail)})
			if c.Hint != "" {
				rows = append(rows, []string{"", "", visible(c.Hint)})
			}
		}
		_ = table(b, "  ", rows) // a strings.Builder takes everything
	}); err != nil {
		return err
	}
	for _, c := range d.Checks {
		if !c.OK {
			return said{&ops.Error{Code: c.Code, Message: c.Detail, Hint: c.Hint}}
		}
	}
	return nil
}

func (d *diagnosis) add(c check) {
	d.OK = d.OK && c.OK
	d.Checks = append(d.Checks, c)
}

func fine(name, detail string, args ...any) check {
	return check{Name: name, OK: true, Detail: fmt.Sprintf(detail, args...)}
}

func wrong(name string, err error) check {
	e := asError(err)
	return check{Name: name, Detail: e.Message, Hint: e.Hint, Code: e.Code}
}

func (s *session) examine(d *diagnosis, p daemon.Paths) {
	d.add(stateFolder(p))
	if err := daemon.NewSettings(p.Config, s.env).Problem(); err != nil {
		d.add(check{Name: "config", Detail: err.Error(), Hint: "the last good settings, or the defaults, are used", Code: ops.Invalid})
	} else if _, err := os.Stat(p.Config); err != nil {
		d.add(fine("config", "none at %s: the defaults are used", p.Config))
	} else {
		d.add(fine("config", "%s", p.Config))
	}
	holder, held, err := ledger.Holder(p.Ledger)
	switch {
	case err != nil:
		d.add(wrong("lock", daemon.Explain(err, p)))
	case held:
		d.add(fine("lock", "held by %s", holder))
	default:
		d.add(fine("lock", "free: no service runs"))
	}
	d.service(p, holder, held)
	d.ledgerFile(s, p)
	d.spool(p)
	d.add(fine("log", "%s", p.Log))
	if p.Older != "" {
		d.add(fine("older ledger", "%s: only read, never written", p.Older))
	}
}

func stateFolder(p daemon.Paths) check {
	fi, err := os.Stat(p.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("state folder", "%s: not there yet, made at the first start", p.Home)
	case err != nil:
		return wrong("state folder", err)
	case !fi.IsDir():
		return check{Name: "state folder", Detail: p.Home + " is not a folder", Hint: "move it away, or set STEWARD_HOME", Code: ops.Unavailable}
	}
	if open := fi.Mode().Perm() & 0o077; open != 0 && filepath.Separator == '/' {
		return check{Name: "state folder", Detail: fmt.Sprintf("%s can be entered by others (mode %#o)", p.Home, fi.Mode().Perm()), Hint: "chmod 700 " + p.Home, Code: ops.Forbidden}
	}
	return fine("state folder", "%s", p.Home)
}

// service asks whoever listens on the socket what it is.
func (d *diagnosis) service(p daemon.Paths, holder string, held bool) {
	ctx, cancel := context.WithTimeout(context.Background(), local.HelloTimeout)
	defer cancel()
	info, err := local.AskInfo(ctx, p.Socket)
	switch {
	case err == nil && info.Ledger != p.Key:
		d.add(check{Name: "socket", Detail: fmt.Sprintf("%s answers for another ledger: %s", p.Socket, info.Path), Hint: "STEWARD_SOCKET and STEWARD_DB must belong together", Code: ops.Unavailable})
	case err == nil:
		d.Service = &info
		c := fine("socket", "%s answers: %s, version %s, %s, %s", p.Socket, info.State, info.Version, info.Role, plural(int64(info.Connections), "connection"))
		if info.Version != version {
			c.Hint = "the service is of another version than this program; `steward stop` lets the next call start this one"
		}
		d.add(c)
	case held:
		hint := endByHand(holder)
		if _, at, ok := strings.Cut(holder, "socket "); ok && at != p.Socket {
			hint = "the service listens on " + at + ": it was started with another STEWARD_SOCKET than is set here"
		}
		d.add(check{Name: "socket", Detail: fmt.Sprintf("%s does not answer, though the ledger is held", p.Socket), Hint: hint, Code: ops.Unavailable})
	default:
		d.add(fine("socket", "%s: nobody listens; the first call starts a service", p.Socket))
	}
}

func (d *diagnosis) ledgerFile(s *session, p daemon.Paths) {
	fi, err := os.Stat(p.Ledger)
	if errors.Is(err, fs.ErrNotExist) {
		d.add(fine("ledger", "%s: not there yet, made at the first start", p.Ledger))
		return
	}
	if err != nil {
		d.add(wrong("ledger", err))
		return
	}
	r, err := ledger.VerifyFile(context.Background(), p.Ledger, s.progress("events"))
	if err != nil {
		d.add(wrong("ledger", daemon.Explain(err, p)))
		return
	}
	d.Ledger = &r
	if !r.OK() {
		d.add(check{Name: "ledger", Detail: fmt.Sprintf("%s is damaged: %s", p.Ledger, r.Problem), Hint: "stop Steward and put back a copy from " + p.Backups, Code: ops.Corrupt})
		return
	}
	d.add(fine("ledger", "%s: %s in %s bytes, no fault found", p.Ledger, plural(r.Events, "event"), count(fi.Size())))
}

func (d *diagnosis) spool(p daemon.Paths) {
	files, err := local.List(p.Spool)
	if err != nil {
		d.add(wrong("spool", err))
		return
	}
	bad, err := os.ReadDir(filepath.Join(p.Spool, "bad"))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.add(wrong("spool", err))
	case len(files) > 0 || len(bad) > 0:
		d.add(fine("spool", "%s: %s waiting for a service, %d that could not be entered", p.Spool, plural(int64(len(files)), "call"), len(bad)))
	default:
		d.add(fine("spool", "empty"))
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"steward/app/daemon"
	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// lowDisk is the free space under which doctor warns, in bytes: room for a copy
// of a ledger of half a million events.
const lowDisk = 200 << 20

// ahead is how far a time in the ledger may lie in the future.
const ahead = time.Minute

// examination fills one diagnosis.
type examination struct {
	*session
	*diagnosis
	p      daemon.Paths
	ctx    context.Context
	holder string // who holds the ledger; "" if nobody does
}

func (x *examination) all() {
	p := x.p
	x.Paths = &places{Home: p.Home, Ledger: p.Ledger, Socket: p.Socket, Spool: p.Spool, Backups: p.Backups, Config: p.Config, Log: p.Log,
		Token: p.Token, AgentToken: p.AgentToken, Older: p.Older}
	settings := daemon.NewSettings(p.Config, x.env)
	x.add(stateFolder(p))
	x.add(config(p, settings.Problem()))
	x.lock()
	x.service()
	x.http(settings.Config().Listen)
	x.ledger()
	told, err := daemon.ReadTold(x.ctx, p.Ledger)
	if err != nil { // the ledger's own line has said it
		told = daemon.Told{}
	}
	x.orphans()
	x.backups(settings.Config().BackupDaily, told.BackupFailed)
	x.older(told.Import)
	x.spool()
	x.disk()
	x.clock()
	x.log()
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
	if open := fi.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return check{Name: "state folder", Detail: fmt.Sprintf("%s can be entered by others (mode %#o)", p.Home, fi.Mode().Perm()), Hint: "chmod 700 " + p.Home, Code: ops.Forbidden}
	}
	return fine("state folder", "%s", p.Home)
}

func config(p daemon.Paths, problem error) check {
	if problem != nil {
		return check{Name: "config", Detail: problem.Error(), Hint: "the last good settings, or the defaults, are used", Code: ops.Invalid}
	}
	if _, err := os.Stat(p.Config); err != nil {
		return fine("config", "none at %s: the defaults are used", p.Config)
	}
	return fine("config", "%s", p.Config)
}

func (x *examination) lock() {
	holder, held, err := ledger.Holder(x.p.Ledger)
	if err != nil {
		x.add(wrong("lock", daemon.Explain(err, x.p)))
		return
	}
	x.Lock = &lockState{Held: held}
	if !held {
		x.add(fine("lock", "free: no service runs"))
		return
	}
	x.holder = holder
	x.Lock.Holder, x.Lock.PID = holder, daemon.HolderPID(holder)
	x.add(fine("lock", "held by %s", holder))
}

// service asks whoever listens on the socket what it is.
func (x *examination) service() {
	ctx, cancel := context.WithTimeout(x.ctx, local.HelloTimeout)
	defer cancel()
	p := x.p
	at := p.Socket
	info, err := daemon.Ask(p, func(address string) (local.Info, error) {
		at = address
		return local.AskInfo(ctx, address)
	})
	switch {
	case err == nil && info.Ledger != p.Key:
		x.add(check{Name: "socket", Detail: fmt.Sprintf("%s answers for another ledger: %s", p.Socket, info.Path), Hint: "STEWARD_SOCKET and STEWARD_DB must belong together", Code: ops.Unavailable})
	case err == nil:
		x.Service = &info
		if info.State == "refusing" {
			x.add(check{Name: "socket", Detail: fmt.Sprintf("%s answers, but the service cannot serve the ledger", p.Socket), Hint: "the line on the ledger says why; so does " + p.Log, Code: ops.Unavailable})
			return
		}
		c := fine("socket", "%s answers: %s, version %s, %s, %s", p.Socket, info.State, info.Version, info.Role, plural(int64(info.Connections), "connection"))
		if info.Version != version {
			c.Warning, c.Hint = true, "the service is of another version than this program; `steward stop` lets the next call start this one"
		}
		if at != p.Socket {
			c.Detail = fmt.Sprintf("%s: nobody listens, but the service does at %s", p.Socket, at)
			c.Warning, c.Hint = true, "its folder was another when it started, or it was started with STEWARD_SOCKET; `steward stop` lets the next call start one at the usual place"
		}
		x.add(c)
	case x.Lock != nil && x.Lock.Held:
		hint := endByHand(x.holder)
		if at := daemon.HolderSocket(x.holder); at != "" && at != p.Socket {
			hint = "the service listens on " + at + ": it was started with another STEWARD_SOCKET than is set here"
		}
		x.add(check{Name: "socket", Detail: fmt.Sprintf("%s does not answer, though the ledger is held", p.Socket), Hint: hint, Code: ops.Unavailable})
	case occupied(p.Socket):
		x.add(check{Name: "socket", Detail: p.Socket + " is something else than a socket, so no service can listen there", Hint: "move it away", Code: ops.Unavailable})
	default:
		x.add(fine("socket", "%s: nobody listens; the first call starts a service", p.Socket))
	}
}

// occupied tells whether something that is no socket stands at the path of one.
func occupied(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && runtime.GOOS != "windows" && fi.Mode()&fs.ModeSocket == 0
}

func (x *examination) ledger() {
	fi, err := os.Stat(x.p.Ledger)
	if errors.Is(err, fs.ErrNotExist) {
		x.add(fine("ledger", "%s: not there yet, made at the first start", x.p.Ledger))
		return
	}
	if err != nil {
		x.add(wrong("ledger", err))
		return
	}
	r, err := ledger.VerifyFile(x.ctx, x.p.Ledger, x.progress("events"))
	if errors.Is(err, fs.ErrNotExist) {
		x.add(fine("ledger", "%s: empty, made at the first start", x.p.Ledger))
		return
	}
	if err != nil {
		x.add(wrong("ledger", daemon.Explain(err, x.p)))
		return
	}
	x.Ledger = &r
	if !r.OK() {
		x.add(check{Name: "ledger", Detail: fmt.Sprintf("%s is damaged: %s", x.p.Ledger, daemon.Damage(r)), Hint: x.p.Restore(), Code: ops.Corrupt})
		return
	}
	x.add(fine("ledger", "%s: %s in %s bytes, no fault found", x.p.Ledger, plural(r.Events, "event"), count(fi.Size())))
	behind, err := ledger.SearchBehind(x.p.Ledger)
	switch {
	case err != nil:
		x.add(wrong("search index", daemon.Explain(err, x.p)))
	case behind == 0:
		x.add(fine("search index", "complete"))
	default: // a search looks at those by itself
		x.add(fine("search index", "%s behind; a search looks at them one by one", plural(behind, "event")))
	}
}

// orphans names what is left of a ledger file that was lost.
func (x *examination) orphans() {
	found, err := ledger.Orphans(x.p.Ledger)
	if err != nil || len(found) == 0 { // a folder that cannot be read, others name
		return
	}
	x.Orphans = found
	names := make([]string, len(found))
	for i, o := range found {
		names[i] = o.File
	}
	hint := "if you have the lost file, put that log beside it as FILE-wal and run `steward restore FILE`"
	daily, _, err := daemon.DailyBackups(x.p.Backups)
	older := slices.IndexFunc(daily, func(d daemon.DailyBackup) bool { return d.At.Before(found[0].At) })
	if err == nil && older >= 0 {
		hint += "; else `steward restore " + daily[older].File + "` puts the newest daily copy from before the loss in its place and keeps what is there"
	}
	x.add(check{Name: "lost ledger", Detail: "a start found no ledger file but its write-ahead log, and kept that as " + strings.Join(names, ", "),
		Hint: hint + "; delete the kept log when you need it no more", Code: ops.Corrupt})
}

func (x *examination) backups(daily bool, failed *ledger.Event) {
	all, others, err := daemon.DailyBackups(x.p.Backups)
	if err != nil {
		x.add(check{Name: "backups", Detail: "they cannot be listed: " + err.Error(), Hint: "the copies belong into a folder of that name", Code: ops.Unavailable})
		return
	}
	x.Backups = &backupState{Daily: daily, Copies: len(all), Others: others}
	detail := "no daily copy yet"
	if len(all) > 0 {
		x.Backups.Newest, x.Backups.At = all[0].File, ledger.At(all[0].At)
		detail = fmt.Sprintf("the newest of %s is %s, from %s", plural(int64(len(all)), "daily copy"), all[0].File, age(x.Backups.At, ledger.At(time.Now())))
	}
	if others > 0 {
		detail += fmt.Sprintf("; %s in %s", plural(int64(others), "other"), x.p.Backups)
	}
	switch {
	case failed != nil && daily:
		x.Backups.Problem = failed.Outcome
		x.add(check{Name: "backups", Detail: "the daily copy cannot be made: " + failed.Outcome + "; " + detail, Hint: "it is tried again every hour; the log is " + x.p.Log, Code: ops.Unavailable})
	case !daily:
		x.add(fine("backups", "daily copies are switched off (backup_daily); %s", detail))
	default:
		x.add(fine("backups", "%s", detail))
	}
}

// older says what became of an older program's ledger.
func (x *examination) older(e *ledger.Event) {
	if e == nil {
		if x.p.Older == "" {
			return
		}
		if _, err := os.Stat(x.p.Ledger); errors.Is(err, fs.ErrNotExist) {
			x.add(fine("older ledger", "%s: taken over at the first start, never written", x.p.Older))
			return
		}
		x.add(look("older ledger", "`steward import FILE` takes it over; by itself that happens only into a new ledger", "%s is not taken over", x.p.Older))
		return
	}
	s := importState{File: e.File, At: e.At, Outcome: e.Outcome, State: strings.TrimPrefix(strings.TrimPrefix(e.Type, "ledger_import_"), "ledger_")}
	x.Import = &s
	switch e.Type {
	case daemon.ImportDone:
		x.add(fine("older ledger", "%s: %s, %s", s.File, s.Outcome, s.At))
	case daemon.ImportFailed:
		x.add(look("older ledger", "it is tried again at every start; nothing else waits for it", "%s is not taken over: %s", s.File, s.Outcome))
	case daemon.ImportGivenUp:
		x.add(look("older ledger", "", "%s: %s", s.File, s.Outcome))
	default:
		x.add(fine("older ledger", "%s is being taken over, or will be at the next start", s.File))
	}
}

func (x *examination) spool() {
	files, err := local.List(x.p.Spool)
	if err != nil {
		x.add(wrong("spool", err))
		return
	}
	bad, err := os.ReadDir(filepath.Join(x.p.Spool, "bad"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.add(wrong("spool", err))
		return
	}
	x.Spool = &spoolState{Waiting: len(files), Bad: len(bad)}
	detail := "empty"
	if len(files) > 0 {
		detail = fmt.Sprintf("%s: %s waiting for the next start of a service", x.p.Spool, plural(int64(len(files)), "call"))
	}
	if len(bad) > 0 {
		x.add(look("spool", "look at what is in them, then delete them", "%s; %s that could not be entered in %s", detail, plural(int64(len(bad)), "call"), filepath.Join(x.p.Spool, "bad")))
		return
	}
	x.add(fine("spool", "%s", detail))
}

func (x *examination) disk() {
	dir := filepath.Dir(x.p.Ledger)
	for {
		free, err := daemon.FreeSpace(dir)
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		if err != nil {
			x.add(look("disk", "", "%v", err))
			return
		}
		x.Disk = &diskState{Free: free}
		if free < lowDisk {
			x.add(look("disk", "receipts are refused when it is full", "only %s MiB are free at %s", count(int64(free>>20)), dir))
			return
		}
		x.add(fine("disk", "%s MiB are free", count(int64(free>>20))))
		return
	}
}

// clock compares the clock with the times in the ledger.
func (x *examination) clock() {
	now := time.Now()
	x.Clock = &clockState{Now: ledger.At(now)}
	newest := x.Clock.Now
	err := ledger.ReadFile(x.ctx, x.p.Ledger, ledger.Selection{From: ledger.At(now.Add(ahead))}, func(e ledger.Event) error {
		newest = max(newest, e.At)
		return nil
	})
	x.Clock.Ahead = int64(newest - x.Clock.Now)
	if err == nil && newest > x.Clock.Now {
		x.add(look("clock", "set this machine's clock if it is wrong; the order of events does not depend on it", "it is %s; the ledger has an event of %s", x.Clock.Now, newest))
		return
	}
	x.add(fine("clock", "%s", x.Clock.Now))
}

func (x *examination) log() {
	fi, err := os.Stat(x.p.Log)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.add(fine("log", "%s: not there yet", x.p.Log))
	case err != nil:
		x.add(wrong("log", err))
	case ledger.CheckPlain(x.p.Log) != nil:
		x.add(check{Name: "log", Detail: fmt.Sprintf("%s cannot be written: %v", x.p.Log, reason(ledger.CheckPlain(x.p.Log))), Hint: "move it away; until then nothing is logged", Code: ops.Unavailable})
	default:
		x.add(fine("log", "%s, %s bytes", x.p.Log, count(fi.Size())))
	}
}

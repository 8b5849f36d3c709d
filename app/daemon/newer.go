package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"steward/app/update"
	"steward/ledger"
	"steward/mcp/ops"
)

const (
	newerEvery  = 24 * time.Hour   // between two looks for a newer version, at least
	newerSpread = 2 * time.Hour    // at most that much later, by chance: not every Steward asks at the same minute
	newerFirst  = 10 * time.Minute // at most how long after its start a service asks
	newerLook   = time.Hour        // how long nothing is looked at while it is turned on: the clock may be set, the machine sleep
)

// mark is what update.json in the state folder keeps of the last look for a newer
// version. A file that is no such thing counts as none.
type mark struct {
	At      time.Time `json:"checked_at"`
	Newest  string    `json:"newest,omitempty"`  // the newest release ever seen signed: an older one is not offered after it
	Problem string    `json:"problem,omitempty"` // why the last look failed
}

const maxMark = 4 << 10

func readMark(p Paths) (m mark) {
	b, err := ledger.ReadPlain(p.update(), maxMark)
	if err != nil || json.Unmarshal(b, &m) != nil || m.Newest != "" && !update.Valid(m.Newest) {
		return mark{}
	}
	return m
}

// write keeps the mark where there is a state folder; it makes none.
func (m mark) write(p Paths) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := replaceFile(p.update(), append(b, '\n'), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (p Paths) update() string { return filepath.Join(p.Home, "update.json") }

// Newer is the answer to a look for a newer version.
type Newer struct {
	Source  *update.Source
	Release update.Release
	Newer   bool // than this program
}

// LookForNewer asks, now, whether there is a newer version than this, and notes
// in the state folder that it did. The error is an *ops.Error.
func LookForNewer(ctx context.Context, p Paths, version string) (Newer, error) {
	src, err := update.Here(version)
	if err != nil {
		return Newer{}, NoRelease(err)
	}
	return lookForNewer(ctx, p, src, time.Now())
}

func lookForNewer(ctx context.Context, p Paths, src *update.Source, now time.Time) (Newer, error) {
	m := readMark(p)
	n := Newer{Source: src}
	var err error
	n.Release, n.Newer, err = src.Newest(ctx)
	if err == nil && m.Newest != "" && update.Compare(n.Release.Version, m.Newest) < 0 {
		err = &ops.Error{Code: ops.Forbidden, Message: fmt.Sprintf("the newest release is said to be %s, but %s was there before", n.Release.Version, m.Newest),
			Hint: "an older release is not offered; if it was taken back, delete " + p.update()}
	}
	if ctx.Err() != nil {
		return Newer{}, NoRelease(ctx.Err()) // given up, not answered
	}
	m.At, m.Problem = now.UTC(), ""
	if err != nil {
		err = NoRelease(err)
		m.Problem = ledger.Clip(err.Error(), ledger.MaxOutcome)
	} else {
		m.Newest = n.Release.Version
	}
	if kept := m.write(p); kept != nil && err == nil {
		err = &ops.Error{Code: ops.Unavailable, Err: kept, Message: fmt.Sprintf("%s cannot be written: %s", p.update(), cause(kept)),
			Hint: "it keeps which release was the newest, so that none that is older is offered later: make room or give leave there"}
	}
	if err != nil {
		return Newer{}, err
	}
	return n, nil
}

// NoRelease says why there is no release, or no file of one.
func NoRelease(err error) *ops.Error {
	if e, ok := errors.AsType[*ops.Error](err); ok {
		return e
	}
	say := func(code ops.Code, message, hint string) *ops.Error {
		return &ops.Error{Code: code, Message: message, Hint: hint, Err: err}
	}
	switch {
	case errors.Is(err, update.ErrNoSource):
		return say(ops.Unavailable, err.Error(), "look for a newer Steward where this one came from")
	case errors.Is(err, update.ErrSignature), errors.Is(err, update.ErrMalformed), errors.Is(err, update.ErrSum):
		return say(ops.Forbidden, err.Error(), "nothing of it is offered or kept; somebody may be changing it on its way, or it was just being put there: try again later")
	case errors.Is(err, update.ErrAbsent):
		return say(ops.NotFound, err.Error(), "")
	case errors.Is(err, fs.ErrExist):
		return say(ops.Conflict, err.Error()+", and it is another file", "move it away, or name another folder with --to")
	}
	if errors.Is(err, context.Canceled) {
		return say(ops.Unavailable, "given up before an answer came", "")
	}
	const there = "make room or give leave there, or name another folder with --to"
	if p, ok := errors.AsType[*fs.PathError](err); ok { // of this machine, not of the network
		return say(ops.Unavailable, p.Error(), there)
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return say(ops.Unavailable, l.Error(), there)
	}
	return say(ops.Unavailable, "no release can be had: "+cause(err).Error(), "try again when the network and the address of releases are there")
}

// outlook is what looks for a newer version by itself, at most once a day and
// only while the person has it turned on.
type outlook struct {
	settings *Settings
	now      func() time.Time // the wall clock
	last     func() time.Time // when it was asked last, by whomever
	look     func(context.Context)
	start    time.Time     // not before
	spread   time.Duration // of newerSpread
}

// updates lets an outlook work until stop is called, which waits for its end.
func (s *service) updates() (stop func()) {
	ctx, cancel := context.WithCancel(s.going)
	src, err := update.Here(s.Version)
	if err != nil {
		return cancel // nobody can be asked
	}
	o := &outlook{
		settings: s.Settings, now: s.Now, last: func() time.Time { return readMark(s.Paths).At },
		look: func(ctx context.Context) {
			n, err := lookForNewer(ctx, s.Paths, src, s.Now())
			if ctx.Err() != nil {
				return
			}
			s.Logger.Info("asked whether there is a newer version", "newest", n.Release.Version, "newer", n.Newer, slog.Any("error", err))
			s.set.Stir()
		},
		start: s.Now().Add(rand.N(newerFirst)), spread: rand.N(newerSpread),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// run looks when it is time to, until ctx ends. While it is turned off it only
// waits for other settings.
func (o *outlook) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	on := o.settings.Config().UpdateCheck
	var asked time.Time // also when that could not be noted
	for {
		changed := o.settings.Changed()
		was := on
		if on = o.settings.Config().UpdateCheck; on && !was {
			o.start = o.now() // the person waits for it
		}
		timer.Stop()
		if on {
			wait := o.due(asked)
			if wait <= 0 {
				asked = o.now()
				o.look(ctx)
				wait = newerLook
			}
			timer.Reset(min(wait, newerLook))
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer.C:
		}
	}
}

// due is how long nobody is asked yet.
func (o *outlook) due(asked time.Time) time.Duration {
	now := o.now()
	next := o.start
	for _, last := range []time.Time{asked, o.last()} {
		// A look in the future was made while the clock was wrong.
		if again := last.Add(newerEvery + o.spread); !last.IsZero() && !last.After(now) && again.After(next) {
			next = again
		}
	}
	return next.Sub(now)
}

// update is what the person is told of a newer version.
func (s *service) update() ops.Update {
	src, err := update.Here(s.Version)
	switch {
	case err != nil:
		return ops.Update{State: "unset"}
	case !s.config().UpdateCheck:
		return ops.Update{State: "off"}
	}
	return told(readMark(s.Paths), s.Version, src.Notes)
}

// told is what a mark says to a program of that version.
func told(m mark, version, notes string) ops.Update {
	u := ops.Update{State: "unknown"}
	if m.At.IsZero() {
		return u
	}
	u.CheckedAt = ledger.At(m.At)
	switch {
	case m.Newest != "" && update.Compare(m.Newest, version) > 0: // also when the last look failed
		u.State, u.Version, u.Notes = "newer", m.Newest, notes
	case m.Problem != "":
		u.State, u.Problem = "failed", m.Problem
	case m.Newest != "":
		u.State = "current"
	}
	return u
}

// Downloads is the folder into which the person's programs put what they fetch.
// The error is an *ops.Error.
func Downloads(env Env) (string, error) {
	folder := downloads(env)
	if fi, err := os.Stat(folder); folder == "" || err != nil || !fi.IsDir() {
		return "", &ops.Error{Code: ops.NotFound, Message: "there is no Downloads folder here", Hint: "name a folder: steward update --to FOLDER"}
	}
	return folder, nil
}

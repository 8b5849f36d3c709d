package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"steward/ledger"
	"steward/ledger/ledgertest"
)

// attic is a ledger and the keeper of its copies.
type attic struct {
	*keeper
	t      *testing.T
	clock  *ledgertest.Clock
	said   *bytes.Buffer
	wanted atomic.Bool
}

func newAttic(t *testing.T) *attic {
	t.Helper()
	a := &attic{t: t, clock: ledgertest.NewClock(), said: &bytes.Buffer{}}
	a.wanted.Store(true)
	a.keeper = &keeper{folder: filepath.Join(t.TempDir(), "backups"), log: ledgertest.Open(t, a.clock), on: a.wanted.Load, now: a.clock.Now,
		logger: slog.New(slog.NewTextHandler(a.said, nil))}
	return a
}

func (a *attic) happens() {
	a.t.Helper()
	ledgertest.Append(a.t, a.log, ledger.Event{Actor: "me", Type: "done"})
}

// copies are the names of the daily copies, the newest first.
func (a *attic) copies() (names []string) {
	a.t.Helper()
	all, _, err := DailyBackups(a.folder)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, b := range all {
		names = append(names, filepath.Base(b.File))
	}
	return names
}

// looks lets the keeper look, and checks the copies there are then.
func (a *attic) looks(when string, next time.Duration, want ...string) {
	a.t.Helper()
	if got := a.look(context.Background()); got != next {
		a.t.Errorf("%s: looks again in %s; want %s", when, got, next)
	}
	if got := a.copies(); !slices.Equal(got, want) {
		a.t.Errorf("%s: %v; want %v", when, got, want)
	}
}

func TestDailyCopies(t *testing.T) {
	a := newAttic(t)
	a.looks("an empty ledger", dailyLook)
	a.happens()
	first, second := "daily-20261130T120000Z-1.db", "daily-20261201T120000Z-2.db"
	a.looks("something has happened", dailyLook, first)
	a.happens()
	a.looks("the same day", dailyLook, first)
	a.clock.Add(23*time.Hour + 50*time.Minute)
	a.looks("nearly a day later", 10*time.Minute, first)
	a.clock.Add(10 * time.Minute)
	a.looks("a day later", dailyLook, second, first)
	a.clock.Add(72 * time.Hour)
	a.looks("nothing has happened since", dailyLook, second, first)
	a.wanted.Store(false)
	a.happens()
	a.looks("switched off", dailyLook, second, first)
	for _, name := range []string{first, second} {
		r, err := ledger.VerifyFile(context.Background(), filepath.Join(a.folder, name), nil)
		if last := fmt.Sprintf("-%d.db", r.LastID); err != nil || !r.OK() || !strings.HasSuffix(name, last) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestSevenDailyCopiesAreKept(t *testing.T) {
	a := newAttic(t)
	others := []string{"ledger-20200101T000000Z.db", "before-schema-2-20200101T000000Z.db", "daily-holiday.db", "daily-20261340T000000Z-1.db", "notes.txt"}
	for _, name := range others {
		write(t, filepath.Join(a.folder, name), []byte("x"))
	}
	for range 10 {
		a.happens()
		a.look(context.Background())
		a.clock.Add(24 * time.Hour)
	}
	got := a.copies()
	if len(got) != 7 || got[0] != "daily-20261209T120000Z-10.db" || got[6] != "daily-20261203T120000Z-4.db" {
		t.Errorf("%v; want those of the last seven days", got)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(a.folder, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, n, err := DailyBackups(a.folder); err != nil || n != 4 {
		t.Errorf("%d other copies, %v; want 4", n, err)
	}
}

// Another ledger in the place of the first has other events, also when it has
// as many of them.
func TestDailyCopyOfAnotherLedger(t *testing.T) {
	a := newAttic(t)
	a.happens()
	a.look(context.Background())
	b := newAttic(t)
	b.folder = a.folder
	b.clock.Add(30 * time.Hour)
	b.happens()
	b.looks("begun anew", dailyLook, "daily-20261201T180000Z-1.db", "daily-20261130T120000Z-1.db")
}

func TestDailyCopyFromTheFuture(t *testing.T) {
	a := newAttic(t)
	future := "daily-20990101T000000Z-9.db"
	write(t, filepath.Join(a.folder, future), []byte("made while the clock was wrong"))
	a.happens()
	a.looks("the clock is right again", dailyLook, future, "daily-20261130T120000Z-1.db")
	a.happens()
	a.looks("within the day", dailyLook, future, "daily-20261130T120000Z-1.db")
}

func TestDailyCopyThatCannotBeMade(t *testing.T) {
	a := newAttic(t)
	a.happens()
	write(t, a.folder, []byte("a file where the folder should be"))
	failures := func() (n int) {
		all := []ledger.Event{}
		ledgertest.View(t, a.log, func(v *ledger.View) (err error) {
			all, _, err = v.Events(0, 100)
			return err
		})
		for _, e := range all {
			if e.Type == BackupFailed && e.Actor == self && e.Source == ledger.System && !e.Injectable {
				n++
			}
		}
		return n
	}
	for range 3 {
		if next := a.look(context.Background()); next != dailyLook {
			t.Errorf("looks again in %s", next)
		}
		a.clock.Add(time.Hour)
	}
	if n := failures(); n != 1 {
		t.Errorf("%d events tell of the failure; want one", n)
	}
	if n := strings.Count(a.said.String(), "the daily copy of the ledger cannot be made"); n != 3 {
		t.Errorf("logged %d times; want each", n)
	}
	if err := os.Remove(a.folder); err != nil {
		t.Fatal(err)
	}
	a.look(context.Background())
	if len(a.copies()) != 1 {
		t.Error("there is no copy, though nothing is in the way")
	}
	ledgertest.View(t, a.log, func(v *ledger.View) error {
		if _, err := v.FailureOf(self, BackupObject, ""); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("its failure still stands: %v", err)
		}
		return nil
	})
}

func TestNoDailyCopyWhileLeaving(t *testing.T) {
	a := newAttic(t)
	a.happens()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a.run(ctx)
	a.look(ctx)
	if got := a.copies(); len(got) != 0 || a.said.Len() > 0 {
		t.Errorf("%v, and it said %q", got, a.said)
	}
	ledgertest.View(t, a.log, func(v *ledger.View) error {
		if _, err := v.FailureOf(self, BackupObject, ""); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("leaving was noted as a failure: %v", err)
		}
		return nil
	})
}

// The keeper looks by itself, day after day.
func TestKeeperRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := ledgertest.OpenWith(t, ledger.Options{Path: filepath.Join(t.TempDir(), "ledger.db")})
		k := &keeper{folder: filepath.Join(t.TempDir(), "backups"), log: log, on: func() bool { return true }, now: time.Now, logger: quiet()}
		write(t, filepath.Join(k.folder, "daily-20000101T000000Z-1.db.part.part"), []byte("broken off"))
		write(t, filepath.Join(k.folder, "ledger-20000101T000000Z.db.part"), []byte("somebody else's"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			k.run(ctx)
		}()
		for day := range 3 {
			ledgertest.Append(t, log, ledger.Event{Actor: "me", Type: "done"})
			time.Sleep(25 * time.Hour) // of the bubble's time
			all, _, err := DailyBackups(k.folder)
			if err != nil || len(all) != day+1 {
				t.Fatalf("after day %d: %v, %v", day+1, all, err)
			}
		}
		cancel()
		<-ended
		files, err := os.ReadDir(k.folder)
		if err != nil || len(files) != 4 {
			t.Errorf("%v, %v; want three copies and what is somebody else's", files, err)
		}
	})
}

func TestServiceMakesADailyCopy(t *testing.T) {
	e := env(t)
	p := find(t, e)
	first := start(t, Options{Paths: p, Env: e})
	first.reaches(Serving)
	connect(t, p).call("report_done", map[string]any{"actor": "me"})
	first.stop()
	if err := first.ends(); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		all, _, err := DailyBackups(p.Backups)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := count(); n != 0 {
		t.Fatalf("%d copies of an empty ledger", n)
	}
	off := Env{"STEWARD_BACKUP_DAILY": "false"}
	second := start(t, Options{Paths: p, Env: off})
	second.reaches(Serving)
	connect(t, p).call("recent_events", map[string]any{})
	second.stop()
	if err := second.ends(); err != nil || count() != 0 {
		t.Fatalf("%v; %d copies, though they are switched off", err, count())
	}
	start(t, Options{Paths: p, Env: e}).reaches(Serving)
	for limit := time.Now().Add(patience); count() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no copy was made")
		}
	}
}

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"steward/ledger"
	"steward/mcp/local"
	"steward/mcp/ops"
)

// spool applies calls that were written to disk while nobody served.
type spool struct {
	dir    string
	log    *ledger.Log
	set    *ops.Set
	logger *slog.Logger
	mu     sync.Mutex      // one drain at a time
	stuck  map[string]bool // files that can neither be entered nor moved away now; the next start tries again
}

// errStuck says that a file stays in the spool for a reason of its own, which is
// none for the others to wait.
var errStuck = errors.New("it stays in the spool")

// drain applies every call in the folder, in the order of their names. Each
// takes effect once: its stamp says whether the service had received it before
// it was spooled, or had applied it before a crash. What cannot be applied is
// set aside and becomes a failed event; it never holds up the rest. When the
// ledger itself refuses, the rest stays where it is for the next time.
// progress, if not nil, is told how much is done, from 0 to 1.
func (s *spool) drain(ctx context.Context, progress func(done float64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.pass(ctx, progress) { // what came during one pass is for the next
		progress = nil
	}
}

// pass applies the calls that are there now, and reports whether it applied all
// of some.
func (s *spool) pass(ctx context.Context, progress func(done float64)) (more bool) {
	files, err := local.List(s.dir)
	if err != nil {
		s.logger.Warn("the spool cannot be read", "error", err)
		return false
	}
	if len(files) == 0 {
		return false
	}
	start, bad, stuck := time.Now(), 0, 0
	for i, f := range files {
		if s.stuck[f] {
			stuck++
			continue
		}
		refused, err := s.apply(ctx, f)
		if err == nil && refused != nil {
			bad++
			err = s.setAside(ctx, f, refused)
		}
		if errors.Is(err, errStuck) { // what comes after it must not wait for a person
			s.logger.Warn("a spooled call cannot be entered", "file", f, "error", err)
			if s.stuck == nil {
				s.stuck = make(map[string]bool)
			}
			s.stuck[f] = true
			err = nil
		}
		if err != nil {
			s.logger.Warn("spooled calls stay for now", "file", f, "left", len(files)-i, "error", err)
			return false
		}
		if progress != nil {
			progress(float64(i+1) / float64(len(files)))
		}
	}
	if stuck == len(files) {
		return false
	}
	s.logger.Info("spooled calls entered", "calls", len(files)-bad-stuck, "set_aside", bad, "took", took(start))
	return true
}

// apply makes one call take effect and removes its file. refused is why it
// never will; err why it did not now.
func (s *spool) apply(ctx context.Context, file string) (refused, err error) {
	r, err := local.Read(filepath.Join(s.dir, file))
	if errors.Is(err, local.ErrBadRecord) {
		return err, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStuck, err)
	}
	_, err = s.set.Call(ctx, caller(r, file), r.Tool, r.Arguments)
	switch code := ops.CodeOf(err); {
	case errors.Is(err, ledger.ErrSuperseded): // its slot has moved on, so the call was answered before
		s.logger.Info("a spooled call had been entered before", "file", file)
		return nil, s.done(ctx, file)
	case err == nil:
		return nil, s.done(ctx, file)
	case ctx.Err() != nil, code == ops.Unavailable, code == ops.Corrupt, code == ops.Version:
		return nil, err
	}
	return fmt.Errorf("%s: %w", r.Tool, err), nil
}

// done takes the file away, and then the note that it took effect.
func (s *spool) done(ctx context.Context, file string) error {
	if err := local.Remove(s.dir, file); err != nil {
		return err
	}
	return s.forget(ctx, file)
}

func (s *spool) forget(ctx context.Context, file string) error {
	_, err := s.log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) { return nil, tx.ForgetSpooled(file) })
	return err
}

// caller is who made a spooled call, named as its connection would have been.
func caller(r local.Record, file string) ops.Caller {
	c := ops.Caller{
		Surface: ops.Agent, Session: r.Stamp.Bridge, Client: r.Caller.Client, Workspace: r.Caller.Stream, Stream: r.Caller.Stream,
		Stamp:  &ledger.Stamp{Bridge: r.Stamp.Bridge, Slot: r.Stamp.Slot, Seq: r.Stamp.Seq},
		SaidAt: ledger.At(r.SaidAt), Spooled: file,
	}
	if c.Workspace == "" {
		c.Workspace = r.Caller.Workspace // as the bridge knew it, from the client's own name
	}
	if c.Workspace == "" { // the client's name, without its version
		c.Workspace = c.Client
		if i := strings.LastIndexByte(c.Client, ' '); i > 0 && strings.ContainsAny(c.Client[i:], "0123456789") {
			c.Workspace = c.Client[:i]
		}
	}
	return c
}

// setAside moves a file that cannot be applied out of the way and says so in
// the ledger, once.
func (s *spool) setAside(ctx context.Context, file string, refused error) error {
	to := filepath.Join(s.dir, "bad", file)
	why := "it is no whole record"
	if code := ops.CodeOf(refused); !errors.Is(refused, local.ErrBadRecord) {
		why = "it was refused as " + string(code) // without the text, which may quote the call's arguments
	}
	s.logger.Warn("a spooled call cannot be entered", "file", to, "because", why)
	_, err := s.log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
		if first, err := tx.MarkSpooled(file); err != nil || !first {
			return nil, err
		}
		_, err := tx.Append(ledger.Event{Actor: "steward", Type: "failed", Object: "spool", ObjectType: "spool", File: ledger.Clip(to, ledger.MaxFile),
			Outcome: "a spooled call cannot be entered: " + why, Injectable: true, Source: ledger.System})
		return nil, err
	})
	if err != nil {
		return err
	}
	if _, err := local.Reject(s.dir, file); err != nil {
		return fmt.Errorf("%w: %w", errStuck, err) // the note stays too, so that the next start says it no second time
	}
	return s.forget(ctx, file)
}

// tidy drops what is no longer needed: half-written files of writers that were
// killed, and the slots of clients not seen for a long time.
func (s *spool) tidy(ctx context.Context) {
	err := local.Tidy(s.dir, time.Now().Add(-time.Hour))
	files, err2 := local.List(s.dir)
	if err = errors.Join(err, err2); err == nil {
		waiting := map[string]bool{}
		for _, f := range files {
			if bridge, ok := local.BridgeOf(f); ok {
				waiting[bridge] = true
			}
		}
		_, err = s.log.Update(ctx, nil, [32]byte{}, func(tx *ledger.Tx) ([]byte, error) {
			_, err := tx.ForgetSlots(waiting)
			return nil, err
		})
	}
	if err != nil {
		s.logger.Warn("old slots and temporary files stay for now", "error", err)
	}
}

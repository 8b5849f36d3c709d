package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// drainPatience is how long a connection is sought after a call was spooled,
// so that it reaches the ledger without waiting for the next one.
const drainPatience = 10 * time.Second

// timeForm is how times are written: UTC, fixed width, milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// out notes that a connection is needed and missing since t. The lock is held.
func (e *engine) out(t time.Time) {
	if e.outage.IsZero() {
		e.outage = t
	}
	e.arm()
	e.rouse()
}

// deadline is when a request has to be answered; ok is false if the service may
// take its time. The lock is held.
func (e *engine) deadline(p *pending) (t time.Time, ok bool) {
	if e.link == nil {
		t, ok = e.outage.Add(lossPatience), true
		if least := p.at.Add(missPatience); t.Before(least) {
			t = least
		}
	}
	if !e.closeBy.IsZero() && (!ok || e.closeBy.Before(t)) {
		t, ok = e.closeBy, true
	}
	return t, ok
}

// arm sets the timer for the first request: no other has an earlier deadline.
// The lock is held.
func (e *engine) arm() {
	first := e.calls.Front()
	if first == nil {
		return
	}
	if t, ok := e.deadline(first.Value.(*pending)); ok {
		e.timer.Reset(time.Until(t))
	} else {
		e.timer.Stop()
	}
}

// expire sees to the requests whose time is up.
func (e *engine) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	for el := e.calls.Front(); el != nil; el = e.calls.Front() {
		p := el.Value.(*pending)
		if t, ok := e.deadline(p); !ok || now.Before(t) {
			break
		}
		e.miss(p)
	}
	e.arm()
}

// trouble notes why there is no connection.
func (e *engine) trouble(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reason = err
	e.changed.Broadcast()
}

// refused ends the wait of all requests if err is a service's final word.
func (e *engine) refused(err error) {
	var r *Refused
	if !errors.As(err, &r) || !r.final() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reason = r
	e.wantUntil = time.Time{}
	for el := e.calls.Front(); el != nil; el = e.calls.Front() {
		e.miss(el.Value.(*pending))
	}
	e.changed.Broadcast()
}

// miss hands a request over to seeTo. The lock is held.
func (e *engine) miss(p *pending) {
	e.leave(p)
	e.missed = append(e.missed, p)
	if !e.missing {
		e.missing = true
		go e.seeTo()
	}
}

// seeTo answers missed requests one by one, in order, without holding up
// anything else: a spool file costs two fsyncs.
func (e *engine) seeTo() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.missed) > 0 {
		p := e.missed[0]
		e.missed[0] = nil
		e.missed = e.missed[1:]
		var line []byte
		var file string
		if !p.cancelled {
			line, file = e.substitute(p)
		}
		if file != "" {
			e.unseen = true
			if e.closeBy.IsZero() {
				e.bringHome()
			}
		}
		e.forget(p, file)
		if line != nil && !p.cancelled {
			e.deliver(p, line)
		}
	}
	e.missing = false
}

// bringHome seeks a connection whose hello comes after the last spool file; see
// live. The lock is held.
func (e *engine) bringHome() {
	e.wantUntil = time.Now().Add(drainPatience)
	if e.link != nil {
		e.link.close()
	}
	e.rouse()
}

// substitute answers a request in place of the service, and names the spool
// file if there is one. The lock is held, and let go of while the file is
// written.
func (e *engine) substitute(p *pending) (line []byte, file string) {
	reason, sent := e.reason, p.sends > 0
	if reason == nil {
		reason = errors.New("the service did not answer in time")
	}
	var refused *Refused
	errors.As(reason, &refused)
	if !e.canSpool(p, refused) {
		return unavailable(p, refused, reason, sent, nil), ""
	}
	if p.slot < 0 {
		slot, seq, ok := e.slots.takeSpooled()
		if !ok {
			return unavailable(p, refused, reason, sent, errors.New("all session slots are in use")), ""
		}
		p.slot, p.seq = slot, seq
	}
	e.files++
	n := e.files
	r := Record{
		Stamp:  Stamp{Bridge: e.hello.ID, Slot: p.slot, Seq: p.seq},
		SaidAt: p.at, Tool: p.tool,
		Caller: e.caller(),
	}
	if !p.args.absent() {
		r.Arguments = p.args.of(p.line)
	}
	e.mu.Unlock()
	file, err := Write(e.spool, e.hello.ID, n, r)
	e.mu.Lock()
	if err != nil {
		e.log.Error("a call could not be spooled", "tool", p.tool, "err", err)
		return unavailable(p, refused, reason, sent, err), ""
	}
	e.log.Info("spooled", "tool", p.tool, "file", file)
	return e.spooled(p, refused, reason), file
}

// caller is who the service would take the connection's caller for. The lock
// is held.
func (e *engine) caller() Caller {
	c := Caller{Workspace: e.hello.Stream, Stream: e.hello.Stream, Client: e.hello.Client, Session: e.hello.ID}
	if e.client != nil {
		c.Client = clientText(*e.client)
		if c.Workspace == "" {
			c.Workspace = e.client.Name
		}
	}
	return c
}

// canSpool reports whether a call may be kept for later. A service that is
// another user's, or owns another ledger, may never apply it where the caller
// meant it to go, so such a call fails instead.
func (e *engine) canSpool(p *pending, refused *Refused) bool {
	if e.spool == "" || !spools(p.tool) || !p.args.absent() && !p.args.object(p.line) {
		return false
	}
	return refused == nil || refused.Code != RefusedForbidden && refused.Code != RefusedLedger
}

// spooled is the answer to a call that was kept on disk.
func (e *engine) spooled(p *pending, refused *Refused, reason error) []byte {
	facts := `{"spooled":true,"said_at":"` + p.at.UTC().Format(timeForm) + `"}`
	text := fmt.Sprintf("%s: kept on disk, because %s. ", p.tool, because(refused, reason)) +
		"It enters the record when the service is back. Do not send it again.\n" + facts
	b := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	b = append(b, p.id...)
	b = append(b, `,"result":{`...)
	b = appendEra(b, p.message, e.hello.Version, false)
	b = append(b, `"content":[{"type":"text","text":`...)
	b = append(b, quote(text)...)
	b = append(b, `}],"structuredContent":`...)
	b = append(b, facts...)
	return append(b, '}', '}', '\n')
}

// because says why there was no answer.
func because(refused *Refused, reason error) string {
	if refused != nil {
		return "the Steward service cannot take it (" + refused.Error() + ")"
	}
	return "the Steward service does not answer (" + reason.Error() + ")"
}

// A fault is the data of a JSON-RPC error.
type fault struct {
	Code string `json:"code"` // of the table of codes: unavailable, version, corrupt, forbidden …
	Hint string `json:"hint,omitempty"`
}

// unavailable is the answer to a request nobody took. cause is why it could not
// be spooled either, or nil.
func unavailable(p *pending, refused *Refused, reason error, sent bool, cause error) []byte {
	what := p.tool
	if what == "" {
		what = p.method
	}
	text := what + ": " + because(refused, reason)
	f := fault{Code: "unavailable", Hint: "call again in a few seconds; `steward doctor` says what is wrong"}
	code := codeUnavailable
	if refused != nil {
		f.Hint = refused.Hint
		switch refused.Code {
		case RefusedVersion:
			f.Code, code = refused.Code, codeVersion
		case RefusedCorrupt:
			f.Code, code = refused.Code, codeCorrupt
		case RefusedForbidden:
			f.Code, code = refused.Code, codeInternal
		}
	}
	switch {
	case cause != nil:
		text += "; and it could not be kept for later: " + cause.Error() + ". Nothing was recorded"
		if sent {
			text += " as far as is known"
		}
	case sent && p.appends:
		text += ". It may have taken effect all the same"
		f.Hint = "look at the present state first (handoff_list, recent_events); " + f.Hint
	}
	data, err := json.Marshal(f)
	if err != nil {
		data = []byte(`{"code":"unavailable"}`) // texts always marshal
	}
	r := rejection{id: p.id, code: code, text: text, data: data}
	return r.line()
}

package local

import (
	"container/list"
	"context"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Times and bounds of the engine.
const (
	// lossPatience is how long an unanswered request is sent again after the
	// connection was lost, or waits for a first connection.
	lossPatience = 5 * time.Second
	// missPatience is what a request gets once that time has run out.
	missPatience = 200 * time.Millisecond
	// takerPatience is how long after the end of everything an answer may wait
	// for a client that does not read.
	takerPatience = 10 * time.Second
	// maxSends is how many connections one request may be sent on. A request
	// that ends the service each time must not do so for ever.
	maxSends = 8
	// maxUnanswered and maxUnansweredBytes bound what is kept for sending
	// again; at either bound the client's next line is not read yet.
	maxUnanswered      = 1024
	maxUnansweredBytes = 4 * MaxMessage
)

// A pending request is one that has to be answered.
type pending struct {
	*message
	line  []byte // as it goes on the wire, line end included
	at    time.Time
	reply func(line []byte) // with the line end; called at most once, valid during the call

	wait    waiting
	waits   bool
	appends bool

	el        *list.Element // in engine.calls; nil once it left
	slot      int           // -1: none
	seq       uint64
	sends     int
	cancelled bool
}

// An engine keeps requests until they are answered: by the service, over as
// many connections as it takes, or by the spool, or by an error. Its methods
// may be called from any goroutine.
type engine struct {
	hello  Hello
	dialer dialer // of run alone
	spool  string // folder; "": nothing is spooled
	log    *slog.Logger
	notify func(line []byte) // takes the service's notifications; may be nil

	wake  chan struct{} // for run: a connection may be needed now
	timer *time.Timer   // calls expire

	mu         sync.Mutex
	changed    *sync.Cond // room, the end of closing, and the connection's coming and going
	calls      *list.List // of *pending, in the order of their arrival
	byID       map[string]*pending
	bytes      int        // of the lines in calls
	delivering int        // answers being written
	queue      []*pending // appending calls that wait for a slot, in order
	slots      slots

	link      *link // the live connection
	client    *ClientInfo
	welcome   Welcome
	wantUntil time.Time // a connection is wanted even without a request
	outage    time.Time // when the connection was lost or first missed; zero: not out
	closeBy   time.Time // when everything has to be answered; zero: not closing
	reason    error     // why there is no connection

	missed  []*pending // ran out of time; still in byID
	missing bool       // a goroutine is seeing to them
	files   int        // spool files written so far
	unseen  bool       // one of them after the hello of the present connection
}

func newEngine(h Hello, d dialer, spool string, log *slog.Logger) *engine {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &engine{
		hello: h, dialer: d, spool: spool, log: log,
		wake:  make(chan struct{}, 1),
		calls: list.New(), byID: make(map[string]*pending),
	}
	e.changed = sync.NewCond(&e.mu)
	e.timer = time.AfterFunc(time.Hour, e.expire)
	e.timer.Stop()
	return e
}

// submit takes a request. line is the client's, without its line end; the
// engine keeps it. reply is called once with the answer, unless the request is
// cancelled. submit returns false, and does nothing, if a request with this id
// is unanswered.
func (e *engine) submit(m *message, line []byte, reply func([]byte)) bool {
	p := &pending{message: m, line: append(line, '\n'), at: time.Now(), reply: reply, slot: -1}
	if m.tool != "" {
		p.wait, p.waits = waitOf(m.tool)
		p.appends = Appends(m.tool)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := string(m.id)
	if e.byID[id] != nil {
		return false
	}
	e.byID[id] = p
	p.el = e.calls.PushBack(p)
	e.bytes += len(p.line)
	if e.link != nil {
		e.forward(p)
	} else {
		e.out(p.at)
	}
	return true
}

// unanswered reports whether a request with this raw id is.
func (e *engine) unanswered(id []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byID[string(id)] != nil
}

// room waits until another request may come in, or the engine is closing.
func (e *engine) room() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for (len(e.byID) >= maxUnanswered || e.bytes >= maxUnansweredBytes) && e.closeBy.IsZero() {
		e.changed.Wait()
	}
}

// forward sends a request over the live connection, or queues it for a slot.
// The lock is held.
func (e *engine) forward(p *pending) {
	if p.appends && p.slot < 0 && (len(e.queue) > 0 || !e.stamp(p)) {
		e.queue = append(e.queue, p)
		return
	}
	line := p.line
	if p.waits {
		// A wait that was under way, or stood in line, goes for the time left.
		if gone := time.Since(p.at); p.sends > 0 || gone > missPatience {
			if total, ok := p.patience(line, p.wait); ok {
				line = p.reissued(line, p.wait, total-gone)
			}
		}
	}
	p.sends++
	e.link.send(line)
}

// stamp gives an appending request a slot. It returns false if none is free.
// The lock is held.
func (e *engine) stamp(p *pending) bool {
	slot, seq, ok := e.slots.take()
	if !ok {
		return false
	}
	line, args, ok := p.stamped(p.line, slot, seq)
	if !ok {
		// The service refuses this _meta before anything runs.
		e.slots.free(slot, "")
		p.appends = false
		return true
	}
	e.bytes += len(line) - len(p.line)
	p.line, p.args, p.slot, p.seq = line, args, slot, seq
	return true
}

// advance gives free slots to the requests that wait for one. The lock is held.
func (e *engine) advance() {
	for e.link != nil && len(e.queue) > 0 {
		p := e.queue[0]
		if p.el != nil && !e.stamp(p) {
			return
		}
		waiting := e.queue[1:]
		if e.queue = nil; p.el != nil {
			e.forward(p) // looks at the queue: p has its turn
		}
		e.queue = waiting
	}
}

// answered takes a response of the service.
func (e *engine) answered(id, line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.byID[string(id)]
	if p == nil || p.el == nil {
		return // the answer to a cancelled request, or to one that ran out of time
	}
	e.leave(p)
	e.forget(p, "")
	e.deliver(p, line)
}

// deliver gives a request its answer. The lock is held, and let go of
// meanwhile.
func (e *engine) deliver(p *pending, line []byte) {
	e.delivering++
	e.mu.Unlock()
	p.reply(line)
	e.mu.Lock()
	e.delivering--
	e.changed.Broadcast()
}

// cancel drops a request. line is the client's notification, without its line
// end; the service gets it if it got the request.
func (e *engine) cancel(id, line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.byID[string(id)]
	if p == nil {
		return
	}
	p.cancelled = true
	if p.el == nil {
		return // out of time; it is forgotten there
	}
	if e.link != nil && p.sends > 0 {
		e.link.send(append(line, '\n'))
	}
	e.leave(p)
	// Its slot is free at once: should the service come to the cancelled call
	// after the slot's next one, it finds it superseded.
	e.forget(p, "")
}

// pass sends a notification of the client, without its line end, to the
// service, if it is there.
func (e *engine) pass(line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link != nil {
		e.link.send(append(line, '\n'))
	}
}

// leave takes a request off the list. The lock is held.
func (e *engine) leave(p *pending) {
	e.calls.Remove(p.el)
	p.el = nil
	e.bytes -= len(p.line)
}

// forget ends a request that left the list: its id can come again, and its slot
// is free for the next unless the call lies in spool file. The lock is held.
func (e *engine) forget(p *pending, file string) {
	delete(e.byID, string(p.id))
	if p.slot >= 0 {
		e.slots.free(p.slot, file)
		p.slot = -1
		e.advance()
	}
	e.changed.Broadcast()
}

// named tells the service who the client is, now and on each new connection.
func (e *engine) named(c ClientInfo) {
	c.Name, c.Version, c.Era = head(c.Name, maxHelloName), head(c.Version, maxHelloName), head(c.Era, 32)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil && *e.client == c {
		return
	}
	e.client = &c
	if e.link != nil {
		e.tellClient()
	}
}

// tellClient sends the client's name. The lock is held.
func (e *engine) tellClient() {
	if e.client == nil {
		return
	}
	b, err := encodeLine(Line{Client: e.client})
	if err != nil {
		e.log.Warn("client's name not told to the service", "err", err)
		return
	}
	e.link.send(b)
}

// present returns the hello of the next attempt.
func (e *engine) present() Hello {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unseen = false
	h := e.hello
	if h.Tools == "" {
		h.Tools = Digest()
	}
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
	if e.client != nil {
		h.Client, h.Era = clientText(*e.client), e.client.Era
	}
	return h
}

// clientText is how a client is named in one text.
func clientText(c ClientInfo) string {
	if c.Version == "" {
		return c.Name
	}
	return c.Name + " " + c.Version
}

// nudge makes those who wait look again. The lock is taken, so that nobody is
// between looking and waiting.
func (e *engine) nudge() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed.Broadcast()
}

// want makes run keep up a connection until t, even without a request.
func (e *engine) want(t time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wantUntil = t
	e.rouse()
}

// rouse wakes run. The lock need not be held.
func (e *engine) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// finish gives everything unanswered until by, and returns when all of it is
// answered, or when the answers have found no taker for some time more. A
// shorter time can be given meanwhile; a request that still comes in has what
// is left of it.
func (e *engine) finish(by time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closeBy.IsZero() || by.Before(e.closeBy) {
		e.closeBy = by
	}
	for el := e.calls.Front(); el != nil; {
		p := el.Value.(*pending)
		if el = el.Next(); p.method == "subscriptions/listen" {
			// It has no answer but the end, and nobody listens any more.
			e.leave(p)
			e.forget(p, "")
		}
	}
	e.changed.Broadcast() // for room
	e.arm()
	defer time.AfterFunc(time.Until(by)+takerPatience, e.nudge).Stop()
	for (len(e.byID) > 0 || e.delivering > 0) && time.Since(e.closeBy) < takerPatience {
		e.changed.Wait()
	}
	e.timer.Stop()
}

// run keeps up a connection while one is needed, until ctx ends.
func (e *engine) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !e.needed() {
			select {
			case <-ctx.Done():
			case <-e.wake:
			}
			continue
		}
		s, err := e.dialer.open(ctx, e.present, e.needed, e.trouble)
		if err != nil {
			e.refused(err)
			continue
		}
		e.serve(ctx, s)
	}
}

// needed reports whether run should be dialling.
func (e *engine) needed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls.Len() > 0 || time.Now().Before(e.wantUntil)
}

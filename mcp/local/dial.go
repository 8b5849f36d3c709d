package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"syscall"
	"time"
)

// A DialFunc opens a connection to a service. Dial is one.
type DialFunc func(ctx context.Context, address string) (net.Conn, error)

// The pace of dialling: after the first refusal a short random time, so that
// many bridges that lost the same service do not come back in step, then a
// growing one.
const (
	dialJitter = 50 * time.Millisecond
	dialFirst  = 5 * time.Millisecond
	dialMost   = 100 * time.Millisecond
	// spawnPause is the least time between two starts of a service.
	spawnPause = 2 * time.Second
	// replaceWithin is how long a service that serves nobody may take to leave.
	replaceWithin = 3 * time.Second
)

var errReplaced = errors.New("a newer service is taking the place of one that cannot use the ledger")

// Absent reports whether a dialling error means that no service is there, so
// that starting one can help.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// A dialer brings up connections to one address. It is used by one goroutine.
type dialer struct {
	address string
	dial    DialFunc
	spawn   func() error // nil: never
	spawned time.Time    // when spawn last ran
	met     func(version string) (replaced bool)
	opening func(done float64)
}

// A session is a connection whose service is serving.
type session struct {
	conn    net.Conn
	r       *bufio.Reader // holds what came after the welcome
	welcome Welcome
}

// open dials until a service is serving. It gives up when ctx ends, when more
// says so between two attempts, or with a *Refused that is final; the error
// then says what stood in the way. hello is asked for each attempt, and trouble
// told of every one that failed.
func (d *dialer) open(ctx context.Context, hello func() Hello, more func() bool, trouble func(error)) (*session, error) {
	var stillborn error    // why no service can be started
	var replaced time.Time // when another was started in the place of one too old for the ledger
	for attempt := 0; ; attempt++ {
		s, err := d.once(ctx, hello())
		if err == nil {
			return s, nil
		}
		var refused *Refused
		if errors.As(err, &refused) && refused.final() {
			if refused.Code == RefusedVersion && replaced.IsZero() && d.met != nil && d.met("") {
				replaced = time.Now()
			}
			if refused.Code != RefusedVersion || replaced.IsZero() || time.Since(replaced) > replaceWithin {
				return nil, refused
			}
			err = errReplaced // not final, and not to be taken for it
		}
		// The first answer may only mean that one service is taking over from
		// another, so the start comes after a second look.
		if attempt > 0 && d.spawn != nil && Absent(err) && time.Since(d.spawned) >= spawnPause {
			d.spawned = time.Now()
			if stillborn = d.spawn(); stillborn != nil {
				stillborn = fmt.Errorf("it cannot be started: %w", stillborn)
			}
		}
		if stillborn != nil && Absent(err) {
			err = stillborn
		}
		if ctx.Err() == nil {
			trouble(err)
		}
		pause := rand.N(dialJitter)
		if attempt > 0 {
			pause = min(dialFirst<<min(attempt-1, 10), dialMost)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
		if !more() {
			return nil, err
		}
	}
}

// once dials, sends the hello and waits until the service serves.
func (d *dialer) once(ctx context.Context, hello Hello) (*session, error) {
	conn, err := d.dial(ctx, d.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	s, err := d.greet(conn, hello)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// greet says hello. Deadlines are set without a look at the error: a connection
// that cannot take one is closed, and the next read or write says so.
func (d *dialer) greet(conn net.Conn, hello Hello) (*session, error) {
	_ = conn.SetDeadline(time.Now().Add(HelloTimeout))
	hello = hello.fitted()
	if err := WriteLine(conn, Line{Hello: &hello}); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	r := bufio.NewReaderSize(conn, 16<<10)
	for {
		l, err := ReadLine(r)
		switch {
		case err != nil:
			return nil, fmt.Errorf("waiting for the service's welcome: %w", err)
		case l.Refused != nil:
			return nil, l.Refused
		case l.Welcome == nil:
			return nil, errors.New("waiting for the service's welcome: got another line")
		case l.Welcome.State == StateServing:
			_ = conn.SetDeadline(time.Time{})
			return &session{conn: conn, r: r, welcome: *l.Welcome}, nil
		}
		if d.opening != nil {
			d.opening(l.Welcome.Done)
		}
		_ = conn.SetDeadline(time.Now().Add(HelloTimeout))
	}
}

// roundTrip sends one of Steward's own lines as the first of a connection and
// returns the answer; then hangs on until the other side closes, if told to.
func roundTrip(ctx context.Context, address string, l Line, toEnd bool) (Line, error) {
	conn, err := Dial(ctx, address)
	if err != nil {
		return Line{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	fail := func(err error) (Line, error) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Line{}, err
	}
	_ = conn.SetDeadline(time.Now().Add(HelloTimeout))
	if err := WriteLine(conn, l); err != nil {
		return fail(err)
	}
	r := bufio.NewReader(conn)
	answer, err := ReadLine(r)
	if err != nil {
		return fail(err)
	}
	if answer.Refused != nil {
		return Line{}, answer.Refused
	}
	if toEnd {
		_ = conn.SetDeadline(time.Time{})
		for err == nil {
			_, err = r.Discard(1)
		}
		if ctx.Err() != nil {
			return fail(err)
		}
	}
	return answer, nil
}

// AskYield asks the service at address to hand its ledger over to the asker.
// If granted is true, the service is draining and lets go of its lock within
// two seconds; else kept says why not: older, busy or kept. An error means that
// nobody answered, or a *Refused.
func AskYield(ctx context.Context, address string, y Yield) (granted bool, kept string, err error) {
	l, err := roundTrip(ctx, address, Line{Yield: &y}, false)
	switch {
	case err != nil:
		return false, "", fmt.Errorf("asking for the ledger: %w", err)
	case l.Yielding:
		return true, "", nil
	case l.Kept != "":
		return false, l.Kept, nil
	}
	return false, "", errors.New("asking for the ledger: got another line")
}

// AskStop asks the service at address to answer what is running and exit, and
// returns when it has closed the connection. Its lock is free soon after.
func AskStop(ctx context.Context, address string, s Stop) error {
	l, err := roundTrip(ctx, address, Line{Stop: &s}, true)
	if err == nil && !l.Stopping {
		err = errors.New("got another line")
	}
	if err != nil {
		return fmt.Errorf("asking the service to stop: %w", err)
	}
	return nil
}

// AskSignIn asks the service at address for a link that opens its page in a
// browser, signed in. A *Refused says that it serves no page, or that the asker
// is not the person; its Code tells which.
func AskSignIn(ctx context.Context, address string, s SignIn) (string, error) {
	l, err := roundTrip(ctx, address, Line{SignIn: &s}, false)
	if err == nil && l.Link == nil {
		err = errors.New("got another line")
	}
	if err != nil {
		return "", fmt.Errorf("asking the service for a link: %w", err)
	}
	return l.Link.URL, nil
}

// AskInfo asks the service at address what it is. It is answered in every
// state, so it tells a service that is there from one that serves.
func AskInfo(ctx context.Context, address string) (Info, error) {
	l, err := roundTrip(ctx, address, Line{Info: &Info{}}, false)
	if err == nil && l.Info == nil {
		err = errors.New("got another line")
	}
	if err != nil {
		return Info{}, fmt.Errorf("asking the service what it is: %w", err)
	}
	return *l.Info, nil
}

package app

import (
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Shape is what the one window looks like.
type Shape string

// The shapes.
const (
	Orb   Shape = "orb"
	Menu  Shape = "menu"
	Panel Shape = "panel"
)

// Frame is the window as the system knows it. Its methods may be called from
// any goroutine and return at once; the system is told in the order of the
// calls.
type Frame interface {
	Screens() []Screen           // the displays there are now; none when the window is gone
	Composited() bool            // what the page leaves transparent can be seen through
	Place(s Shape, r Rect)       // moves, resizes and sets what the shape needs, in one step
	Focus()                      // brings the keyboard to the window: a person asked for it
	GiveBack()                   // hands the keyboard to whom Focus took it from, if it is still here
	Raise()                      // above the other windows
	Run(script string)           // in the page
	Emit(event string, data any) // to the page
}

// Timing of what follows what the person does.
const (
	settle    = 400 * time.Millisecond // after the last move, the window stands
	follows   = 500 * time.Millisecond // a system may take to place the window
	appears   = 5 * time.Second        // it may take the first time
	paintTime = 250 * time.Millisecond // the page may take to paint what it was told
)

// shapeEvent is the data of a steward:shape event.
type shapeEvent struct {
	Shape      Shape  `json:"shape"`
	Inside     Inside `json:"inside"`
	View       string `json:"view,omitempty"`
	Compositor bool   `json:"compositor"`
}

// Stage decides which shape the window has, and where it stands. One goroutine
// does everything in order; the methods only ask it to.
type Stage struct {
	frame  Frame
	file   string // where places are kept
	logger *slog.Logger
	todo   queue

	// Only the goroutine's.
	places  *places
	shape   Shape
	view    string
	orb     Rect // where the orb stands, or will when the panel is folded
	rect    Rect // where the window is
	inside  Inside
	asked   Rect      // where the window was sent
	until   time.Time // until then it may still be on its way there
	settled *time.Timer
	page    bool
	unsaved bool

	painted chan int // the numbers of what the page has painted
	round   int
}

// NewStage returns a stage whose orb is at start, as places say.
func NewStage(frame Frame, p *places, start Rect, file string, logger *slog.Logger) *Stage {
	s := &Stage{frame: frame, file: file, logger: logger, places: p, shape: Orb, orb: start, rect: start, asked: start,
		painted: make(chan int, 8)}
	s.until = time.Now().Add(appears)
	s.settled = time.AfterFunc(time.Hour, func() { s.todo.add(s.save) })
	s.settled.Stop()
	s.todo.init()
	return s
}

// Work runs until Close.
func (s *Stage) Work() {
	for {
		do, ok := s.todo.next()
		if !ok {
			return
		}
		do()
	}
}

// Close ends Work when it has done what it was asked to, and keeps the place. It
// waits for that, but not for long: the window may be stuck.
func (s *Stage) Close() {
	s.settled.Stop()
	s.todo.add(s.save)
	s.todo.close()
	select {
	case <-s.todo.closed():
	case <-time.After(time.Second):
	}
}

// Open shows the panel, on a view if one is named, and gives it the keyboard.
func (s *Stage) Open(view string) {
	s.todo.add(func() { s.grow(Panel, view) })
}

// OpenMenu shows the orb's menu.
func (s *Stage) OpenMenu() {
	s.todo.add(func() {
		if s.shape == Orb {
			s.grow(Menu, "")
		}
	})
}

// Show opens the panel, wherever the window is, and calls done: a person has
// started the program again to see it.
func (s *Stage) Show(done func()) {
	s.todo.add(func() {
		if s.shape == Orb { // it may be on a display that the person cannot see
			s.rearrange()
		}
		s.grow(Panel, s.view)
		done()
	})
}

// Asked is what the system's wish to close the window leads to: an open panel
// folds, the orb quits.
func (s *Stage) Asked(quit func()) {
	s.todo.add(func() {
		if s.shape == Orb {
			quit()
		} else {
			s.fold()
		}
	})
}

// Fold makes the window the orb again, where that was.
func (s *Stage) Fold() { s.todo.add(s.fold) }

// Blurred says that the keyboard has gone elsewhere: an open menu closes.
func (s *Stage) Blurred() {
	s.todo.add(func() {
		if s.shape == Menu {
			s.fold()
		}
	})
}

// Held says that the person has taken hold of the window: from now on it moves by
// their hand, even if the system has not said yet that it stands where it was sent.
func (s *Stage) Held() { s.todo.add(func() { s.until = time.Time{} }) }

// Moved says where the window is now.
func (s *Stage) Moved(r Rect) { s.todo.add(func() { s.moved(r) }) }

// Rearranged says that displays have come or gone.
func (s *Stage) Rearranged() { s.todo.add(s.rearrange) }

// Recomposed says that a compositor has come or gone.
func (s *Stage) Recomposed() { s.todo.add(s.tell) }

// Painted says that the page has painted what it was told in a round.
func (s *Stage) Painted(round int) {
	select {
	case s.painted <- round:
	default: // nobody waits for it
	}
}

// readyAnswer is what a page that has come up is told.
type readyAnswer struct {
	Shape      Shape `json:"shape"`
	Attached   bool  `json:"attached"`
	Compositor bool  `json:"compositor"`
}

// Ready says that the page is up, and returns the shape it is to have.
func (s *Stage) Ready() Shape {
	got := make(chan Shape, 1)
	s.todo.add(func() {
		s.page = true
		s.tell()
		// The library switches its own resize edges on when the page is up, a
		// little later than it calls us.
		time.AfterFunc(300*time.Millisecond, func() { s.todo.add(s.edges) })
		got <- s.shape
	})
	select {
	case shape := <-got:
		return shape
	case <-s.todo.closed():
		return Orb
	}
}

func (s *Stage) grow(to Shape, view string) {
	screens := s.frame.Screens()
	if len(screens) == 0 {
		return
	}
	if s.shape != to {
		on := screenOf(s.orb, screens)
		size := menuSize
		if to == Panel {
			size = s.places.panel(on)
		}
		var r Rect
		r, s.inside = beside(s.orb, size, on.Work)
		s.place(to, r)
	}
	s.view = view
	s.tell()
	s.frame.Raise()
	s.frame.Focus()
}

// fold lets the page become the orb before the window does: what a smaller
// window no longer shows would be seen on the screen for a moment.
func (s *Stage) fold() {
	if s.shape == Orb {
		return
	}
	screens := s.frame.Screens()
	if len(screens) == 0 {
		return
	}
	s.shape, s.view = Orb, ""
	s.tell()
	s.awaitPaint()
	s.frame.GiveBack()
	s.orb = s.orb.into(screenOf(s.orb, screens).Work)
	s.place(Orb, s.orb)
}

// awaitPaint waits until the page has painted what it was told last.
func (s *Stage) awaitPaint() {
	if !s.page {
		return
	}
	s.round++
	s.frame.Run(`requestAnimationFrame(()=>requestAnimationFrame(()=>window.go.app.App.Call("window.painted",'{"round":` + strconv.Itoa(s.round) + `}')))`)
	limit := time.NewTimer(paintTime)
	defer limit.Stop()
	for {
		select {
		case n := <-s.painted:
			if n == s.round {
				return
			}
		case <-limit.C: // a page that is not shown paints nothing
			return
		}
	}
}

func (s *Stage) place(to Shape, r Rect) {
	s.shape, s.asked, s.until = to, r, time.Now().Add(follows)
	s.rect = r
	s.frame.Place(to, r)
}

// tell tells the page its shape.
func (s *Stage) tell() {
	if !s.page {
		return
	}
	if s.shape == Orb {
		if screens := s.frame.Screens(); len(screens) > 0 {
			_, s.inside = beside(s.orb, panelSize, screenOf(s.orb, screens).Work)
		}
	}
	s.frame.Emit(eventShape, shapeEvent{s.shape, s.inside, s.view, s.frame.Composited()})
	s.edges()
}

// edges lets the page's border resize the panel, and nothing else: the cursor of
// an edge it was on may be left from before.
func (s *Stage) edges() {
	s.frame.Run(`if(window.wails){window.wails.flags.enableResize=` + strconv.FormatBool(s.shape == Panel) +
		`;window.wails.flags.resizeEdge=undefined;document.documentElement.style.cursor=""}`)
}

func (s *Stage) moved(r Rect) {
	if r == s.asked {
		s.until = time.Time{}
	}
	if time.Now().Before(s.until) {
		return // on its way
	}
	s.rect = r
	switch {
	case s.shape == Orb && (r.X != s.orb.X || r.Y != s.orb.Y):
		s.orb.X, s.orb.Y = r.X, r.Y
		s.unsaved = true
	case s.shape == Panel && r.size() != s.asked.size():
		s.unsaved = true
	default:
		return
	}
	s.settled.Reset(settle)
}

// save keeps where the person has put the orb, and how large the panel is.
func (s *Stage) save() {
	if !s.unsaved {
		return
	}
	s.unsaved = false
	screens := s.frame.Screens()
	if len(screens) == 0 {
		return
	}
	news := false
	switch s.shape {
	case Orb:
		news = s.places.put(s.orb, screens)
		s.tell() // it may lie at another corner of the panel now
	case Panel:
		news = s.places.put(s.orb, screens)
		news = s.places.resized(s.rect.size(), s.orb, screens) || news
	}
	if !news {
		return
	}
	if err := s.places.save(s.file); err != nil {
		s.logger.Warn("where the orb stands cannot be kept", "file", s.file, "error", err)
	}
}

// rearrange brings the window back onto a display, after the last change of
// them. The orb returns to where it was put when that display does.
func (s *Stage) rearrange() {
	screens := s.frame.Screens()
	if len(screens) == 0 {
		return
	}
	s.unsaved = false // what moved just now was the system that makes room
	s.settled.Stop()
	s.orb = s.places.orb(screens)
	on := screenOf(s.orb, screens)
	switch s.shape {
	case Orb:
		s.place(Orb, s.orb)
	case Menu:
		s.fold()
		return
	case Panel:
		var r Rect
		r, s.inside = beside(s.orb, s.places.panel(on), on.Work)
		s.place(Panel, r)
	}
	s.tell()
}

// queue is what a stage is still to do. Whoever asks never waits.
type queue struct {
	mu   sync.Mutex
	list []func()
	more chan struct{}
	end  chan struct{}
	done bool
}

func (q *queue) init() { q.more, q.end = make(chan struct{}, 1), make(chan struct{}) }

func (q *queue) add(f func()) {
	q.mu.Lock()
	if !q.done {
		q.list = append(q.list, f)
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) next() (func(), bool) {
	for {
		q.mu.Lock()
		if len(q.list) > 0 {
			f := q.list[0]
			q.list = q.list[1:]
			q.mu.Unlock()
			return f, true
		}
		done := q.done
		q.mu.Unlock()
		if done {
			close(q.end)
			return nil, false
		}
		<-q.more
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.done = true
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// closed is closed when everything has been done.
func (q *queue) closed() <-chan struct{} { return q.end }

package mcp

import "sync/atomic"

// maxIdleWorkers bounds the workers that wait for the next request. Each keeps
// the stack it has grown, which is what makes it cheaper than a new goroutine.
const maxIdleWorkers = 64

// crew runs requests on goroutines that are used again. It starts as many as
// there are requests at once; how many that may be is each connection's limit.
type crew struct {
	jobs chan *request // unbuffered: handed to a waiting worker or to a new one
	idle atomic.Int32
	quit chan struct{}
}

func newCrew() *crew {
	return &crew{jobs: make(chan *request), quit: make(chan struct{})}
}

// do runs r on a worker and returns at once.
func (c *crew) do(r *request) {
	select {
	case c.jobs <- r:
	default:
		go c.work(r)
	}
}

func (c *crew) work(r *request) {
	for {
		r.run()
		if c.idle.Add(1) > maxIdleWorkers {
			c.idle.Add(-1)
			return
		}
		select {
		case r = <-c.jobs:
			c.idle.Add(-1)
		case <-c.quit:
			return
		}
	}
}

// dismiss lets idle workers go, and the busy ones when they are done.
func (c *crew) dismiss() { close(c.quit) }

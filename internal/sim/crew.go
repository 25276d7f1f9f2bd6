package sim

import "iter"

// coroutine runs one body after another and stands still where a body says so. A body that
// lost its process unwinds by a panic and leaves the coroutine fit for the next.
type coroutine struct {
	resume func() (struct{}, bool)
	cancel func()
	pause  func(struct{}) bool
	body   func() // nil once it has returned
}

// Crew lends coroutines to any number of worlds, one world at a time: to make one costs more
// than what most processes do.
type Crew struct{ idle []*coroutine }

func (c *Crew) take() *coroutine {
	if n := len(c.idle); n > 0 {
		co := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return co
	}
	co := &coroutine{}
	co.resume, co.cancel = iter.Pull(func(yield func(struct{}) bool) {
		co.pause = yield
		for {
			co.body()
			co.body = nil
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return co
}

// Close ends the coroutines. Those of processes that stood still when their world ended are
// among them: a world that ends kills its processes first.
func (c *Crew) Close() {
	for _, co := range c.idle {
		co.cancel()
	}
	c.idle = nil
}

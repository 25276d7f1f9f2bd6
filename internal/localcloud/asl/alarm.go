package asl

import (
	"sync"
	"time"
)

// alarm calls a function once its time is over, counted from its last restart. One
// without a time never does.
type alarm struct {
	clock Clock
	after time.Duration
	ring  func()

	mu      sync.Mutex
	stopped bool
	cancel  func() bool
}

func newAlarm(clock Clock, after time.Duration, ring func()) *alarm {
	a := &alarm{clock: clock, after: after, ring: ring, cancel: func() bool { return false }}
	a.restart()
	return a
}

func (a *alarm) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.after <= 0 || a.stopped {
		return
	}
	a.cancel()
	a.cancel = a.clock.AfterFunc(a.after, a.ring)
}

func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	a.cancel()
}

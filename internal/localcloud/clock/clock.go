// Package clock is the local cloud's own time: it begins where it is told and runs N
// times as fast as real time. At speed 1 inside a testing/synctest bubble it is fully
// virtual, so tests need no clock of their own.
package clock

import (
	"context"
	"time"
)

// Clock is a point in real time, the local instant that belongs to it, and the speed.
// It never changes and may be shared.
type Clock struct {
	real  time.Time
	local time.Time
	speed float64
}

// New returns a clock that shows start now and runs speed times as fast as real time.
func New(start time.Time, speed float64) *Clock {
	return &Clock{real: time.Now(), local: start, speed: speed}
}

// Now returns the local time.
func (c *Clock) Now() time.Time {
	return c.local.Add(time.Duration(float64(time.Since(c.real)) * c.speed))
}

// Real returns how long a local duration takes in real time.
func (c *Clock) Real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / c.speed)
}

// Sleep waits for d of local time. It returns early with the context's error when the
// context ends.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(c.Real(d))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// SleepUntil waits until the local time is at least t.
func (c *Clock) SleepUntil(ctx context.Context, t time.Time) error {
	// A timer may fire a little before the scaled clock shows the instant.
	for {
		d := t.Sub(c.Now())
		if d <= 0 {
			return ctx.Err()
		}
		if err := c.Sleep(ctx, d+time.Duration(c.speed)); err != nil {
			return err
		}
	}
}

// AfterFunc calls f in its own goroutine after d of local time, unless stopped before.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(c.Real(d), f).Stop
}

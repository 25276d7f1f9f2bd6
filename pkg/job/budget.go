package job

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// BudgetShare is the part of its interval that a run may fill: at 0.8 the default alarm on
// the ratio of run time to interval goes off.
const BudgetShare = 0.8

// Budget bounds a batch so that a run ends inside its interval. It ends 80 % of the interval
// after the run began, or, where that is earlier or there is no interval, 80 % of the way to
// the run's deadline. A run that began late by more than a fifth of its interval may still
// meet its next tick, which the job's overlap policy then decides on.
//
// A nil Budget has no end, so that a test may call the work with a Run of its own.
//
// It is counted on the wall clock, which goes on while a process is paused. It is safe for
// concurrent use.
type Budget struct {
	now        func() time.Time
	began, end time.Time

	mu      sync.Mutex
	last    time.Time     // when More was asked last
	longest time.Duration // between two times that it was
}

func newBudget(run Run, deadline time.Time, now func() time.Time) *Budget {
	began := wall(now)
	whole := deadline.Sub(began)
	if run.Interval > 0 {
		whole = min(whole, run.Interval)
	}
	share := time.Duration(float64(max(0, whole)) * BudgetShare)
	return &Budget{now: now, began: began, end: began.Add(share)}
}

// wall reads the clock without Go's monotonic part, which stands still in a suspended machine.
func wall(now func() time.Time) time.Time { return now().Round(0) }

// More tells whether to take up another piece of work, and is asked before each. It does not
// know whether there is one:
//
//	for len(orders) > 0 && run.Budget.More(ctx) { ... }
//
// It is false once ctx is done, or when the longest piece so far no longer fits into what is
// left. Of pieces that are worked on side by side it sees the distance, not the length.
func (b *Budget) More(ctx context.Context) bool {
	if b == nil {
		return ctx.Err() == nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := wall(b.now)
	if !b.last.IsZero() {
		b.longest = max(b.longest, now.Sub(b.last))
	}
	b.last = now
	left := b.end.Sub(now)
	return ctx.Err() == nil && left > 0 && left >= b.longest
}

// endless is what is left of a nil Budget.
const endless = time.Duration(math.MaxInt64)

// Left is how much of the budget is left, never below 0.
func (b *Budget) Left() time.Duration {
	if b == nil {
		return endless
	}
	return max(0, b.end.Sub(wall(b.now)))
}

// Total is the whole budget, from the run's beginning.
func (b *Budget) Total() time.Duration {
	if b == nil {
		return endless
	}
	return b.end.Sub(b.began)
}

// String says how much is left: "1m30s of 12m0s left".
func (b *Budget) String() string {
	if b == nil {
		return "no budget"
	}
	return fmt.Sprintf("%v of %v left", b.Left().Round(time.Millisecond), b.Total().Round(time.Millisecond))
}

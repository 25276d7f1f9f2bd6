package job

import (
	"context"
	"fmt"
	"time"
)

// Guard reads what the job's guard says of a run; package fencedynamo has one. It must read
// consistently. An error says nothing of the lease: it is tried again at the next poll.
type Guard func(ctx context.Context, run Run) (GuardState, error)

// GuardState is what a guard says of one run.
type GuardState struct {
	Held       bool      // the guard is there and names the run, with its fence
	Marked     bool      // the run is being stopped and its lease is not renewed
	LeaseUntil time.Time // as last renewed
	Stop       *StopError
}

// unseen is how long a run goes on whose guard could not be read since it began.
const unseen = time.Minute

// over says why the run should end, or nil. A lease that has run out is no reason as long as
// the guard still names the run: a late beat renews it.
func (g GuardState) over() error {
	switch {
	case !g.Held:
		return fmt.Errorf("%w: it is another's, or gone", ErrLeaseLost)
	case g.Marked:
		return fmt.Errorf("%w: it is marked to be stopped", ErrLeaseLost)
	case g.Stop != nil:
		return g.Stop
	}
	return nil
}

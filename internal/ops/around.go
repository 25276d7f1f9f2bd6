package ops

import (
	"context"
	"time"
)

// Surroundings are what stands around a scheduler's records where it is deployed.
type Surroundings interface {
	// Deployed reads the scheduler's group of schedules.
	Deployed(ctx context.Context) (Deployed, error)
	// Examine looks at everything but the records, and says what it cannot look at.
	Examine(ctx context.Context, x *Diagnosis)
	// Events is how many events the history of an execution has.
	Events(ctx context.Context, executionARN string) (int64, error)
	// Logs adds the lines that a run's work wrote, where more of them are, and what of it is
	// not to be had.
	Logs(ctx context.Context, w Work, l *Logs) error
}

// Work is a run whose lines are asked for.
type Work struct {
	Job         string
	MachineARN  string
	Run         string
	From, Until time.Time
	Groups      []string // of logs, in the place of those of the run's functions
}

// Package machine is what the handlers need of Step Functions: start a run by name,
// look at it, stop it. Package awssfn speaks to AWS, package localcloud is its own.
package machine

import (
	"context"
	"errors"
	"time"
)

// Status is an execution's status as Step Functions writes it.
type Status string

// The statuses of a Standard execution.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// Execution is what a look at a run shows.
type Execution struct {
	Status    Status
	Input     string
	StartedAt time.Time
	StoppedAt time.Time // zero while it runs
	Error     string
	Cause     string
}

// Runner starts, describes and stops executions.
type Runner interface {
	// Start starts the named execution. A repeated start of one that still runs with the
	// same input succeeds; ErrExists says that the name is taken otherwise. An error that
	// wraps ErrPermanent will not go away by trying again.
	Start(ctx context.Context, machineARN, name, input string) error
	// Describe returns ErrNotFound when no such execution is known, which may be early:
	// the answer is eventually consistent.
	Describe(ctx context.Context, executionARN string) (Execution, error)
	// Stop asks for the execution to end as Aborted. Stopping one that ended is no error.
	Stop(ctx context.Context, executionARN, errorName, cause string) error
}

// Errors of a Runner; match with errors.Is.
var (
	ErrExists    = errors.New("execution name is taken")
	ErrNotFound  = errors.New("no such execution")
	ErrPermanent = errors.New("the start was refused for good")
)

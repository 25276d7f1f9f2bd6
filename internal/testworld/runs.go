package testworld

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Runs is a Step Functions in memory whose executions end when told to.
type Runs struct {
	mu         sync.Mutex
	executions map[string]*machine.Execution // by ARN
	now        func() time.Time
	Started    int // executions that came to be
	Starts     int // requests to start one
	Stops      int // requests to stop one
	// These, if set, answer in the place of what they are named for. LoseStart is asked
	// after the start took effect.
	FailStart, LoseStart, FailStop error
	// Deaf executions do not end when stopped.
	Deaf bool
}

var _ machine.Runner = (*Runs)(nil)

// Start implements machine.Runner.
func (r *Runs) Start(_ context.Context, machineARN, name, input string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Starts++
	if r.FailStart != nil {
		return r.FailStart
	}
	arn := schema.ExecutionARN(machineARN, name)
	x, there := r.executions[arn]
	switch {
	case !there:
		r.executions[arn] = &machine.Execution{Status: machine.Running, Input: input, StartedAt: r.now()}
		r.Started++
	case x.Status != machine.Running || x.Input != input:
		return machine.ErrExists
	}
	return r.LoseStart
}

// Describe implements machine.Runner.
func (r *Runs) Describe(_ context.Context, executionARN string) (machine.Execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x, there := r.executions[executionARN]
	if !there {
		return machine.Execution{}, machine.ErrNotFound
	}
	return *x, nil
}

// Stop implements machine.Runner.
func (r *Runs) Stop(_ context.Context, executionARN, errorName, cause string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Stops++
	if r.FailStop != nil {
		return r.FailStop
	}
	if x := r.executions[executionARN]; x != nil && x.Status == machine.Running && !r.Deaf {
		x.Status, x.StoppedAt, x.Error, x.Cause = machine.Aborted, r.now(), errorName, cause
	}
	return nil
}

func (r *Runs) find(run string) (arn string, x *machine.Execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for arn, x := range r.executions {
		if strings.HasSuffix(arn, ":"+run) {
			return arn, x
		}
	}
	return "", nil
}

// Execution returns the run's execution as it is.
func (r *Runs) Execution(run string) (machine.Execution, bool) {
	if _, x := r.find(run); x != nil {
		return *x, true
	}
	return machine.Execution{}, false
}

// End ends the run's execution now.
func (r *Runs) End(run string, status machine.Status, errorName string) {
	if _, x := r.find(run); x != nil {
		x.Status, x.StoppedAt, x.Error = status, r.now(), errorName
	}
}

// Running counts the executions that have not ended.
func (r *Runs) Running() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.executions {
		if x.Status == machine.Running {
			n++
		}
	}
	return n
}

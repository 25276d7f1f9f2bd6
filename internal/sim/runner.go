package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// runner is Step Functions as one process sees it: every request is an effect.
type runner struct{ p *process }

var _ machine.Runner = runner{}

var errDenied = errors.New("AccessDeniedException: not authorized to perform states:StopExecution")

// Start implements machine.Runner.
func (r runner) Start(ctx context.Context, _, name, input string) error {
	w := r.p.w
	e := effect{is: Start, run: func() error {
		if w.refuses() {
			w.faults.struck(StartRefused)
			return fmt.Errorf("%w: AccessDeniedException", machine.ErrPermanent)
		}
		w.acceptedAt = w.clock
		return w.startExecution(name, input)
	}}
	e.again = e.run
	if w.tracing {
		e.what = "start " + name
	}
	return r.p.do(ctx, e)
}

// Describe implements machine.Runner.
func (r runner) Describe(ctx context.Context, arn string) (x machine.Execution, err error) {
	w := r.p.w
	_, run, err := schema.ParseExecutionARN(arn)
	if err != nil {
		return x, err
	}
	err = r.p.do(ctx, effect{is: Describe, what: "describe " + run, run: func() error {
		x, err = w.describeExecution(run)
		return err
	}})
	return x, err
}

// Stop implements machine.Runner.
func (r runner) Stop(ctx context.Context, arn, errorName, cause string) error {
	w := r.p.w
	_, run, err := schema.ParseExecutionARN(arn)
	if err != nil {
		return err
	}
	e := effect{is: Stop, what: "stop " + run, run: func() error {
		if w.faults.chance(6) {
			w.faults.struck(StopDenied)
			return errDenied
		}
		x := w.executions[run]
		if x == nil {
			return nil
		}
		w.observe(observation{by: r.p, stopped: x})
		w.abort(x, errorName, cause)
		return nil
	}}
	e.again = e.run
	err = r.p.do(ctx, e)
	if x := w.executions[run]; x != nil {
		x.stopSent = true
	}
	return err
}

// refuses tells whether starts are refused for good. Permissions do not change within the
// moment in which a start just accepted is not visible yet, nor back within a sender's life.
func (w *World) refuses() bool {
	if w.clock < w.refusedFrom || w.clock > w.refusedUntil || w.refusedUntil == 0 {
		return false
	}
	if !w.refusing && w.clock > w.acceptedAt+visibleWithin {
		w.refusing = true
	}
	if w.refusing {
		w.refusedUntil = max(w.refusedUntil, w.clock+20_000)
	}
	return w.refusing
}

// startExecution is StartExecution as AWS defines it.
func (w *World) startExecution(name, input string) error {
	if x := w.executions[name]; x != nil {
		if x.Status == machine.Running && x.Input == input {
			return nil
		}
		return machine.ErrExists
	}
	x, err := w.newExecution(name, input)
	if err != nil {
		return err
	}
	w.observe(observation{started: x})
	w.begin(x)
	return nil
}

// describeExecution is DescribeExecution: consistent in the end, so a young execution may
// not be known yet, and one that ended lately may still show as running.
func (w *World) describeExecution(run string) (machine.Execution, error) {
	x := w.executions[run]
	switch {
	case x == nil:
		return machine.Execution{}, machine.ErrNotFound
	case w.clock < x.begunAt+visibleWithin && w.faults.chance(3):
		w.faults.struck(UnseenYet)
		return machine.Execution{}, machine.ErrNotFound
	case x.Status != machine.Running && w.clock < x.endedAt+visibleWithin && w.faults.chance(3):
		stale := x.Execution
		stale.Status, stale.StoppedAt, stale.Error, stale.Cause = machine.Running, time.Time{}, "", ""
		return stale, nil
	}
	return x.Execution, nil
}

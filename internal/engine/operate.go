package engine

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// ErrUnknownJob says that no guard of the job exists.
type ErrUnknownJob struct{ Job string }

// Error names the job.
func (e *ErrUnknownJob) Error() string {
	return fmt.Sprintf("job %q is unknown: no tick of it was ever seen", e.Job)
}

// change commits what a person asked for, on the guard as it is.
func (e *Engine) change(ctx context.Context, job string, decide func(g guard.Guard) (guard.Decision, error)) (guard.Guard, error) {
	for range maxTries {
		g, err := e.Store.Guard(ctx, job)
		if err != nil {
			return guard.Guard{}, fmt.Errorf("read guard of %s: %w", job, err)
		}
		if g == nil {
			return guard.Guard{}, &ErrUnknownJob{job}
		}
		dec, err := decide(*g)
		if err != nil {
			return *g, err
		}
		refused, err := e.commit(ctx, dec)
		if err != nil {
			return *g, err
		}
		if refused == nil {
			return dec.Guard, nil
		}
	}
	return guard.Guard{}, fmt.Errorf("change job %s: %w", job, errContended)
}

// Pause has the job's ticks skipped until it is resumed, or until p.Until.
func (e *Engine) Pause(ctx context.Context, job string, p guard.Pause) (guard.Guard, error) {
	return e.change(ctx, job, func(g guard.Guard) (guard.Decision, error) {
		p.At = e.now()
		return guard.PauseJob(g, p, e.NewToken()), nil
	})
}

// Resume ends a pause. It starts nothing by itself.
func (e *Engine) Resume(ctx context.Context, job string) (guard.Guard, error) {
	return e.change(ctx, job, func(g guard.Guard) (guard.Decision, error) {
		return guard.ResumeJob(g, e.NewToken(), e.now())
	})
}

// Release marks the holder, stops it, and frees the guard once it has ended. It releases the run
// that is named or, without a name, the one that it finds first: never another that took the guard
// meanwhile. free is false when the holder is marked and has not ended yet: the sentinel goes on.
func (e *Engine) Release(ctx context.Context, job, run, by, why string) (g guard.Guard, free bool, err error) {
	g, err = e.change(ctx, job, func(g guard.Guard) (guard.Decision, error) {
		dec, err := guard.ReleaseJob(g, run, by, why, e.NewToken(), e.now())
		if err == nil {
			run = g.Run.ID
		}
		return dec, err
	})
	if err != nil {
		return g, false, err
	}
	next, stays, err := e.takeOver(ctx, g, by, e.deadline())
	if err != nil || next == nil {
		return g, false, err
	}
	stays = stays || next.Run != nil && next.Run.ID == g.Run.ID // somebody else may have moved the guard
	return *next, !stays, nil
}

// Run delivers a run that a person asked for now. by says who and why.
func (e *Engine) Run(ctx context.Context, job, by string, override func(*guard.Delivery)) (Result, error) {
	g, err := e.Store.Guard(ctx, job)
	if err != nil {
		return Result{}, fmt.Errorf("read guard of %s: %w", job, err)
	}
	if g == nil || g.Spec == nil {
		return Result{}, &ErrUnknownJob{job}
	}
	d, err := ManualDelivery(*g.Spec, by, e.Now())
	if err != nil {
		return Result{}, err
	}
	if override != nil {
		override(&d)
	}
	return e.Deliver(ctx, d)
}

// CommandLineTimeout is the Timeout of an engine that runs on a person's machine.
const CommandLineTimeout = schema.DispatcherTimeout

package asl

import (
	"context"
	"errors"
	"sync"
)

// errBranchFailed is why the other branches of a Parallel are cancelled.
var errBranchFailed = errors.New("another branch failed")

// runParallel runs all branches over the same input. The first that fails ends the
// state with its error and cancels the others; tasks of theirs that cannot be stopped
// go on without anyone listening, as on AWS.
func (v *visit) runParallel(ctx context.Context, params any) (any, *Error) {
	v.x.event("ParallelStateStarted", v.state.name, nil)
	branches := v.state.branches
	return v.beside(ctx, "ParallelStateSucceeded", len(branches), len(branches), func(ctx context.Context, i int) (any, *Error) {
		return v.x.runGraph(ctx, branches[i], params, v.frame.inner())
	})
}

// beside runs n parts, at most width at a time, and returns their results in order. The first
// to fail cancels those that run and keeps those that wait from starting; its error is that of all.
func (v *visit) beside(ctx context.Context, done string, n, width int, part func(ctx context.Context, i int) (any, *Error)) ([]any, *Error) {
	partCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var wg sync.WaitGroup
	var once sync.Once
	var first *Error
	results := make([]any, n)
	ended := make(chan struct{}, n)
	for i := range n {
		if i >= width {
			if <-ended; partCtx.Err() != nil {
				break
			}
		}
		wg.Go(func() {
			defer func() { ended <- struct{}{} }()
			result, failed := part(partCtx, i)
			if failed != nil {
				once.Do(func() { first = failed })
				cancel(errBranchFailed)
			}
			results[i] = result
		})
	}
	wg.Wait()
	if first != nil {
		return nil, first
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	v.x.event(done, v.state.name, nil)
	return results, nil
}

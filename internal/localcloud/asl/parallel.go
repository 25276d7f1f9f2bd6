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
	branchCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var wg sync.WaitGroup
	var once sync.Once
	var first *Error
	results := make([]any, len(v.state.branches))
	for i, branch := range v.state.branches {
		wg.Go(func() {
			result, failed := v.x.runGraph(branchCtx, branch, params, v.frame.inner())
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
	v.x.event("ParallelStateSucceeded", v.state.name, nil)
	return results, nil
}

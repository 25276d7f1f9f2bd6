package engine

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// unblock makes a new guard ready, at once if the job has no rows; else it first keeps the
// guard blocked until no run of a lost guard can be trusted, and closes what is open.
func (e *Engine) unblock(ctx context.Context, g guard.Guard) (*guard.Guard, error) {
	any, err := e.Store.Rows(ctx, guard.RowQuery{Job: g.Job, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("query rows of %s: %w", g.Job, err)
	}
	if len(any.Rows) == 0 && any.Next == "" {
		return e.toReady(ctx, g, nil)
	}
	open, err := e.openRows(ctx, g.Job)
	if err != nil {
		return nil, err
	}
	if g.ReadyAt == 0 {
		c := guard.BlockUntil(g, open, e.NewToken(), e.now())
		return e.commitGuard(ctx, &c, g.Apply(c.Writes[0].Patch))
	}
	var closings []guard.Closing
	for _, row := range open {
		sight, err := e.endRow(ctx, *g.Spec, row)
		if err != nil {
			return nil, err
		}
		if !sight.Ended { // still running and not to be stopped: the guard stays blocked
			return e.stayBlocked(ctx, g, open)
		}
		closings = append(closings, guard.Closing{Row: row, Sight: sight})
	}
	return e.toReady(ctx, g, closings)
}

func (e *Engine) toReady(ctx context.Context, g guard.Guard, closings []guard.Closing) (*guard.Guard, error) {
	dec := guard.Unblocked(g, closings, e.NewToken(), e.now())
	return e.commitGuard(ctx, dec.Commit, dec.Guard)
}

// stayBlocked puts the next try off, so that ticks meanwhile are skipped as blocked.
func (e *Engine) stayBlocked(ctx context.Context, g guard.Guard, open []guard.Row) (*guard.Guard, error) {
	c := guard.BlockUntil(g, open, e.NewToken(), e.now())
	return e.commitGuard(ctx, &c, g.Apply(c.Writes[0].Patch))
}

// commitGuard returns the guard as committed, or as it is if somebody else was faster.
func (e *Engine) commitGuard(ctx context.Context, c *guard.Commit, want guard.Guard) (*guard.Guard, error) {
	refused, err := e.commit(ctx, c)
	if err != nil {
		return nil, err
	}
	if refused == nil {
		return &want, nil
	}
	return e.Store.Guard(ctx, c.Job)
}

func (e *Engine) openRows(ctx context.Context, job string) ([]guard.Row, error) {
	var open []guard.Row
	q := guard.RowQuery{Job: job, OpenOnly: true}
	for {
		page, err := e.Store.Rows(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("query open rows of %s: %w", job, err)
		}
		open = append(open, page.Rows...)
		if q.After = page.Next; q.After == "" {
			return open, nil
		}
	}
}

// endRow sees to it that the row's execution has ended, and how.
func (e *Engine) endRow(ctx context.Context, spec schema.Spec, row guard.Row) (guard.Sight, error) {
	for stopped := false; ; stopped = true {
		sight, fence, err := e.look(ctx, spec, row.Run)
		if err != nil {
			return guard.Sight{}, err
		}
		if !sight.Known || fence != row.Fence {
			return guard.Sight{Ended: true, Outcome: guard.LeaseLost}, nil
		}
		if sight.Ended && stopped && sight.Outcome == guard.Aborted {
			sight.Outcome = guard.LeaseLost
		}
		if sight.Ended || stopped {
			return sight, nil
		}
		if err := e.stop(ctx, spec, row.Run, "its guard was lost"); err != nil {
			return sight, nil // warned of
		}
	}
}

// stop asks for the run's execution to end. A refusal is warned of as well as returned: it
// leaves the job held by a run that nobody can end.
func (e *Engine) stop(ctx context.Context, spec schema.Spec, run, cause string) error {
	err := e.Machines.Stop(ctx, schema.ExecutionARN(spec.Machine, run), schema.ErrorLeaseLost, cause)
	if err != nil {
		e.warn(spec.Job, run, "stop denied", err)
	}
	return err
}

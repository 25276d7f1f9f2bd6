package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// unblock makes a new guard ready, at once if the job has no rows; else it first keeps the
// guard blocked until no run of a lost guard can be trusted, and closes what is open.
func (e *Engine) unblock(ctx context.Context, g guard.Guard) (*guard.Guard, error) {
	first, err := e.Store.Rows(ctx, guard.RowQuery{Job: g.Job, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("query ticks of %s: %w", g.Job, err)
	}
	if len(first.Rows) == 0 && first.Next == "" {
		return e.toReady(ctx, g, nil)
	}
	open, err := e.openRows(ctx, g)
	if err != nil {
		return nil, err
	}
	if g.ReadyAt == 0 {
		return e.stayBlocked(ctx, g, open)
	}
	// Only while the guard is blocked are all open rows those of the lost one: had somebody made
	// it ready before they were read, a run of the new guard would be stopped among them.
	if now, err := e.Store.Guard(ctx, g.Job); err != nil || now == nil || now.Version != g.Version {
		return now, err
	}
	var closings []guard.Closing
	for _, row := range open {
		c := guard.Closing{Row: row}
		if row.Outcome == guard.Running {
			if c.Sight, err = e.endRow(ctx, *g.Spec, row); err != nil {
				return nil, err
			}
			if !c.Sight.Ended { // it runs and is not to be stopped: ticks are skipped meanwhile
				return e.stayBlocked(ctx, g, open)
			}
		}
		if closings = append(closings, c); len(closings) == maxClosings {
			break // a transaction's worth; the next delivery or sweep goes on
		}
	}
	if len(closings) < len(open) {
		return e.closeSome(ctx, g, closings)
	}
	return e.toReady(ctx, g, closings)
}

// maxClosings is how many rows fit into a transaction beside the guard.
const maxClosings = 90

func (e *Engine) toReady(ctx context.Context, g guard.Guard, closings []guard.Closing) (*guard.Guard, error) {
	return e.commitGuard(ctx, guard.Unblocked(g, closings, e.NewToken(), e.now()))
}

// closeSome closes rows of a guard that stays blocked until all are closed.
func (e *Engine) closeSome(ctx context.Context, g guard.Guard, closings []guard.Closing) (*guard.Guard, error) {
	return e.commitGuard(ctx, guard.StillBlocked(g, closings, e.NewToken(), e.now()))
}

// stayBlocked puts the next try off, so that ticks meanwhile are skipped as blocked.
func (e *Engine) stayBlocked(ctx context.Context, g guard.Guard, open []guard.Row) (*guard.Guard, error) {
	return e.commitGuard(ctx, guard.BlockUntil(g, open, e.NewToken(), e.now()))
}

// commitGuard returns the guard as committed, or as it is if somebody else was faster.
func (e *Engine) commitGuard(ctx context.Context, dec guard.Decision) (*guard.Guard, error) {
	refused, err := e.commit(ctx, dec)
	if err != nil {
		return nil, err
	}
	if refused == nil {
		return &dec.Guard, nil
	}
	return e.Store.Guard(ctx, dec.Commit.Job)
}

// openFor is for how long a row is looked for that nobody closed, beyond the longest time of a
// run: months of a minutely job's ticks take longer to read than a function has.
const openFor = 7 * 24 * time.Hour

// openRows returns the rows without a final outcome: planned ticks as far back as a run of them
// can be alive, and all of other kinds.
func (e *Engine) openRows(ctx context.Context, g guard.Guard) ([]guard.Row, error) {
	var open []guard.Row
	since := e.now().Add(-g.Spec.Window() - g.Spec.MachineTimeout() - openFor)
	if g.Spec.Retries > 0 { // another attempt may begin so much later than its tick
		p, err := PlannedBefore(g)
		if err != nil {
			return nil, err
		}
		since = since.Add(-g.Spec.Drain() - guard.Margin - g.Spec.RetryWindow(p.interval(p.Prev(e.now()))))
	}
	for _, q := range []guard.RowQuery{
		{Job: g.Job, OpenOnly: true, From: guard.TickID(guard.Scheduled, since), To: lastScheduled},
		{Job: g.Job, OpenOnly: true, From: lastScheduled},
	} {
		for more := true; more; more = q.After != "" {
			page, err := e.Store.Rows(ctx, q)
			if err != nil {
				return nil, fmt.Errorf("query open ticks of %s: %w", g.Job, err)
			}
			open = append(open, page.Rows...)
			q.After = page.Next
		}
	}
	return open, nil
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
		if err := e.stop(ctx, spec, row.Run, schema.ErrorLeaseLost, "its guard was lost"); err != nil {
			return sight, nil // warned of
		}
	}
}

// stop asks for the run's execution to end. A refusal is warned of as well as returned: it
// leaves the job held by a run that nobody can end.
func (e *Engine) stop(ctx context.Context, spec schema.Spec, run, name, cause string) error {
	err := e.Machines.Stop(ctx, schema.ExecutionARN(spec.Machine, run), name, cause)
	if err != nil {
		e.warn(spec.Job, run, "stop denied", err)
	}
	return err
}

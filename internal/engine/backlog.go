package engine

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Backfilling is what a backfill would be of.
type Backfilling struct {
	From, To guard.Millis // the first tick and the last; where there is none, what was asked for
	Planned  int          // ticks
	Passed   int          // of them: an earlier backfill succeeded, so they are passed over
	Coming   int          // ticks besides, behind them, that may still come by themselves
	Version  int64        // of the guard once it is put there: its runs have higher fences
}

// PlanBackfill finds the planned ticks between two instants, both included, that cannot come by
// themselves any more. How many are passed over it leaves open.
func PlanBackfill(g guard.Guard, from, to, now guard.Millis) (Backfilling, error) {
	p, err := PlannedBefore(g)
	if err != nil {
		return Backfilling{}, err
	}
	b := Backfilling{From: from, To: min(to, guard.BackfillEnd(g, now))}
	b.Coming = p.Count(max(from-1, b.To), to)
	if b.Planned = p.Count(from-1, b.To); b.Planned > 0 {
		b.From, b.To = p.Next(from-1), p.Prev(b.To+1)
	}
	return b, nil
}

// CountPassed counts the ticks that a backfill passes over.
func (e *Engine) CountPassed(ctx context.Context, g guard.Guard, b *Backfilling) error {
	p, err := PlannedBefore(g)
	if err != nil {
		return err
	}
	q := backlogRows(g.Job, guard.Backfill, b.From, b.To)
	q.Limit = 0 // all of them are read, from afar too: in as few pages as can be
	for b.Passed = 0; ; {
		page, err := e.Store.Rows(ctx, q)
		if err != nil {
			return fmt.Errorf("query backfilled ticks of %s: %w", g.Job, err)
		}
		for _, row := range page.Rows {
			if row.Outcome == guard.Succeeded && p.Next(row.At-1) == row.At { // else of another schedule
				b.Passed++
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// Backfill queues the planned ticks between two instants, both included, to be run one at a
// time behind everything else the job does, and starts the first if nothing stands in its way. It
// returns the guard as it is afterwards.
func (e *Engine) Backfill(ctx context.Context, job string, from, to guard.Millis) (g guard.Guard, b Backfilling, err error) {
	g, err = e.change(ctx, job, func(g guard.Guard) (guard.Decision, error) {
		now := e.now()
		if b, err = PlanBackfill(g, from, to, now); err != nil {
			return guard.Decision{}, err
		}
		if err = e.CountPassed(ctx, g, &b); err != nil {
			return guard.Decision{}, err
		}
		return guard.BackfillJob(g, b.From, b.To, b.Planned, b.Passed, e.NewToken(), now)
	})
	if err != nil {
		return g, b, err
	}
	b.Version = g.Version
	if _, err = e.sweepBacklog(ctx, &g, e.deadline()); err != nil {
		return g, b, err
	}
	swept, err := e.Store.Guard(ctx, job) // a start that is refused ends it
	if err != nil {
		return g, b, fmt.Errorf("read guard of %s: %w", job, err)
	}
	if swept == nil {
		return g, b, &ErrUnknownJob{job}
	}
	return *swept, b, nil
}

// EndBacklog ends a backfill or catch-up under way. One of its ticks that runs goes on.
func (e *Engine) EndBacklog(ctx context.Context, job, by, why string) (guard.Guard, error) {
	return e.change(ctx, job, func(g guard.Guard) (guard.Decision, error) {
		return guard.EndBacklog(g, by, why, e.NewToken(), e.now())
	})
}

const (
	// backlogPage is how many rows of a backlog's ticks are read at a time, backlogPages how often
	// before what is left to be passed over is left to the next sweep.
	backlogPage  = 100
	backlogPages = 20
	// behindAgain sorts behind all that a tick's id may go on with.
	behindAgain = "-:"
)

// backlogRows asks for the rows of a kind of a backlog's ticks.
func backlogRows(job string, k guard.Kind, from, to guard.Millis) guard.RowQuery {
	return guard.RowQuery{Job: job, From: guard.TickID(k, from), To: guard.TickID(k, to) + behindAgain, Limit: backlogPage}
}

// backlogTick finds the next tick of a guard's backlog. now is the decision's.
func (e *Engine) backlogTick(ctx context.Context, g *guard.Guard, now guard.Millis) (t guard.BacklogTick, err error) {
	if g == nil || g.Backlog == nil {
		return guard.BacklogTick{}, nil
	}
	p, err := PlannedBy(*g)
	if err != nil {
		return guard.BacklogTick{}, err
	}
	b := *g.Backlog
	if t, err = e.findTick(ctx, g.Job, b, p.Anchored(b.To)); err != nil { // it keeps its phase whatever the spec
		return guard.BacklogTick{}, err
	}
	if t.At != 0 {
		t.Interval = p.interval(t.At)
	}
	if g.SpecHash != "" { // else its schedule is gone
		t.Due, t.Coming = p.Prev(now+1), p.Next(now)
	}
	return t, nil
}

// findTick reads on what is on record of a backlog's ticks until it knows which is next.
func (e *Engine) findTick(ctx context.Context, job string, b guard.Backlog, p guard.Planned) (t guard.BacklogTick, err error) {
	var gaps []guard.Gap
	if b.Kind == guard.CatchUp {
		if gaps, err = e.Store.Gaps(ctx, job, guard.TickID(guard.Scheduled, b.Next), guard.TickID(guard.Scheduled, b.To), 0); err != nil {
			return t, fmt.Errorf("query gaps of %s: %w", job, err)
		}
	}
	var rows []guard.Row
	q := backlogRows(job, b.Kind, b.Next, b.To)
	for range backlogPages {
		page, err := e.Store.Rows(ctx, q)
		if err != nil {
			return t, fmt.Errorf("query ticks of %s: %w", job, err)
		}
		rows = append(rows, page.Rows...)
		known := b.To
		if q.After = page.Next; q.After != "" {
			known = b.Next - 1
			if n := len(rows); n > 0 {
				known = rows[n-1].At - 1 // that tick may have more
			}
		}
		if t = b.Find(p, rows, gaps, known); !t.Done {
			return t, nil
		}
	}
	return t, nil
}

func (e *Engine) sweepBacklog(ctx context.Context, g *guard.Guard, deadline guard.Millis) (*guard.Guard, error) {
	if g.Backlog == nil || !g.Ready {
		return g, nil
	}
	now := e.now()
	tick, err := e.backlogTick(ctx, g, now)
	if err != nil {
		return nil, err
	}
	dec, ok := guard.AdvanceBacklog(*g, tick, e.NewToken(), now)
	if !ok {
		return g, nil
	}
	refused, err := e.commit(ctx, dec)
	if err != nil {
		return nil, err
	}
	if refused != nil { // whatever the guard's version says: two may have meant to write the same
		return e.Store.Guard(ctx, g.Job)
	}
	e.startNext(ctx, dec, deadline)
	return &dec.Guard, nil
}

package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Sentinel is in whose name the sweep takes over.
const Sentinel = "sentinel"

// Urgent tells whether a guard stands in its job's way: the sweep sees to such ones first.
func (e *Engine) Urgent(g guard.Guard) bool { return guard.Urgent(g, e.now()) }

// sweepSteps are what a sweep does to a guard, in this order.
var sweepSteps = []func(*Engine, context.Context, *guard.Guard, guard.Millis) (*guard.Guard, error){
	(*Engine).sweepBlocked, (*Engine).sweepHolder, (*Engine).advance, (*Engine).sweepUnstarted,
	(*Engine).sweepMissed, (*Engine).sweepBacklog, (*Engine).sweepShared,
}

// SweepGuard sees to everything about one job that no event will: a holder that is due, a
// guard to be made ready, a tick that waits for nobody, a run that nobody started, missed
// ticks, a backlog, runs of policy Allow that ended unseen. It may be repeated at any time.
func (e *Engine) SweepGuard(ctx context.Context, g guard.Guard) error {
	deadline := e.deadline() // kept here: the process goes on to other guards
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	at := &g
	for _, step := range sweepSteps {
		next, err := step(e, ctx, at, deadline)
		if err != nil {
			return fmt.Errorf("sweep job %s: %w", g.Job, err)
		}
		if at = next; at == nil { // deleted under our hands
			return nil
		}
	}
	return nil
}

func (e *Engine) sweepBlocked(ctx context.Context, g *guard.Guard, _ guard.Millis) (*guard.Guard, error) {
	if g.Ready || e.now() <= g.ReadyAt.Add(guard.Margin) {
		return g, nil
	}
	return e.unblock(ctx, *g)
}

func (e *Engine) sweepHolder(ctx context.Context, g *guard.Guard, deadline guard.Millis) (*guard.Guard, error) {
	if !guard.HolderDue(*g, e.now()) {
		return g, nil
	}
	next, _, err := e.takeOver(ctx, *g, Sentinel, deadline)
	return next, err
}

// sweepUnstarted sends the start of a run once more whose sender may have died before it did. One
// that lives sends the same.
func (e *Engine) sweepUnstarted(ctx context.Context, g *guard.Guard, deadline guard.Millis) (*guard.Guard, error) {
	if deadline >= g.StartBy || !guard.StartDue(*g, e.now()) {
		return g, nil
	}
	row, err := e.Store.Row(ctx, g.Job, g.Run.Tick)
	if err != nil {
		return nil, err
	}
	if row == nil || row.Outcome != guard.Running || row.Fence != g.Fence {
		return g, nil
	}
	if _, err := e.start(ctx, *g.Spec, *row, deadline, false); err != nil {
		e.warn(g.Job, g.Run.ID, "not started yet", err)
	}
	return e.Store.Guard(ctx, g.Job)
}

func (e *Engine) sweepMissed(ctx context.Context, g *guard.Guard, _ guard.Millis) (*guard.Guard, error) {
	if !g.Ready {
		return g, nil
	}
	next, err := e.account(ctx, *g)
	if next == nil {
		next = g
	}
	return next, err
}

// maxShared bounds the runs of policy Allow that one sweep of a job looks at.
const maxShared = 50

// sweepShared settles runs of policy Allow whose end nobody reported, and forgets those whose
// rows somebody deleted.
func (e *Engine) sweepShared(ctx context.Context, g *guard.Guard, _ guard.Millis) (*guard.Guard, error) {
	now := e.now()
	if g.Live == 0 && g.LiveUntil == 0 {
		return g, nil
	}
	longest := max(time.Duration(g.LiveSeconds)*time.Second, g.Spec.Window()+schema.StartAllowance+g.Spec.MachineTimeout())
	since := now.Add(-longest - 24*time.Hour)
	open, err := e.settleOpenShared(ctx, g, since)
	if err != nil || open || now <= g.LiveUntil.Add(guard.Margin) { // a row that somebody deleted says nothing of its run
		return g, err
	}
	if g.Live > 0 { // not every run was counted off: nobody may have looked for longer than that
		if open, err = e.settleOpenShared(ctx, g, since.Add(-openFor)); err != nil || open {
			return g, err
		}
	}
	return e.commitGuard(ctx, guard.NoneLive(*g, e.NewToken(), now))
}

// settleOpenShared looks at the runs of policy Allow of ticks since an instant, and tells whether
// any was open.
func (e *Engine) settleOpenShared(ctx context.Context, g *guard.Guard, since guard.Millis) (open bool, err error) {
	now, looked := e.now(), 0
	for _, k := range []guard.Kind{guard.Scheduled, guard.Manual} {
		q := guard.RowQuery{Job: g.Job, OpenOnly: true, From: guard.TickID(k, since), To: guard.TickID(k, now.Add(time.Hour))}
		for more := true; more; more = q.After != "" {
			page, err := e.Store.Rows(ctx, q)
			if err != nil {
				return open, err
			}
			q.After = page.Next
			for _, row := range page.Rows {
				open = open || row.Shared
				if !row.Shared || now <= row.StartBy.Add(guard.Margin) {
					continue
				}
				if looked++; looked > maxShared {
					return true, nil
				}
				if err := e.settleShared(ctx, *g.Spec, row); err != nil {
					return true, err
				}
			}
		}
	}
	return open, nil
}

func (e *Engine) settleShared(ctx context.Context, spec schema.Spec, row guard.Row) error {
	sight, fence, err := e.look(ctx, spec, row.Run)
	switch {
	case err != nil:
		return err
	case !sight.Known || fence != row.Fence:
		sight = guard.Sight{Outcome: guard.Abandoned}
	case !sight.Ended:
		if e.Observe != nil {
			e.Observe.Going(row)
		}
		return nil
	}
	_, err = e.Settle(ctx, endOf(row, sight))
	return err
}

// Forget notes that the job's schedule is gone, and with it what was expected of it. It returns
// the guard as it is afterwards; nil: it was deleted meanwhile.
func (e *Engine) Forget(ctx context.Context, g guard.Guard) (*guard.Guard, error) {
	dec, ok := guard.Forget(g, e.NewToken())
	if !ok {
		return &g, nil
	}
	return e.commitGuard(ctx, dec)
}

// Introduce makes the guard of a job that never ticked, or tells it of a spec that was
// deployed since: from then on its ticks are expected.
func (e *Engine) Introduce(ctx context.Context, spec schema.Spec) error {
	g, err := e.Store.Guard(ctx, spec.Job)
	if err != nil {
		return err
	}
	if g != nil && g.SpecHash == spec.Hash() {
		return nil
	}
	floor := guard.Millis(0)
	if s, err := ScheduleOf(spec); err != nil {
		return err
	} else if prev := (Planned{Schedule: s}).Prev(e.now().Add(-spec.Window())); prev != 0 {
		floor = prev
	}
	dec, ok := guard.Expect(spec, g, floor, e.NewToken(), e.now())
	if !ok {
		return nil
	}
	made, err := e.commitGuard(ctx, dec)
	if err != nil || made == nil || made.Ready {
		return err
	}
	_, err = e.sweepBlocked(ctx, made, 0)
	return err
}

package sim

import (
	"context"
	"errors"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// planSweeps has the sentinel look at the job every minute. Its process lives longer than a
// dispatcher's, but the context of SweepGuard ends with the engine's timeout, and there is one
// job: so nothing is sent later than if the process died then.
func (w *World) planSweeps(at Millis) {
	if at > w.plan.Until {
		return
	}
	w.queue.add(event{at: at, rank: rankSweep, do: func() {
		w.planSweeps(at + Millis(schema.Sweep.Milliseconds()))
		if w.faults.chance(20) { // its own schedule delivers at least once, too
			w.after(w.between(0, 5_000), func() { w.spawn("sentinel", schema.DispatcherTimeout, w.sweep, nil) })
		}
		found, began := w.guard, w.clock
		w.spawn("sentinel", schema.DispatcherTimeout, w.sweep, func(o outcome) {
			w.observe(observation{swept: true, since: began, outcome: o, before: found, after: w.guard})
			w.atRest = w.clock > w.plan.Last && w.pending == 0 && w.history.atRest(w)
		})
	}})
}

// sweep is one round of the sentinel over the one job there is. Introduce knows the job from
// the schedule group's list, and Forget that it is no longer on it.
func (w *World) sweep(p *process) error {
	ctx, e := context.Background(), p.engine()
	removed := w.removed // the list is asked for once
	if !removed {
		if err := e.Introduce(ctx, *w.plan.Spec); err != nil {
			return err
		}
	}
	page, err := e.Store.Guards(ctx, "", 10)
	for _, g := range page.Guards {
		err = errors.Join(err, w.see(ctx, e, g, removed))
	}
	return err
}

func (w *World) see(ctx context.Context, e *engine.Engine, g guard.Guard, removed bool) error {
	if removed {
		forgotten, err := e.Forget(ctx, g)
		if err != nil || forgotten == nil {
			return err
		}
		g = *forgotten
	}
	return e.SweepGuard(ctx, g)
}

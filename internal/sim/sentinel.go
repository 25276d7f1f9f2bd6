package sim

import (
	"context"
	"errors"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
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
		w.spawn("sentinel", schema.DispatcherTimeout, w.sweep, func(outcome) {
			w.observe(observation{swept: true})
			w.atRest = w.clock > w.plan.Last && w.pending == 0 && w.history.atRest(w)
		})
	}})
}

// sweep is one round of the sentinel over the one job there is. Introduce knows the job from
// the schedule group's list.
func (w *World) sweep(p *process) error {
	ctx, e := context.Background(), p.engine()
	if err := e.Introduce(ctx, *w.plan.Spec); err != nil {
		return err
	}
	page, err := e.Store.Guards(ctx, "", 10)
	for _, g := range page.Guards {
		err = errors.Join(err, e.SweepGuard(ctx, g))
	}
	return err
}

// planPeople draws what people ask for, through the protocol and on the record.
func (w *World) planPeople(until Millis) {
	for range w.rng.IntN(3) {
		at := w.between(w.clock, until)
		deed := []func(*process) error{w.pause, w.release, w.runNow, w.backfill}[w.rng.IntN(4)]
		w.at(at, func() { w.spawn("person", schema.DispatcherTimeout, deed, nil) })
	}
}

func (w *World) pause(p *process) error {
	now := guard.Millis(p.now().UnixMilli())
	_, err := p.engine().Pause(context.Background(), simJob, guard.Pause{By: "ada", Why: "deploying", Until: now + w.between(30_000, 200_000)})
	return err
}

func (w *World) release(p *process) error {
	_, _, err := p.engine().Release(context.Background(), simJob, "", "ada", "it hangs")
	return err
}

func (w *World) runNow(p *process) error {
	var override func(*guard.Delivery)
	if w.rng.IntN(2) == 0 { // never Allow, which would void the promises that the other runs are held to
		policies := []policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace}
		overlap := policies[w.rng.IntN(len(policies))]
		override = func(d *guard.Delivery) { d.Overlap = &overlap }
	}
	_, err := p.engine().Run(context.Background(), simJob, "ada: try it", override)
	return err
}

func (w *World) backfill(p *process) error {
	_, _, err := p.engine().Backfill(context.Background(), simJob, midnight-120_000, midnight)
	return err
}

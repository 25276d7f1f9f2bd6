package sim

import (
	"context"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// planPeople draws what people ask for, through the protocol and on the record: at any time, or
// when they see the guard do something.
func (w *World) planPeople(until Millis) {
	for range w.rng.IntN(3) {
		deed := []func(*process) error{w.pause, w.release, w.runNow, w.backfill}[w.rng.IntN(4)]
		if w.rng.IntN(2) == 0 {
			w.ask(w.between(w.clock, until), deed)
			continue
		}
		w.outside = append(w.outside, &outsideFault{
			deed: deed, state: State(w.rng.IntN(int(stateCount))), wait: w.between(0, 30_000),
		})
	}
}

// ask has a person do something at an instant.
func (w *World) ask(at Millis, deed func(*process) error) {
	w.at(at, func() { w.spawn("person", schema.DispatcherTimeout, deed, nil) })
}

// pause pauses the job for a while, or until it is resumed; some resume it before its time.
func (w *World) pause(p *process) error {
	pause := guard.Pause{By: "ada", Why: "deploying"}
	if w.rng.IntN(3) > 0 {
		pause.Until = guard.Millis(p.now().UnixMilli()) + w.between(5_000, 40_000) + w.between(0, 1)*w.between(0, 160_000)
	}
	if pause.Until == 0 || w.rng.IntN(2) == 0 {
		w.ask(w.clock+w.between(5_000, 200_000), w.resume)
	}
	_, err := p.engine().Pause(context.Background(), simJob, pause)
	return err
}

func (w *World) resume(p *process) error {
	_, err := p.engine().Resume(context.Background(), simJob)
	return err
}

// release stops whatever holds the guard, or a run that a person was shown and thought about.
func (w *World) release(p *process) error {
	if g := w.guard; p.shown == "" && g != nil && g.Run != nil && w.rng.IntN(2) == 0 {
		w.ask(w.clock+w.between(0, 40_000), func(p *process) error {
			p.shown = g.Run.ID
			return w.release(p)
		})
		return nil
	}
	_, _, err := p.engine().Release(context.Background(), simJob, p.shown, "ada", "it hangs")
	return err
}

// runNow asks for a run, in half of the cases under a policy of its own. Allow is refused, as the
// command line refuses it, to a job that beats or fences its writes.
func (w *World) runNow(p *process) error {
	var override func(*guard.Delivery)
	if w.rng.IntN(2) == 0 {
		policies := []policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace, policy.Allow}
		if spec := w.plan.Spec; spec.Beats || spec.Fenced {
			policies = policies[:3]
		}
		overlap := policies[w.rng.IntN(len(policies))]
		override = func(d *guard.Delivery) { d.Overlap = &overlap }
	}
	_, err := p.engine().Run(context.Background(), simJob, "ada: try it", override)
	return err
}

// backfill asks for ticks of before the schedule; some think better of it.
func (w *World) backfill(p *process) error {
	if w.rng.IntN(4) == 0 {
		w.ask(w.clock+w.between(1_000, 300_000), w.endBacklog)
	}
	_, _, err := p.engine().Backfill(context.Background(), simJob, midnight-120_000, midnight)
	return err
}

func (w *World) endBacklog(p *process) error {
	_, err := p.engine().EndBacklog(context.Background(), simJob, "ada", "they were there")
	return err
}

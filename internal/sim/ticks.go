package sim

import (
	"context"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// planNext plans one tick and, when it is due, the next, for as long as the schedule stays.
func (w *World) planNext(after Millis) {
	next, ok := w.sched.Next(after.Time())
	at := schema.MillisOf(next)
	if !ok || at > w.plan.Last {
		return
	}
	deployed := w.deployed
	w.queue.add(event{at: at, rank: rankTick, do: func() {
		if w.deployed == deployed {
			w.planNext(at)
			w.due(at)
		}
	}})
}

// due is EventBridge Scheduler at a planned instant: it delivers at least once, at any second
// of the minute, in any order; or, in spite of all promises, not at all.
func (w *World) due(at Millis) {
	w.coverage.Ticks++
	w.history.expect(at)
	spec := w.plan.Spec // as it stands in the schedule's input
	if w.faultless {
		w.deliver(at, spec)
		return
	}
	w.history.deadlines[at] = at + Millis(spec.StartDeadlineSeconds*1000)
	delay := w.between(0, 1_500)
	if w.rng.IntN(4) == 0 {
		delay = w.between(0, 59_000)
	}
	switch {
	case w.faults.chance(14):
		w.faults.struck(TickDropped)
		return
	case w.faults.chance(5):
		w.send(delay+w.between(0, 1)*w.between(0, 200_000), func() {
			w.faults.struck(TickTwice)
			w.deliver(at, spec)
		})
	case w.faults.chance(10):
		delay = w.between(60_000, 420_000)
		w.after(delay, func() { w.faults.struck(TickLate) })
	}
	w.send(delay, func() { w.deliver(at, spec) })
}

// send has something delivered later; until it is, the world is not at rest.
func (w *World) send(delay Millis, deliver func()) {
	w.pending++
	w.after(delay, func() {
		w.pending--
		deliver()
	})
}

// deliver hands the dispatcher a tick that Lambda accepted.
func (w *World) deliver(at Millis, spec *schema.Spec) {
	tick := tickID(at)
	var res engine.Result
	w.async(w.named("dispatcher ", tick), schema.DispatcherTimeout, func(p *process) error {
		d, err := engine.ScheduledDelivery(*spec, tick, p.now())
		if err != nil {
			return err
		}
		res, err = p.engine().Deliver(context.Background(), d)
		return err
	}, func(o outcome) {
		w.observe(observation{delivered: tick, result: &res, outcome: o})
	})
}

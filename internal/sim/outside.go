package sim

import (
	"context"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// outsideFault is something that people do behind the protocol's back: once the guard does what they
// wait for and some time has gone by, or in the moment between a decision and its effect.
type outsideFault struct {
	fault  Fault
	deed   func(*process) error // instead of a fault: what somebody then asks for
	state  State
	wait   Millis
	amid   bool
	effect Transition // of amid
	armed  bool
}

// planOutside draws what is going to be done to the job from outside.
func (w *World) planOutside() {
	for range w.rng.IntN(4) {
		w.outside = append(w.outside, w.lengthen(&outsideFault{
			fault:  []Fault{Aborted, GuardDeleted, RowDeleted, Redeployed, Redeployed, Removed}[w.rng.IntN(6)],
			state:  State(w.rng.IntN(int(stateCount))),
			wait:   w.between(0, 1)*w.between(0, 1_000) + w.between(0, 1)*w.between(0, 60_000),
			amid:   w.rng.IntN(4) == 0,
			effect: Transition(w.rng.IntN(int(transitionCount))),
		}))
	}
	if w.rng.IntN(12) == 0 { // for longer than any sender of a start lives
		w.refusedFrom = w.clock + w.between(0, 900_000)
		w.refusedUntil = w.refusedFrom + w.between(60_000, 600_000)
	}
}

// lengthen makes up for the ticks that a schedule does not have while it is removed.
func (w *World) lengthen(o *outsideFault) *outsideFault {
	if o.fault != Removed || w.away != 0 {
		return o
	}
	w.away = w.between(20_000, 150_000) + w.between(0, 1)*w.between(0, 600_000)
	s := *w.plan.Spec
	w.plan.Last += w.away
	w.plan.Until += w.away
	s.End = w.plan.Last.Time().Format(time.RFC3339)
	w.plan.Spec = &s
	if sched, err := engine.ScheduleOf(s); err == nil { // as that of any other end
		w.sched = sched
	}
	return o
}

// strikeOutside does what is due.
func (w *World) strikeOutside() {
	for _, o := range w.outside {
		if o.armed || o.amid || w.clock > w.faults.until || w.state() != o.state {
			continue
		}
		o.armed = true
		w.after(o.wait, func() { w.doOutside(o) })
	}
}

// strikeAmid does what is due before an effect that was decided on.
func (w *World) strikeAmid(t Transition) {
	for _, o := range w.outside {
		if o.amid && !o.armed && o.effect == t {
			o.armed = true
			w.doOutside(o)
		}
	}
}

func (w *World) doOutside(o *outsideFault) {
	if w.clock > w.faults.until {
		return
	}
	if o.deed != nil {
		w.ask(w.clock, o.deed)
		return
	}
	switch o.fault {
	case GuardDeleted:
		w.deleteGuard()
	case RowDeleted:
		w.deleteRow()
	case Redeployed:
		if spec := redeploy(w.rng, *w.plan.Spec); spec.Check() == nil && spec != *w.plan.Spec {
			w.faults.struck(o.fault)
			w.deploy(spec)
		}
	case Removed:
		if w.away != 0 {
			w.faults.struck(o.fault)
			w.remove()
		}
	case Aborted:
		for _, x := range w.history.open {
			if x.Status == machine.Running && x.phase != closed {
				w.faults.struck(o.fault)
				w.abort(x, "", "stopped by hand")
				return
			}
		}
	default: // no other is done by people
	}
}

// rows is how many ledger rows there are, as far as it matters: none, one, or more.
func (w *World) rows() int {
	page, err := w.mem.Rows(context.Background(), guard.RowQuery{Job: simJob, Limit: 2})
	if err != nil {
		return 0
	}
	return len(page.Rows)
}

package sim

import (
	"context"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// behaviour is what a run is going to do.
type behaviour struct {
	fault     Fault
	delay     Millis // until its work begins
	lasts     Millis // the work, if nobody stops it
	error     string // it ends with; empty for success
	broken    Millis // when the execution ends in States.Runtime; 0 is never
	beatDelay Millis // by which its first beat is held back
}

// work is what the job really does: it outlives its execution's end by up to the drain time,
// because stopping bookkeeping is not stopping work.
type work struct {
	x       *execution
	from    Millis
	ends    Millis // planned
	over    bool
	lingers bool // its execution, or its branch of it, has ended
}

func (w *World) beginWork(x *execution, b behaviour) {
	k := &work{x: x, from: w.clock, ends: w.clock + b.lasts}
	x.work = k
	w.observe(observation{began: k})
	w.write(k)
	if b.lasts > 1 && !w.faultless {
		w.after(w.between(1, b.lasts), func() { w.write(k) })
	}
	w.after(b.lasts, func() {
		// A chain's error leaves its other branches to be cancelled, a crash leaves nobody to
		// say that it is over: only success and a single task's own error end the work.
		if x.phase == working && (b.fault == RunFails || b.fault == RunCrashes) {
			w.faults.struck(b.fault)
		}
		if b.error == "" || b.fault == RunFails && !w.plan.Spec.Chain {
			w.endWork(k)
		}
		w.endJob(x, b.error, "")
	})
}

// cancelWork is what an end of the execution, or of its branch, means for the work.
func (w *World) cancelWork(x *execution) {
	k := x.work
	if k == nil || k.over || k.lingers {
		return
	}
	k.lingers = true
	if x.drain == 0 {
		w.endWork(k)
		return
	}
	w.after(w.between(0, x.drain), func() { w.endWork(k) })
}

func (w *World) endWork(k *work) {
	if k.over {
		return
	}
	w.write(k)
	k.over = true
	w.observe(observation{ceased: k})
}

// write is a write of the job's author, checked against the guard as the README tells: by run
// and fence, never by version. It tells the checks whether the write went through.
func (w *World) write(k *work) {
	if k.over || w.faultless {
		return
	}
	in := k.x.in
	err := w.mem.Commit(context.Background(), guard.Commit{Job: in.Job, Writes: []guard.Write{{
		SK: schema.GuardSK,
		If: []guard.Cond{{Field: "run.id", Op: guard.Is, Value: in.Run}, {Field: "fence", Op: guard.Is, Value: in.Fence}},
	}}})
	w.observe(observation{wrote: k, accepted: err == nil})
}

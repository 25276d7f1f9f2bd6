// Package sim holds Cronfence's protocol against everything that can go wrong: a world of one
// job in virtual time, made up from a seed, in which the engine of the real functions runs over
// models of EventBridge Scheduler, Lambda, Step Functions, status events and the job's work.
// Nothing the protocol decides is decided here.
//
// What runs is package engine whole and, of the handlers, what reads an end (settle.Reported and
// settle.Observed) and what a beat is told (heartbeat.Refusal). What stands around that does not:
// the check of an event and its JSON, log and metric lines, and the sentinel's list of schedules,
// pages of guards and resume points. `make soak` and `make chaos` run the handlers whole.
//
// A process is a coroutine that stands still at each of its effects. There the world may let
// any other act, crash it before or after the effect, lose the answer, throttle it, or hold it
// up until Lambda kills it; see [Fault] for what else goes wrong. What is not modelled, because
// the platform rules it out: a Lambda that sends anything after its timeout, and clocks
// further apart than the skew margin.
//
// After every step the promises I1 to I10, and the rules beside them, are checked on what was ever
// observed; see invariants. Equal seeds make equal worlds, to the millisecond.
package sim

import (
	"math/rand/v2"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Result is what one schedule came to.
type Result struct {
	Seed      uint64
	Violation *Violation // nil when every promise held
	Trace     []string   // when asked for
	Hits      int        // faults that took effect
	Ticks     int
}

// Run makes up the world of a seed and runs it to its end, or to the first broken promise.
// What it covered is added to coverage.
func (c *Crew) Run(seed uint64, coverage *Coverage, trace bool) Result {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	plan := draw(rng)
	w, err := newWorld(plan, rng)
	if err != nil {
		return Result{Seed: seed, Violation: &Violation{Invariant: "plan", What: err.Error()}}
	}
	w.crew, w.tracing = c, trace
	if trace {
		w.log("world", "%+v", plan.Spec)
	}
	w.faults = injector{w: w, every: []int{6, 12, 25, 60}[rng.IntN(4)], first: 1 + rng.IntN(12), until: plan.Calm}
	w.awsSkew = w.skew()
	w.planOutside()
	w.planPeople(plan.Calm)
	w.planNext(plan.From)
	w.planSweeps(plan.From + w.between(0, 59_000))
	w.run()
	if w.violation == nil {
		w.observe(observation{ended: true})
	}
	w.disband()
	w.coverage.Schedules++
	coverage.Add(w.coverage)
	return Result{Seed: seed, Violation: w.violation, Trace: w.trace, Hits: w.faults.hit, Ticks: w.coverage.Ticks}
}

func newWorld(plan Plan, rng *rand.Rand) (*World, error) {
	w := &World{
		plan: plan, rng: rng, clock: plan.From, mem: guard.NewMemory(), coverage: &Coverage{},
		executions: map[string]*execution{}, history: newHistory(),
	}
	w.faults.w = w
	if err := plan.Spec.Check(); err != nil {
		return nil, err
	}
	var err error
	w.sched, err = engine.ScheduleOf(*plan.Spec)
	return w, err
}

package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// margin is the largest difference between any two clocks, which the protocol allows for:
// no clock is off by more than half of it.
const margin = Millis(schema.SkewMargin / time.Millisecond)

// World is one job with its records, its executions and everything that happens to them.
type World struct {
	plan      Plan
	rng       *rand.Rand
	clock     Millis
	queue     queue
	mem       *guard.Memory
	guard     *guard.Guard // as it is in mem
	crew      *Crew
	pending   int  // deliveries and status events that are on their way
	atRest    bool // everything has come right
	faultless bool
	faults    injector
	coverage  *Coverage

	sched      schedule.Schedule
	executions map[string]*execution // by run
	awsSkew    Millis
	deployed   int    // how often the spec has changed, or the schedule was made anew
	removed    bool   // there is no schedule
	away       Millis // for how long it is going to be removed; 0 is never, or no more
	allowed    bool   // runs were once allowed beside each other
	tokens     int

	refusedFrom, refusedUntil Millis // StartExecution is refused for good
	acceptedAt                Millis // the last start
	refusing                  bool
	outside                   []*outsideFault

	history   history
	violation *Violation
	tracing   bool
	trace     []string
	seen      observation
	tally     func(*World, *observation) // of a simulation without faults
	overlaps  int                        // in it: broken promises of I1 and I9
	done      []remembered               // in it: ticks that are remembered, oldest first
}

// Violation is a promise that did not hold.
type Violation struct {
	Invariant string
	What      string
	At        Millis
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%s violated at %s: %s", v.Invariant, stamp(v.At), v.What)
}

func (w *World) violate(invariant, what string) {
	if w.faultless && invariant != "panic" {
		w.overlaps++
		return
	}
	if w.violation == nil {
		w.violation = &Violation{invariant, what, w.clock}
		if w.tracing {
			w.log("check", "VIOLATED %s: %s", invariant, what)
		}
	}
}

func (w *World) at(at Millis, do func()) { w.queue.add(event{at: max(at, w.clock), do: do}) }

func (w *World) after(d Millis, do func()) { w.at(w.clock+d, do) }

// run lets time go by until the end has come, everything has come right after the last tick,
// or a promise was broken.
func (w *World) run() {
	for w.violation == nil && !w.atRest {
		e, more := w.queue.next()
		if !more || e.at > w.plan.Until {
			w.clock = max(w.clock, w.plan.Until)
			return
		}
		w.clock = e.at
		switch {
		case e.wake == nil:
			e.do()
		case e.dies:
			e.wake.kill()
		default:
			e.wake.step()
		}
		w.strikeOutside()
	}
}

// disband ends the processes that still stand somewhere, so that others may have their
// coroutines.
func (w *World) disband() {
	for _, e := range w.queue.heap {
		if e.wake != nil {
			e.wake.done = nil
			e.wake.kill()
		}
	}
}

// observe hands what just happened to the checks.
func (w *World) observe(o observation) {
	o.at = w.clock
	w.seen = o // nobody keeps it: one place serves all observations
	w.history.check(w, &w.seen)
	if w.tally != nil {
		w.tally(w, &w.seen)
		w.trim(&w.seen)
	}
}

// token is new for every decision.
func (w *World) token() string {
	w.tokens++
	return "t" + strconv.Itoa(w.tokens)
}

// skew draws a clock. A schedule's clocks are all right, or each at either end of the bound,
// or anywhere between.
func (w *World) skew() Millis {
	switch {
	case w.faultless || w.clock > w.faults.until:
		return 0
	case w.plan.skew == skewEnds:
		return margin/2 - margin*Millis(w.rng.IntN(2))
	case w.plan.skew == skewAny:
		return w.between(-margin/2, margin/2)
	}
	return 0
}

// latency is how long a request or an answer is on its way.
func (w *World) latency() Millis {
	switch {
	case w.faultless:
		return 0
	case w.rng.IntN(20) == 0:
		return w.between(50, 3_000)
	}
	return w.between(2, 40)
}

// between draws an instant or a duration, both ends included.
func (w *World) between(lo, hi Millis) Millis { return lo + Millis(w.rng.Int64N(int64(hi-lo)+1)) }

// jitter is Step Functions' full jitter: anything between nothing and the delay.
func (w *World) jitter(d time.Duration) Millis { return w.between(0, Millis(d.Milliseconds())) }

// log adds a line to the trace.
func (w *World) log(who, format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%s %-28s %s", stamp(w.clock), who, fmt.Sprintf(format, args...)))
}

func stamp(m Millis) string { return m.Time().Format("15:04:05.000") }

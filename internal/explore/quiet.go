package explore

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// quiet lets a state in which nothing more is named come to rest: whatever a fault held back
// arrives, the sentinel sweeps at every instant, every run succeeds at once, nothing more goes
// wrong. Then no job may be blocked, every tick must be on record with one final outcome, and
// the next tick must start: I4, I6, I8 and I10 in the long run. It returns the steps it took.
func (x *explorer) quiet(s state) (path []successor, broken string) {
	accounted := x.ticks[x.cfg.Ticks-1].at + Millis(x.spec.Window().Milliseconds()) + 2*margin
	for range maxRounds {
		if !x.calm.add(s.hash()) { // another path came by here, and all was well
			return path, ""
		}
		if path, broken = x.settleDown(&s, path); broken != "" {
			return path, broken
		}
		to := x.nextInstant(&s)
		if to == 0 && s.clock < accounted {
			to = accounted
		}
		if to == 0 {
			return x.atRest(s, path)
		}
		s = x.at(s, to)
		path = append(path, successor{move: move{verb: doAdvance, to: to}, state: s})
	}
	return path, "I6: it does not come to rest"
}

// maxRounds is more named instants than any model has.
const maxRounds = 100

// settleDown does everything that is to be done at this instant, one call after the other,
// and sweeps in the end until a sweep changes nothing.
func (x *explorer) settleDown(s *state, path []successor) ([]successor, string) {
	for before := s.hash(); ; before = s.hash() {
		for {
			next, ok := x.quietMove(s, true)
			if !ok {
				break
			}
			if path = append(path, next); next.broken != "" {
				return path, next.broken
			}
			*s = next.state
		}
		next, ok := x.quietMove(s, false)
		for ; ok; next, ok = x.quietMove(s, true) {
			if path = append(path, next); next.broken != "" {
				return path, next.broken
			}
			*s = next.state
		}
		if s.hash() == before {
			return path, ""
		}
	}
}

// quietMove picks the first move that is no fault. A new sweep is one only if nothing else is
// to be done.
func (x *explorer) quietMove(s *state, work bool) (successor, bool) {
	for _, m := range x.successors(s) {
		sweeps := m.move.node != nil && m.move.node.call.kind == kindSweep && m.move.node.parent == nil
		if m.move.fault == NoFault && m.move.verb != doAdvance && sweeps != work {
			return m, true
		}
	}
	return successor{}, false
}

func (x *explorer) atRest(s state, path []successor) ([]successor, string) {
	g := s.recs.guard
	switch {
	case g == nil || !g.Ready:
		return path, "I6: the guard is not ready"
	case g.Run != nil:
		return path, fmt.Sprintf("I6: %s still holds the guard", shortRun(g.Run.ID))
	case g.Waiting != nil:
		return path, "I6: a tick waits and nobody holds the guard"
	}
	for i := range x.ticks[:x.cfg.Ticks] {
		over, missed := s.past.finals[i], x.missed(&s, i)
		switch {
		case s.past.exempt[i]:
		case over != 0 && missed:
			return path, fmt.Sprintf("I4: T%d is %s and in a gap", i+1, over)
		case over == 0 && !missed && !x.unexpected(g, i):
			return path, fmt.Sprintf("I4: T%d has no final outcome", i+1)
		case int(s.faults) == x.cfg.Faults && !undisturbed(outcomes[over]):
			return path, fmt.Sprintf("I10: nothing went wrong, and T%d is %q", i+1, over)
		}
	}
	for _, r := range s.recs.rows {
		if !r.Outcome.Final() {
			return path, fmt.Sprintf("I4: the row of %s stays %s", shortTick(r.Tick), r.Outcome)
		}
	}
	return x.probe(s, path)
}

// unexpected tells whether a guard made anew expects the tick no more: expectation begins
// when it was made, and what never came before leaves no record.
func (x *explorer) unexpected(g *record, i int) bool { return x.ticks[i].at < g.SpecSince }

// undisturbed tells whether an outcome is one that a tick may have when nothing goes wrong.
func undisturbed(o guard.Outcome) bool {
	switch o {
	case guard.Aborted, guard.LeaseLost, guard.Abandoned, guard.Missed, guard.Failed, "":
		return false
	default:
		return true
	}
}

// probe delivers one more tick, long after: it must run.
func (x *explorer) probe(s state, path []successor) ([]successor, string) {
	i := x.cfg.Ticks
	s.clock = x.ticks[i].at
	s.todo = x.todos.with(x.todos.empty(), todo{kind: kindDeliver, tick: i, due: s.clock})
	s.faults = 0
	for range maxRounds {
		next, ok := x.quietMove(&s, true)
		if !ok {
			break
		}
		path = append(path, next)
		if s = next.state; next.broken != "" {
			return path, next.broken
		}
		if _, r := s.execution(schema.RunID(job, x.ticks[i].id, 1)); r != nil {
			return path, ""
		}
	}
	return path, "I6: the next tick does not start"
}

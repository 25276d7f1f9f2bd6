package explore

import (
	"math"

	"github.com/cronfence/cronfence/pkg/guard"
)

// advance moves the clock to the next named instant. Between two of them nothing that any
// decision compares with the clock changes, so that whatever can happen there can happen at the
// first of them as well; see the package's doc.
func (x *explorer) advance(s *state) {
	to := x.nextInstant(s)
	if to == 0 {
		return
	}
	x.emit(move{verb: doAdvance, to: to}, x.at(*s, to), "")
}

// at returns the state at a later instant. Sleeping calls whose process' time is over are killed.
func (x *explorer) at(s state, to Millis) state {
	s.clock = to
	calls := s.calls.all
	s.calls = x.calls.empty()
	var dead []call
	for _, c := range calls {
		if c.node.call.begun+timeout <= to {
			dead = append(dead, c.node.call)
			continue
		}
		c.rest = sleeping
		s.calls = x.calls.with(s.calls, c)
	}
	for _, c := range dead {
		s = x.died(s, c)
	}
	if x.cfg.full {
		return s
	}
	for i, r := range s.runs.all {
		if after := r.settled(to, Millis(x.spec.Drain().Milliseconds())); after != r.executionState {
			s.runs = x.runs.replaced(s.runs, i, x.internExecution(after))
		}
	}
	if g := s.recs.guard; g != nil && g.DrainUntil != 0 && g.DrainUntil+4*margin < to {
		v := g.Guard // a drain that is over by every clock is no drain
		v.DrainUntil = 0
		s.recs = x.internRecords(x.internGuard(&v), s.recs.rows, s.recs.gaps)
	}
	return x.tidy(s, call{})
}

// nextInstant is the next named instant, 0 when there is none: everything has come to rest.
func (x *explorer) nextInstant(s *state) Millis {
	next := Millis(math.MaxInt64)
	name := func(instants ...Millis) {
		for _, t := range instants {
			if t > s.clock && t < next {
				next = t
			}
		}
	}
	for _, t := range s.todo.all {
		if !t.held {
			name(t.due)
		}
	}
	for _, c := range s.calls.all {
		name(c.node.call.begun + timeout - second)
	}
	for _, r := range s.runs.all {
		if r.phase == working {
			name(r.beatDue(x.spec), r.timesOut(x.spec))
		}
	}
	if g := s.recs.guard; g != nil {
		x.nameGuard(s, g, name)
	}
	if next == math.MaxInt64 {
		return 0
	}
	return next
}

// nameGuard names the instants that decisions compare the clock with: each a second before and
// a second after, where both matter.
func (x *explorer) nameGuard(s *state, g *record, name func(...Millis)) {
	around := func(t Millis) { name(t-second, t+second) }
	switch {
	case !g.Ready:
		name(g.ReadyAt + margin + second)
		return
	case g.Run != nil:
		around(g.LeaseUntil + margin)
		if _, r := s.execution(g.Run.ID); r == nil {
			name(g.Run.At + timeout + second) // the sentinel starts it from then on
			around(g.StartBy - timeout)       // and nobody from then on
			around(g.StartBy + margin)        // it is given up from then on
			if row := s.recs.row(g.Run.Tick); row != nil && row.Outcome == guard.Running {
				name(row.NotBefore + second)
			}
		}
	case g.DrainUntil != 0:
		around(g.DrainUntil + margin)
	}
	if g.Waiting != nil {
		around(g.Waiting.Deadline)
	}
	if g.Stop != nil {
		overdue := g.StopDeadline + margin
		if x.spec.Beats {
			overdue += Millis(x.spec.RenewalSeconds) * second
		}
		name(g.StopDeadline+second, overdue+second)
	}
}

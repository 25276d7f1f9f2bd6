package explore

import (
	"slices"

	"github.com/cronfence/cronfence/pkg/guard"
)

// executions lets what runs end, at any instant, and makes it end when its time is over.
func (x *explorer) executions(s *state) {
	for i, r := range s.runs.all {
		if r.phase == closed {
			continue
		}
		if r.phase == working {
			if s.clock >= r.timesOut(x.spec) {
				x.blocking = true
				x.becomes(s, move{verb: doTimeOut, run: r}, i, r.finish("States.Timeout", s.clock))
			} else {
				x.becomes(s, move{verb: doSucceed, run: r}, i, r.finish("", s.clock))
				if x.allows(s, RunCrashes) {
					x.becomes(s, move{verb: doFault, fault: RunCrashes, run: r}, i, r.finish("Lambda.Unknown", s.clock))
				}
			}
			if !r.beatHeld && r.beatDue(x.spec) != 0 && r.beatDue(x.spec) <= s.clock && x.allows(s, BeatLate) && !s.calling(kindBeat, r.run) {
				held := r.executionState
				held.beatHeld = true
				x.becomes(s, move{verb: doFault, fault: BeatLate, run: r}, i, held)
			}
		}
		if x.allows(s, Aborted) {
			st := *s
			x.closed(&st, i, r.abort("", s.clock))
			x.emit(move{verb: doFault, fault: Aborted, run: r}, st, "")
		}
		if r.phase == settling && !s.calling(kindReport, r.run) && x.allows(s, SettleLost) {
			st := *s
			x.closed(&st, i, r.close(s.clock))
			x.emit(move{verb: doFault, fault: SettleLost, run: r}, st, "")
		}
	}
}

func (x *explorer) becomes(s *state, m move, i int, after executionState) {
	st := *s
	st.runs = x.runs.replaced(s.runs, i, x.internExecution(after))
	x.emit(m, st, "")
}

// outside lets the faults strike that nobody of ours makes.
func (x *explorer) outside(s *state) {
	if s.faults == 0 {
		return
	}
	x.invocations(s)
	x.twice(s)
	if s.recs.guard != nil && x.allowed[GuardDeleted] && x.mayLoseGuard(s) {
		st := *s
		st.past.forgetGuard(s.recs.guard)
		st.recs = x.internRecords(nil, s.recs.rows, s.recs.gaps)
		x.emit(move{verb: doFault, fault: GuardDeleted}, st, "")
	}
	if !x.allowed[RowDeleted] {
		return
	}
	for i, r := range s.recs.rows {
		if !x.mayLoseRow(s, r) {
			continue
		}
		st := *s
		st.past.forgetRow(x.tickIndex(r.Tick), s.recs.guard, r)
		st.recs = x.internRecords(s.recs.guard, slices.Delete(slices.Clone(s.recs.rows), i, i+1), s.recs.gaps)
		x.emit(move{verb: doFault, fault: RowDeleted, tick: r.Tick}, st, "")
	}
}

// invocations lets those that are due be late, or never come.
func (x *explorer) invocations(s *state) {
	for i, t := range s.todo.all {
		if t.held || t.due > s.clock {
			continue
		}
		late, never := TickLate, TickDropped
		m := move{verb: doFault, run: t.run}
		if t.kind == kindStatus {
			late, never = EventLate, EventDropped
		} else {
			m.tick = x.ticks[t.tick].id
		}
		if x.allowed[late] {
			st := *s
			t.held = true
			st.todo = x.todos.replaced(s.todo, i, t)
			m.fault = late
			x.emit(m, st, "")
		}
		if x.allowed[never] && (t.kind == kindStatus || !x.accepted(s, t.tick)) {
			st := *s
			st.todo = x.todos.without(s.todo, i)
			m.fault = never
			x.emit(m, st, "")
		}
	}
}

// accepted tells whether a delivery of the tick was made before: Lambda drops none then.
func (x *explorer) accepted(s *state, tick int) bool { return s.clock > x.ticks[tick].at }

// twice delivers a tick that was delivered before once more.
func (x *explorer) twice(s *state) {
	if !x.allowed[TickTwice] {
		return
	}
	for i, t := range x.ticks[:x.cfg.Ticks] {
		if t.at > s.clock || slices.ContainsFunc(s.todo.all, func(t todo) bool { return t.kind == kindDeliver && t.tick == i }) {
			continue
		}
		again := 1
		for _, c := range s.calls.all {
			if c.node.call.kind == kindDeliver && c.node.call.tick == i {
				again = max(again, c.node.call.again+1)
			}
		}
		n := x.root(call{kind: kindDeliver, tick: i, begun: s.clock, again: again})
		st, ans, broken := x.perform(*s, n, false)
		x.emit(move{verb: doEffect, fault: TickTwice, node: n}, x.answered(st, n, ans, &broken), broken)
	}
}

// mayLoseGuard tells whether the design says what follows: with the guard gone, and no row
// of a run that may be going on, nothing on earth tells the job from one that never ran.
func (x *explorer) mayLoseGuard(s *state) bool {
	for _, r := range s.runs.all {
		if r.phase != closed && s.recs.row(r.in.Tick) == nil {
			return false
		}
	}
	g := s.recs.guard
	return (g.Run == nil || s.recs.row(g.Run.Tick) != nil) && (len(s.recs.rows) > 0 || len(s.runs.all) == 0)
}

// mayLoseRow is the same the other way round: while there is no guard, or none that is sure
// yet of what runs, the rows alone speak for it.
func (x *explorer) mayLoseRow(s *state, r *row) bool {
	g := s.recs.guard
	switch {
	case g == nil || !g.Ready:
		return r.Outcome.Final() && len(s.recs.rows) > 1
	case r.Outcome == guard.Running:
		return g.Run != nil && g.Run.ID == r.Run && g.Fence == r.Fence
	}
	return true
}

// forgetRow is told that a row is deleted. The guard still speaks for its holder, for the tick
// that waits and for every tick up to LastTick; for any other nothing does.
func (p *past) forgetRow(i int, g *record, r *row) {
	if g != nil && (g.Run != nil && g.Run.Tick == r.Tick || g.Waiting != nil && g.Waiting.Tick == r.Tick || r.Outcome.Final() && g.LastTick >= r.At) {
		p.deleted[i] = true
		return
	}
	p.exempt[i], p.finals[i] = true, 0
}

// forgetGuard is told that the guard is deleted: rows deleted before lose their witness.
func (p *past) forgetGuard(g *record) {
	for i, d := range p.deleted {
		if d {
			p.exempt[i], p.deleted[i], p.finals[i] = true, false, 0
		}
	}
	if g.Run != nil {
		p.orphan = g.Fence
	}
}

func (x *explorer) tickIndex(id string) int {
	return slices.IndexFunc(x.ticks, func(t tick) bool { return t.id == id })
}

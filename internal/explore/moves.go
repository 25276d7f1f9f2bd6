package explore

import (
	"github.com/cronfence/cronfence/pkg/guard"
)

// move is one thing that can happen next.
type move struct {
	verb  verb
	fault Fault
	node  *node // of a call's move
	run   *execution
	tick  string
	to    Millis
	// survives says that the run's machine had made its invocation just before.
	survives bool
}

type verb uint8

const (
	doEffect verb = iota // a call makes its next effect
	doHear               // a late answer arrives
	doSucceed
	doTimeOut
	doFault // from outside; fault says which
	doAdvance
)

// successor is a state that can come next, and what is wrong with getting there.
type successor struct {
	move   move
	state  state
	broken string
}

// ready is a call that may make its next effect: one under way, or one that is to be made.
type ready struct {
	node *node
	rest state // the state without it
	root bool
	late *heard
}

// successors returns everything that can happen next, in an order that depends on the state alone.
func (x *explorer) successors(s *state) []successor {
	x.out = x.out[:0]
	x.blocking, x.from = false, s
	x.eachReady(s, func(r ready) {
		if r.late != nil {
			x.hear(r)
			return
		}
		x.effects(s, r)
	})
	x.executions(s)
	x.outside(s)
	if !x.blocking {
		x.advance(s)
	}
	return x.out
}

func (x *explorer) emit(m move, s state, broken string) {
	if m.fault != NoFault {
		s.faults--
	}
	x.out = append(x.out, successor{m, x.spent(s), broken})
	if s.runs != x.from.runs && broken == "" {
		if st, some := x.survivors(s); some {
			m.survives = true
			x.out = append(x.out, successor{m, x.spent(st), ""})
		}
	}
}

// spent drops the beats that can do and tell nothing any more: their run has ended, so nobody
// hears of the answer; gone through with now they change nothing; and what they would write asks
// for a fence that the guard does not have and, by I2, will never have again.
func (x *explorer) spent(s state) state {
	for i := len(s.calls.all) - 1; i >= 0; i-- {
		n := s.calls.all[i].node
		if n.call.kind != kindBeat {
			continue
		}
		_, r := s.execution(n.call.run.run)
		if r.phase != working && (!n.next.changes() || neverAgain(n.next, s.recs.guard)) && x.idle(s, n) {
			s.calls = x.calls.without(s.calls, i)
		}
	}
	return s
}

// idle tells whether the rest of a call, gone through with at once, changes no record.
func (x *explorer) idle(s state, n *node) bool {
	for n.next != nil {
		after, a, _ := x.perform(s, n, false)
		if after.recs != s.recs || after.runs != s.runs {
			return false
		}
		n = x.child(n, step{a, s.clock})
	}
	return true
}

// neverAgain tells whether a commit asks for another fence than the guard's.
func neverAgain(e *effect, g *record) bool {
	for _, w := range e.commit.Writes {
		for _, c := range w.If {
			if c.Field == "fence" && c.Op == guard.Is && (g == nil || g.Fence != c.Value) && len(e.commit.Writes) == 1 {
				return true
			}
		}
	}
	return false
}

// survivors returns the state in which the invocations that a run had coming were made just
// before it ended: ending it does not call them back.
func (x *explorer) survivors(s state) (_ state, some bool) {
	for _, before := range x.from.runs.all {
		_, after := s.execution(before.run)
		c, coming := x.coming(x.from, before)
		if coming && after.phase != before.phase && !s.calling(c.kind, c.run.run) {
			s.calls = x.calls.with(s.calls, inflight{node: x.root(c)})
			some = true
		}
	}
	return s, some
}

// coming is the invocation that a run's machine is about to make.
func (x *explorer) coming(s *state, r *execution) (_ call, is bool) {
	due := r.beatDue(x.spec)
	switch {
	case r.phase == settling:
		is = !s.calling(kindReport, r.run)
		return call{kind: kindReport, run: r, begun: s.clock}, is
	case due != 0 && (due <= s.clock || r.beatHeld):
		is = !s.calling(kindBeat, r.run)
		return call{kind: kindBeat, run: r, begun: s.clock}, is
	}
	return call{}, false
}

// eachReady yields every call that may go on. What is due and not held back keeps time from
// going by, and so does every call that no fault has put to sleep. An invocation that is due
// is the same as one that is made and stands before its first effect: it has no state of its own.
func (x *explorer) eachReady(s *state, yield func(ready)) {
	dispatchers, sweeping := 0, false
	for i, c := range s.calls.all {
		switch c.node.call.kind {
		case kindDeliver:
			dispatchers++
		case kindSweep:
			sweeping = sweeping || c.rest == awake
		case kindReport, kindStatus, kindBeat:
		}
		if c.rest == stunned {
			continue
		}
		x.blocking = x.blocking || c.rest == awake
		rest := *s
		rest.calls = x.calls.without(s.calls, i)
		yield(ready{node: c.node, rest: rest, late: c.late})
	}
	for i, t := range s.todo.all {
		if !t.held && t.due > s.clock {
			continue
		}
		x.blocking = x.blocking || !t.held
		if t.kind == kindDeliver && dispatchers == 2 {
			continue
		}
		rest := *s
		rest.todo = x.todos.without(s.todo, i)
		yield(ready{node: x.root(call{kind: t.kind, tick: t.tick, run: t.run, begun: s.clock}), rest: rest, root: true})
	}
	for _, r := range s.runs.all {
		if c, coming := x.coming(s, r); coming {
			x.blocking = x.blocking || !r.beatHeld
			yield(ready{node: x.root(c), rest: *s, root: true})
		}
	}
	if !sweeping {
		yield(ready{node: x.root(call{kind: kindSweep, begun: s.clock}), rest: *s, root: true})
	}
}

// calling tells whether a call of this kind is under way for a run.
func (s *state) calling(k kind, run string) bool {
	for _, c := range s.calls.all {
		if c.node.call.kind == k && c.node.call.run.run == run {
			return true
		}
	}
	return false
}

// effects lets a call make its next effect, well and with every fault that is left.
func (x *explorer) effects(s *state, r ready) {
	x.effect(r, NoFault)
	if s.faults == 0 {
		return
	}
	for _, f := range []Fault{Crash, Busy, LostAnswer, Repeated, Paused, LateAnswer, StaleLook, StopDenied, StartRefused} {
		if x.allowed[f] {
			x.effect(r, f)
		}
	}
	if !r.root {
		return
	}
	x.skewed(r, FastClock, skew)
	x.skewed(r, SlowClock, -skew)
}

// skewed makes the call with a clock that is off, up to its first effect.
func (x *explorer) skewed(r ready, f Fault, by Millis) {
	if !x.allowed[f] {
		return
	}
	c := r.node.call
	c.skew = by
	n := x.root(c)
	st, ans, broken := x.perform(r.rest, n, false)
	x.emit(move{verb: doEffect, fault: f, node: n}, x.answered(st, n, ans, &broken), broken)
}

func (x *explorer) effect(r ready, f Fault) {
	m, n, e := move{verb: doEffect, fault: f, node: r.node}, r.node, r.node.next
	switch f {
	case NoFault:
		st, ans, broken := x.perform(r.rest, n, false)
		x.emit(m, x.answered(st, n, ans, &broken), broken)
	case Crash:
		x.emit(m, x.died(r.rest, n.call), "")
	case Paused:
		st := r.rest
		st.calls = x.calls.with(st.calls, inflight{node: n, rest: stunned})
		x.emit(m, st, "")
	case LateAnswer:
		st, ans, broken := x.perform(r.rest, n, false)
		st.calls = x.calls.with(st.calls, inflight{node: n, late: x.internAnswer(ans), rest: stunned})
		x.emit(m, st, broken)
	case Repeated:
		if !e.changes() || e.op == opStop { // stopping twice is stopping once
			return
		}
		st, ans, broken := x.perform(r.rest, n, true)
		if ans.err != nil {
			return
		}
		st.calls = x.calls.with(st.calls, inflight{node: n})
		x.emit(m, st, broken)
	case LostAnswer:
		if !e.changes() {
			return
		}
		st, _, broken := x.perform(r.rest, n, false)
		x.emit(m, x.answered(st, n, answer{err: errLost, injected: true}, &broken), broken)
	default:
		if ans, ok := x.wrongAnswer(&r.rest, e, f); ok {
			st, broken := r.rest, ""
			if f == StartRefused {
				st.past.refused = x.inputOf(e.input).Fence
			}
			x.emit(m, x.answered(st, n, ans, &broken), broken)
		}
	}
}

// wrongAnswer is the answer to an effect that did not happen.
func (x *explorer) wrongAnswer(s *state, e *effect, f Fault) (answer, bool) {
	switch {
	case f == Busy && !e.ofMachine():
		return answer{err: guard.ErrBusy, injected: true}, true
	case f == Busy:
		return answer{err: errLost, injected: true}, true
	case f == StopDenied && e.op == opStop:
		return answer{err: errDenied, injected: true}, true
	case f == StartRefused && e.op == opStart:
		return answer{err: errRefused, injected: true}, true
	case f == StaleLook && e.op == opDescribe:
		return x.staleLook(s, e.run)
	}
	return answer{}, false
}

// hear lets a late answer arrive.
func (x *explorer) hear(r ready) {
	broken := ""
	x.emit(move{verb: doHear, node: r.node}, x.answered(r.rest, r.node, r.late.answer, &broken), broken)
}

package explore

import (
	"slices"
	"strings"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// errRefused is a start that will never be accepted.
var errRefused error = machine.ErrPermanent

// perform lets the node's effect happen and holds it against the invariants.
func (x *explorer) perform(s state, n *node, keepToken bool) (_ state, a answer, broken string) {
	switch e := n.next; e.op {
	case opCommit:
		before := s.recs
		c := x.cached(before, n, keepToken)
		s.recs, a = c.after, c.answer
		if s.recs != before {
			broken = x.checkCommit(&s, before, n)
		}
	case opGuard:
		a.guard = s.recs.guard
	case opRow:
		a.row = s.recs.row(e.tick)
	case opRows:
		a.rows = x.query(s.recs, e.query)
	case opGuards:
		a.guard = s.recs.guard
	case opStart:
		a, broken = x.start(&s, e)
	case opDescribe:
		a = x.describe(&s, e.run)
	case opStop:
		x.stop(&s, e)
	}
	return s, a, broken
}

// cached commits, or remembers what the same commit to the same records came to.
func (x *explorer) cached(before *records, n *node, keepToken bool) committed {
	if keepToken {
		return x.commit(before, n.next.commit, true)
	}
	c, ok := n.commits[before]
	if !ok {
		if n.commits == nil {
			n.commits = map[*records]committed{}
		}
		c = x.commit(before, n.next.commit, false)
		n.commits[before] = c
		if x.cfg.hook.committed != nil {
			x.cfg.hook.committed(before, n.next.commit, c)
		}
	}
	return c
}

func (x *explorer) start(s *state, e *effect) (a answer, broken string) {
	if _, r := s.execution(e.run); r != nil {
		if r.phase == closed || r.input != e.input {
			a.err = machine.ErrExists
		}
		return a, ""
	}
	in := x.inputOf(e.input)
	if s.past.refused == in.Fence {
		return answer{err: errRefused, injected: true}, ""
	}
	r := x.internExecution(executionState{run: e.run, input: e.input, in: in, status: machine.Running, startedAt: s.clock})
	broken = x.checkStart(s, r)
	s.runs = x.runs.with(s.runs, r)
	return a, broken
}

func (x *explorer) describe(s *state, run string) answer {
	_, r := s.execution(run)
	if r == nil {
		return answer{err: machine.ErrNotFound}
	}
	return answer{sight: x.internSight(r.sight())}
}

// staleLook is an eventually consistent answer: within the margin an execution that has begun
// may not be known yet, and one that has ended may seem to run.
func (x *explorer) staleLook(s *state, run string) (answer, bool) {
	_, r := s.execution(run)
	switch {
	case r == nil:
		return answer{}, false
	case s.clock <= r.startedAt+margin:
		return answer{err: machine.ErrNotFound, injected: true}, true
	case r.phase == closed && s.clock <= r.stoppedAt+margin:
		before := r.executionState
		before.phase, before.status = settling, machine.Running
		return answer{sight: x.internSight(before.sight()), injected: true}, true
	}
	return answer{}, false
}

func (x *explorer) stop(s *state, e *effect) {
	if i, r := s.execution(e.run); r != nil && r.phase != closed {
		x.closed(s, i, r.abort(e.error, s.clock))
	}
}

// closed puts an execution on record that has ended, and its status event on its way.
func (x *explorer) closed(s *state, i int, after executionState) {
	r := x.internExecution(after)
	s.runs = x.runs.replaced(s.runs, i, r)
	s.todo = x.todos.with(s.todo, todo{kind: kindStatus, run: r, due: s.clock})
}

// answered gives a call its answer. broken is added to if the call ends as it must not.
func (x *explorer) answered(s state, n *node, a answer, broken *string) state {
	next := x.child(n, step{a, s.clock})
	if next.next != nil {
		s.calls = x.calls.with(s.calls, inflight{node: next})
		return s
	}
	if what := x.checkEnd(&s, next); *broken == "" {
		*broken = what
	}
	x.ended(&s, next)
	return x.tidy(s, next.call)
}

// ended does what an invocation's end means for whoever made it.
func (x *explorer) ended(s *state, n *node) {
	c, failed := n.call, n.result.err != nil
	i, r := -1, (*execution)(nil)
	if c.run != nil {
		i, r = s.execution(c.run.run)
	}
	switch {
	case failed:
		*s = x.died(*s, c)
	case c.kind == kindReport && r.phase == settling:
		x.closed(s, i, r.close(s.clock))
	case c.kind == kindBeat && r.phase == working:
		after := r.executionState
		after.beats++
		after.beatHeld = false
		if name := refusalName(n.result.renewal); name != "" {
			after = after.finish(name, s.clock)
		}
		s.runs = x.runs.replaced(s.runs, i, x.internExecution(after))
	}
}

// refusalName is the typed error that the heartbeat returns for an answer; empty to go on.
func refusalName(r guard.Renewal) string {
	switch r {
	case guard.LostLease:
		return schema.ErrorLeaseLost
	case guard.HadMaxTime:
		return schema.ErrorMaxRunTime
	case guard.AskedToStop:
		return schema.ErrorStop
	case guard.Renewed, guard.Ending:
	}
	return ""
}

// died is an invocation that ended without a word, or with an error. Lambda makes a delivery
// or a status event again after a minute; the machine repeats its settle step and its beat at
// once, which are due as long as they are not done; the sentinel comes again anyway.
func (x *explorer) died(s state, c call) state {
	if c.again == 0 && (c.kind == kindDeliver || c.kind == kindStatus) {
		s.todo = x.todos.with(s.todo, todo{kind: c.kind, tick: c.tick, run: c.run, due: s.clock + minute})
	}
	return x.tidy(s, c)
}

// tidy makes states equal that differ in what nobody can tell apart any more, once a call is
// over: its token, which only it looks for, and - when no call is under way that could have
// seen it - the guard's version. A version below the clock that no call remembers is compared
// with nothing but the clock and the fences: it may as well be the highest fence.
func (x *explorer) tidy(s state, c call) state {
	if x.cfg.full {
		return s
	}
	recs := s.recs
	if slices.ContainsFunc(recs.rows, func(r *row) bool { return r.Token != "" }) {
		rows := slices.Clone(recs.rows)
		for i, r := range rows {
			if r.Token != "" && strings.HasPrefix(r.Token, tokenPrefix(c)) {
				v := r.Row
				v.Token = ""
				rows[i] = x.internRow(v)
			}
		}
		recs = x.internRecords(recs.guard, rows, recs.gaps)
	}
	if g := recs.guard; len(s.calls.all) == 0 && g != nil && g.Version < int64(s.clock-skew) && g.Version > s.past.fence && s.past.fence > 0 {
		v := g.Guard
		v.Version = s.past.fence
		recs = x.internRecords(x.internGuard(&v), recs.rows, recs.gaps)
	}
	s.recs = recs
	return s
}

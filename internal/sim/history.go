package sim

import (
	"slices"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// observation is one thing that happened. What is set says what it was.
type observation struct {
	at Millis
	by *process // whose effect it was, if any

	commit                *guard.Commit
	is                    Transition // the commit
	before, after         *guard.Guard
	rowsBefore, rowsAfter []*guard.Row // in the order of the commit's row writes

	started *execution // it came to be
	stopped *execution // StopExecution was called and is about to take effect
	closed  *execution // it ended
	told    *execution // the heartbeat refused to renew, with this typed error
	answer  string

	began, ceased *work
	wrote         *work
	accepted      bool

	delivered string // the tick whose last invocation is over
	result    *engine.Result
	outcome   outcome

	swept bool   // a sweep is over: its outcome is known, and the guard before and after it
	since Millis // when it began
	ended bool   // of the schedule: everything must have come right
}

// runRecord is what the history knows of one run: whoever acquired the guard, or runs beside.
type runRecord struct {
	run      string
	fence    int64
	tick     string
	at       Millis
	shared   bool
	allowed  bool   // it was given the guard under policy Allow, beside runs of its kind
	lease    Millis // as last granted
	marked   bool
	askedBy  Millis // the deadline of a stop request; 0 is none
	orphaned bool   // its guard was deleted under it
	left     bool   // it is off the guard, or its row is final
	x        *execution
}

// history is what was ever observed of the job. Deleting a row or the guard takes nothing
// from it.
type history struct {
	expected []Millis          // planned instants that were due
	runs     []*runRecord      // that may still matter, in the order of their fences
	open     []*execution      // not ended
	working  []*work           // not over
	finals   map[string]final  // by tick
	opened   map[string]Millis // ticks with a row that is not final, and since when
	gone     map[string]Millis // ticks whose row somebody deleted, with their instants
	queued   map[string]bool
	accepted map[string]bool // ticks whose delivery must have left a record

	deadlines map[Millis]Millis // start deadlines by planned instant, as the schedule's input had it
	stirred   Millis            // when a backlog last moved, or something held it up

	fence   int64  // the highest ever given
	held    Millis // when the guard was last held, or runs beside each other alive
	written int64  // the highest that a write of the job carried and was let through
	gaps    []gap
	// exempted are ticks whose every witness somebody deleted; see forgetRow.
	exempted map[string]bool
}

type final struct {
	outcome guard.Outcome
	endedAt Millis
	fence   int64
}

func newHistory() history {
	return history{
		finals: map[string]final{}, opened: map[string]Millis{}, gone: map[string]Millis{},
		queued: map[string]bool{}, accepted: map[string]bool{}, exempted: map[string]bool{}, deadlines: map[Millis]Millis{},
	}
}

// check holds what happened against every promise, then takes it in.
func (h *history) check(w *World, o *observation) {
	checked := invariants
	if w.faultless { // which can only show what overlaps
		checked = overlaps
	}
	for _, inv := range checked {
		if what := inv.broken(h, w, o); what != "" {
			w.violate(inv.name, what)
		}
	}
	h.learn(w, o)
}

func (h *history) learn(w *World, o *observation) {
	switch {
	case o.commit != nil:
		w.coverage.commits[o.is]++
		h.learnGuard(w, o)
		for _, g := range gapsOf(*o.commit) { // a gap that grows is written anew
			h.gaps = append(slices.DeleteFunc(h.gaps, func(old gap) bool { return old.from == g.from }), g)
		}
		for i, row := range o.rowsAfter {
			h.learnRow(o.at, o.rowsBefore[i], row)
		}
	case o.started != nil:
		h.open = append(h.open, o.started)
		if r := h.byFence(o.started.in.Fence); r != nil {
			r.x = o.started
		}
	case o.closed != nil:
		h.open = slices.DeleteFunc(h.open, func(x *execution) bool { return x == o.closed })
	case o.began != nil:
		h.working = append(h.working, o.began)
	case o.ceased != nil:
		h.working = slices.DeleteFunc(h.working, func(k *work) bool { return k == o.ceased })
	case o.wrote != nil && o.accepted:
		h.written = max(h.written, o.wrote.x.in.Fence)
	case o.delivered != "" && o.outcome.err == nil && !o.outcome.died:
		h.accepted[o.delivered] = true
	}
}

func (h *history) learnGuard(w *World, o *observation) {
	g := o.after
	if g == nil {
		return
	}
	if !w.faultless {
		h.stirs(o)
	}
	if g.Run != nil || g.Live > 0 || o.before != nil && o.before.Live > 0 {
		h.held = o.at
	}
	if o.before != nil && o.before.SpecHash != g.SpecHash {
		for tick, at := range h.gone { // rows deleted before lose the witness they had in lastTick
			if w.replaced(at) {
				h.exempt(tick)
				delete(h.gone, tick)
			}
		}
	}
	if acquires(o) {
		r := &runRecord{run: g.Run.ID, fence: g.Fence, tick: g.Run.Tick, at: o.at, allowed: g.Spec.Overlap == policy.Allow}
		h.runs = append(h.runs, r)
		h.fence = max(h.fence, g.Fence)
	}
	for _, r := range h.runs {
		switch {
		case r.shared:
		case g.Run != nil && g.Fence == r.fence && g.Run.ID == r.run:
			r.lease = g.LeaseUntil
			r.marked = r.marked || g.Mark != nil
			r.ask(g.StopDeadline, o.at)
		case !r.orphaned: // one whose guard was deleted is given up with its row
			r.left = true
		}
	}
}

// ask notes until when the run may end by itself. A request that is withdrawn, or made again, once
// that is over may have been answered already.
func (r *runRecord) ask(deadline, now Millis) {
	if r.askedBy == 0 || r.askedBy > now+margin/2 {
		r.askedBy = deadline
	}
}

// acquires tells whether the commit put a run on the guard that was not on it before.
func acquires(o *observation) bool {
	if o.after == nil || o.after.Run == nil {
		return false
	}
	return o.before == nil || o.before.Run == nil || *o.before.Run != *o.after.Run || o.before.Fence != o.after.Fence
}

func (h *history) learnRow(at Millis, before, row *guard.Row) {
	if row == nil {
		return
	}
	delete(h.queued, row.Tick)
	delete(h.gone, row.Tick) // it is there again
	switch {
	case row.Outcome.Final():
		h.finals[row.Tick] = final{row.Outcome, row.EndedAt, row.Fence}
		delete(h.opened, row.Tick)
		if r := h.byFence(row.Fence); r != nil {
			r.left = true
		}
		return
	case row.Outcome == guard.Queued:
		h.queued[row.Tick] = true
	}
	h.opened[row.Tick] = at
	if row.Shared && before == nil {
		h.runs = append(h.runs, &runRecord{run: row.Run, fence: row.Fence, tick: row.Tick, shared: true})
		h.fence = max(h.fence, row.Fence)
	}
}

func (h *history) byFence(fence int64) *runRecord {
	for i := len(h.runs) - 1; i >= 0; i-- {
		if h.runs[i].fence == fence {
			return h.runs[i]
		}
	}
	return nil
}

func (r *runRecord) manual() bool {
	kind, _ := guard.KindOf(r.tick)
	return kind == guard.Manual
}

func (h *history) expect(at Millis) { h.expected = append(h.expected, at) }

// recorded tells whether a planned tick was ever on record.
func (h *history) recorded(at Millis) bool {
	tick := schema.TickID(at.Time())
	if _, over := h.finals[tick]; over || h.opened[tick] != 0 || h.exempted[tick] {
		return true
	}
	return slices.ContainsFunc(h.gaps, func(g gap) bool { return g.holds(at) })
}

// rowWithin finds a planned tick in a gap that has a row, or whose deleted row the guard stands for.
func (h *history) rowWithin(g gap, by *guard.Guard) (string, bool) {
	for _, at := range h.expected {
		tick := tickID(at)
		_, over := h.finals[tick]
		_, deleted := h.gone[tick]
		named := by != nil && (by.Run != nil && by.Run.Tick == tick || by.Waiting != nil && by.Waiting.Tick == tick)
		if g.holds(at) && (named || !deleted && (over || h.opened[tick] != 0)) {
			return tick, true
		}
	}
	return "", false
}

// alive tells whether some run was claimed, is going on or has not quite ended.
func (h *history) alive() bool { return len(h.opened) > 0 || len(h.open) > 0 || len(h.working) > 0 }

// atRest tells whether nothing is left to be done: every tick has its outcome, the guard is
// free and nothing runs.
func (h *history) atRest(w *World) bool {
	g := w.guard
	if h.alive() || g == nil || !g.Ready || g.Run != nil || g.Waiting != nil || g.Backlog != nil {
		return false
	}
	return !slices.ContainsFunc(h.expected, func(at Millis) bool { return at >= g.SpecSince && !h.recorded(at) })
}

// gap is a gap row: planned ticks that never came.
type gap struct{ from, to Millis }

func (g gap) holds(at Millis) bool { return g.from <= at && at <= g.to }

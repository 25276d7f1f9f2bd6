package sim

import (
	"fmt"
	"slices"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// everyTickOnRecord is I8 and the second half of I4: lastTick passes no planned tick that has
// no record, a delivery that was answered well has left one, and in the end every expected
// tick has exactly one final outcome.
func everyTickOnRecord(h *history, w *World, o *observation) string {
	switch {
	case o.delivered != "" && o.outcome.err == nil && !o.outcome.died:
		if _, at := guard.KindOf(o.delivered); !h.recorded(at) && !w.nobodys(at) {
			return fmt.Sprintf("the delivery of %s was answered well and left no record", o.delivered)
		}
	case o.commit != nil && o.before != nil && o.after.LastTick > o.before.LastTick:
		for i := len(h.expected) - 1; i >= 0 && h.expected[i] > o.before.LastTick; i-- {
			// A tick of the schedule before is expected until the change was noted, by some clock.
			if at := h.expected[i]; at <= o.after.LastTick && at >= o.after.SpecSince+margin && !h.recorded(at) && !o.records(at) {
				return fmt.Sprintf("lastTick passes %s, which is not on record", tickID(at))
			}
		}
	case o.ended:
		return h.unfinished(w)
	}
	return ""
}

// nobodys tells whether a tick need leave no record: a new guard, and one with a new spec,
// expects nothing from before, and what comes from there after its window is nobody's any more.
// When that began, and when the window is over, was noted by some clock.
func (w *World) nobodys(at Millis) bool {
	g := w.guard
	return g != nil && at < g.SpecSince+margin && w.clock > at+w.plan.ever.shortWindow()-2*margin
}

// records tells whether the commit puts a planned tick on record.
func (o *observation) records(at Millis) bool {
	return o.touches(tickID(at)) || slices.ContainsFunc(gapsOf(*o.commit), func(g gap) bool { return g.holds(at) })
}

// unfinished names what did not come right in the end. A new guard expects nothing from
// before it was made.
func (h *history) unfinished(w *World) string {
	for _, at := range h.expected {
		if w.guard != nil && at >= w.guard.SpecSince+margin && at < w.clock-w.plan.missedWithin() && !h.recorded(at) {
			return fmt.Sprintf("tick %s was expected and is not on record", tickID(at))
		}
	}
	for tick, since := range h.opened {
		if since < w.clock-w.plan.settles {
			return fmt.Sprintf("tick %s has no final outcome", tick)
		}
	}
	return ""
}

// nothingStaysBlocked is I6: past the longest that faults may have left behind, no guard is
// held beyond its lease, the margin and a round of sweeps, nor beyond its maximum run time;
// none is blocked for longer than it says, and nobody waits for a guard that is free.
func nothingStaysBlocked(h *history, w *World, o *observation) string {
	g := w.guard
	if !o.swept && !o.ended || g == nil || w.faultless {
		return ""
	}
	over := func(since Millis) bool { return w.clock > max(since, w.faults.until)+patience }
	switch {
	case !g.Ready && over(g.ReadyAt):
		return fmt.Sprintf("the guard is still blocked; it was to be ready at %s", stamp(g.ReadyAt))
	case g.Run != nil && over(g.LeaseUntil):
		return fmt.Sprintf("%s still holds the guard; its lease was over at %s", g.Run.ID, stamp(g.LeaseUntil))
	case g.Run != nil && over(g.MaxRunUntil+w.plan.ever.longLease) && w.plan.Spec.Beats:
		return fmt.Sprintf("%s still holds the guard; its time was over at %s", g.Run.ID, stamp(g.MaxRunUntil))
	case g.Ready && g.Waiting != nil && !occupied(g, nil, w.clock) && over(max(g.Waiting.Since, g.DrainUntil, h.held)):
		return fmt.Sprintf("tick %s waits for a guard that is free", g.Waiting.Tick)
	}
	return ""
}

// patience is what I6 allows beyond what a guard says of itself: the margin, seen from either
// side, a full round of sweeps, and the sweep that is under way.
const patience = 2*margin + Millis((2*schema.Sweep+schema.DispatcherTimeout)/1e6)

// dueTickStarts is the first half of I10: a tick that finds the guard free by every clock,
// unpaused and in time, is started and nothing else. So is one that waits, in the very commit
// that frees the guard.
func dueTickStarts(_ *history, w *World, o *observation) string {
	if o.commit == nil || o.before == nil {
		return ""
	}
	decided := o.by.read
	if o.before.Ready && o.before.Waiting == nil && o.before.Paused == nil {
		for i, row := range o.rowsAfter {
			if row == nil || o.rowsBefore[i] != nil || row.Kind != guard.Scheduled || row.Fence != 0 {
				continue
			}
			spec := o.after.Spec
			if row.At < o.after.SpecSince { // of before that spec: its own may not be Allow
				spec = nil
			}
			if occupied(o.before, spec, decided) {
				continue
			}
			if o.at+margin < row.At+w.plan.ever.shortDeadline {
				return fmt.Sprintf("tick %s finds the guard free and becomes %s", row.Tick, row.Outcome)
			}
		}
	}
	waits := o.after.Waiting
	if o.before.Run != nil && waits != nil && !occupied(o.after, nil, decided) && o.after.Paused == nil && o.at+margin < waits.Deadline {
		return fmt.Sprintf("the guard comes free and tick %s, which waits for it, is not started", waits.Tick)
	}
	return ""
}

// occupied tells whether at an instant by any clock no run of the spec may begin.
func occupied(g *guard.Guard, spec *schema.Spec, at Millis) bool {
	if spec != nil && spec.Overlap == policy.Allow {
		return false
	}
	return g.Run != nil || g.Live > 0 || g.DrainUntil != 0 && g.DrainUntil+2*margin >= at
}

// beatingHolderStays is the second half of I10: a holder whose lease is good, and whose time
// is not over, is neither marked, nor stopped, nor told to end, except for Replace, a forced
// release or the loss of its guard.
func beatingHolderStays(h *history, w *World, o *observation) string {
	switch {
	case o.commit != nil && o.before != nil && o.after.Mark != nil && o.before.Mark == nil:
		if r := h.byFence(o.after.Fence); r != nil && !markedWell(o) {
			return fmt.Sprintf("%s is marked for a %s although its lease is good until %s", r.run, o.after.Mark.Why, stamp(o.before.LeaseUntil))
		}
	case o.stopped != nil && o.stopped.phase != closed:
		if r := h.byFence(o.stopped.in.Fence); r.beats() && !r.shared { // nothing keeps it from beating before it ends
			return fmt.Sprintf("%s is stopped and not marked; its lease: %s", r.run, stamp(r.lease))
		}
	case o.told != nil:
		if r := h.byFence(o.told.in.Fence); r.beats() && !w.toldWell(r, o) {
			return fmt.Sprintf("%s beats in time and is told %s", r.run, o.answer)
		}
	}
	return ""
}

// beats tells whether the run holds the guard and nothing has been done to end it.
func (r *runRecord) beats() bool { return r != nil && !r.orphaned && !r.marked && !r.left }

// toldWell tells whether a refused beat has its reason.
func (w *World) toldWell(r *runRecord, o *observation) bool {
	switch o.answer {
	case schema.ErrorMaxRunTime:
		return o.at+margin >= o.told.begunAt+w.plan.ever.leastRun
	case schema.ErrorStop:
		return r.askedBy != 0 && o.at+margin/2 >= r.askedBy
	}
	return false
}

// markedWell tells whether a mark has its reason.
func markedWell(o *observation) bool {
	switch o.after.Mark.Why {
	case guard.MarkTakeOver:
		return o.at > o.before.LeaseUntil
	case guard.MarkReplace:
		return o.before.Stop != nil && o.at > o.before.StopDeadline
	case guard.MarkRelease: // a person needs none, and means the run that was shown
		return o.by.shown == "" || o.by.shown == o.before.Run.ID
	}
	return false
}

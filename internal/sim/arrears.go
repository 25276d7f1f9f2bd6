package sim

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// missedIsExpected: nothing is missed of a job whose schedule is gone.
func missedIsExpected(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.before.SpecHash != "" {
		return ""
	}
	for _, g := range gapsOf(*o.commit) {
		return fmt.Sprintf("tick %s is Missed although the job's schedule is gone", tickID(g.to))
	}
	return ""
}

// missedIsCaughtUp: the newest tick of a gap that a job's policy catches up with comes into its
// backlog, unless a backfill is under way.
func missedIsCaughtUp(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.before.Spec.CatchUp == policy.CatchUpNone {
		return ""
	}
	if b := o.before.Backlog; b != nil && b.Kind != guard.CatchUp {
		return ""
	}
	var newest Millis
	for _, g := range gapsOf(*o.commit) {
		newest = max(newest, g.to)
	}
	if b := o.after.Backlog; newest != 0 && (b == nil || b.Next > newest || b.To < newest || b.Left == 0) {
		return fmt.Sprintf("tick %s was missed and is not to be caught up with", tickID(newest))
	}
	return ""
}

// backlogEnds: a backlog is over once its last tick is on record. Where it cannot come to that, the
// guard says so. Void where somebody deletes the row of a tick that is caught up with, which is then run
// again in the place of another.
func backlogEnds(h *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.before.Backlog == nil || o.after.Backlog != nil || o.after.BacklogEnd != o.before.BacklogEnd {
		return ""
	}
	b := o.before.Backlog
	ids := []string{guard.TickID(b.Kind, b.To)}
	if b.Kind == guard.CatchUp { // it may have come late after all
		ids = append(ids, tickID(b.To))
	}
	for _, id := range ids {
		if _, over := h.finals[id]; over || h.opened[id] != 0 || h.exempted[id] || h.gone[id] != 0 {
			return ""
		}
	}
	for tick := range h.exempted {
		if kind, _ := guard.KindOf(tick); kind == guard.CatchUp && b.Kind == kind {
			return ""
		}
	}
	return fmt.Sprintf("the %s is over without its last tick, %s", b.Kind, tickID(b.To))
}

// backlogMoves: a backlog does not stand still behind a guard that is free, and no longer than the
// planned ticks need that it takes turns with. One of missed ticks does while the schedule is gone.
func backlogMoves(h *history, w *World, o *observation) string {
	g := w.guard
	if !o.swept && !o.ended || g == nil || g.Backlog == nil || !g.Ready || g.Waiting != nil || occupied(g, nil, w.clock) && !beside(g) {
		return ""
	}
	if g.Backlog.Kind == guard.CatchUp && g.SpecHash == "" {
		return ""
	}
	since := max(h.stirred, g.DrainUntil, w.faults.until)
	if p := g.Paused; p != nil {
		if p.Until == 0 {
			return ""
		}
		since = max(since, p.Until)
	}
	if w.clock > since+patience+turn {
		return fmt.Sprintf("the %s stands still at %s, with %d to come", g.Backlog.Kind, tickID(g.Backlog.Next), g.Backlog.Left)
	}
	return ""
}

// turn is how long a backlog leaves a free guard to the planned ticks: the longest interval, and
// the minute that one of them has to come.
const turn Millis = 120_000 + 60_000

// beside tells whether only runs of policy Allow occupy the guard, beside which a backlog goes on.
func beside(g *guard.Guard) bool {
	return g.Spec.Overlap == policy.Allow && g.Run == nil
}

// stirs notes when a backlog last moved, or could not.
func (h *history) stirs(o *observation) {
	b, g := o.before, o.after
	if b == nil || b.Run != nil || g.Run != nil || (b.Live > 0 || g.Live > 0) && !beside(g) || b.Paused != nil || b.Waiting != nil ||
		!b.Ready || b.SpecHash != g.SpecHash || b.Backlog != nil && g.Backlog != nil && *b.Backlog != *g.Backlog || (b.Backlog == nil) != (g.Backlog == nil) {
		h.stirred = o.at
	}
}

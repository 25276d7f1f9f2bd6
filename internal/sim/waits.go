package sim

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// rightTickWaits: of two ticks the newer waits, or with KeepFirst the first; none waits for a run
// of a later tick, and what is Coalesced has one that stands for it. Deliveries come in any order:
// ticks are compared by what was planned.
func rightTickWaits(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil {
		return ""
	}
	was, is := o.before.Waiting, o.after.Waiting
	if is != nil && is.Kind == guard.Scheduled && (was == nil || was.Tick != is.Tick) {
		if what := waitsWell(o, was, is); what != "" {
			return what
		}
	}
	for i, row := range o.rowsAfter {
		if row == nil || row.Kind != guard.Scheduled || row.Outcome != guard.Coalesced {
			continue
		}
		switch waited := was != nil && was.Tick == row.Tick; { // whether or not its row was deleted
		case !waited && o.rowsBefore[i] == nil && !stoodFor(o, row):
			return fmt.Sprintf("tick %s is Coalesced and nothing stands for it", row.Tick)
		case waited && (is == nil || is.Tick == row.Tick || !planned(is.Tick)):
			return fmt.Sprintf("tick %s waited, is Coalesced and no planned tick waits in its place", row.Tick)
		}
	}
	return ""
}

// waitsWell judges a planned tick that came to wait.
func waitsWell(o *observation, was, is *guard.Waiting) string {
	r := o.before.Run
	switch {
	case o.after.Spec.Overlap != policy.QueueOne && o.after.Spec.Overlap != policy.Replace:
		return fmt.Sprintf("tick %s waits under policy %s", is.Tick, o.after.Spec.Overlap)
	case r != nil && planned(r.Tick) && is.Planned < r.Planned:
		return fmt.Sprintf("tick %s waits for a run of the later tick %s", is.Tick, r.Tick)
	case was == nil || !planned(was.Tick) || o.at+margin/2 >= was.Deadline: // it kept its place from nobody
	case is.Planned < was.Planned:
		return fmt.Sprintf("tick %s takes the place of the later tick %s", is.Tick, was.Tick)
	case o.after.Spec.KeepFirst:
		return fmt.Sprintf("tick %s takes the place of the first that waits, %s", is.Tick, was.Tick)
	}
	return ""
}

// stoodFor tells whether another planned tick runs or waits for one that does neither: a manual run
// eats none.
func stoodFor(o *observation, row *guard.Row) bool {
	r, was := o.before.Run, o.before.Waiting
	return r != nil && planned(r.Tick) && r.Planned > row.At || was != nil && planned(was.Tick) && (was.Planned > row.At || o.after.Spec.KeepFirst)
}

func planned(tick string) bool {
	kind, _ := guard.KindOf(tick)
	return kind == guard.Scheduled
}

// stopIsFair: a holder is asked to stop for a tick that waits to replace it and for no other. It has
// its grace time from the asking on, and goes on as before once nobody waits for its place.
func stopIsFair(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.after.Run == nil || o.after.Stop == nil {
		return ""
	}
	g := o.after
	if asked := o.before.Stop == nil || o.before.StopDeadline != g.StopDeadline; asked {
		if w := g.Waiting; w != nil && w.Kind == guard.Scheduled && g.Spec.Overlap != policy.Replace {
			return fmt.Sprintf("%s is asked to stop under policy %s", g.Run.ID, g.Spec.Overlap)
		}
		if g.Stop.At+processLife < o.at || g.StopDeadline < g.Stop.At.Add(g.Spec.Grace()) {
			return fmt.Sprintf("%s is asked at %s to stop by %s; its grace is %v", g.Run.ID, stamp(g.Stop.At), stamp(g.StopDeadline), g.Spec.Grace())
		}
	}
	if g.Waiting == nil && g.Mark == nil {
		return fmt.Sprintf("%s is to stop by %s although no tick waits", g.Run.ID, stamp(g.StopDeadline))
	}
	return ""
}

// holderIsAsked: a sweep that nothing struck, and beside which nobody wrote, leaves no holder unasked
// that a tick has waited to replace since before it began, by every clock.
func holderIsAsked(_ *history, _ *World, o *observation) string {
	b, g := o.before, o.after
	if !o.swept || o.outcome.hurt || o.outcome.died || o.outcome.err != nil || b == nil || g == nil || b.Version != g.Version {
		return ""
	}
	w := g.Waiting
	if !g.Ready || g.Run == nil || w == nil || w.Why != "replace" || g.Stop != nil || g.Mark != nil || o.since < w.Since+margin || o.at+margin > w.Deadline {
		return ""
	}
	if p := g.Paused; p != nil && (p.Until == 0 || o.since < p.Until+margin) {
		return ""
	}
	return fmt.Sprintf("tick %s waits to replace %s, which nobody asks to stop", w.Tick, g.Run.ID)
}

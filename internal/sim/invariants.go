package sim

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// invariants are the promises of the design's first section, and the rules beside them. Each is
// held against every single observation, before the history learns of it; it returns what is wrong,
// or nothing.
var invariants = []invariant{
	{"I1", oneTrusted},
	{"I2", fencesRise},
	{"I3", oldWritesRefused},
	{"I4", finalStays},
	{"I5", oneWaits},
	{"I6", nothingStaysBlocked},
	{"I7", skipIsNoError},
	{"I8", everyTickOnRecord},
	{"I9", oneWorks},
	{"I10", dueTickStarts},
	{"I10", beatingHolderStays},
	{"start deadline", startsInTime},
	{"pause", pausedStartsNothing},
	{"retries", attemptsEnd},
	{"maximum run time", beatsEnd},
	{"waiting", rightTickWaits},
	{"stop request", stopIsFair},
	{"stop request", holderIsAsked},
	{"outcome", outcomeIsTrue},
	{"live", liveIsCounted},
	{"missed", missedIsExpected},
	{"catch-up", missedIsCaughtUp},
	{"backlog", backlogEnds},
	{"backlog", backlogMoves},
}

// overlaps are what a simulation without faults counts.
var overlaps = []invariant{{"I1", oneTrusted}, {"I9", oneWorks}}

type invariant struct {
	name   string
	broken func(h *history, w *World, o *observation) string
}

// oneTrusted is I1: when the guard goes to a run, no other may still trust in its lease. A
// run trusts until its work is done, its execution has ended or, where every write checks the
// fence, until its lease is over by every clock. And nobody takes the guard from a run that
// is still trusted.
func oneTrusted(h *history, w *World, o *observation) string {
	if o.commit == nil {
		return ""
	}
	if acquires(o) {
		for _, r := range h.runs {
			if r.fence != o.after.Fence && w.trusted(r) {
				return fmt.Sprintf("%s acquires the guard while %s is trusted until %s", o.after.Run.ID, r.run, stamp(r.lease))
			}
		}
	}
	if b := o.before; b != nil && b.Run != nil && (o.after.Run == nil || o.after.Fence != b.Fence) {
		if r := h.byFence(b.Fence); r != nil && w.trusted(r) {
			return fmt.Sprintf("%s is taken off the guard while it is trusted until %s", r.run, stamp(r.lease))
		}
	}
	return ""
}

// trusted tells whether the run, or the work it began, still believes in its lease.
func (w *World) trusted(r *runRecord) bool {
	if r.shared || r.x == nil || r.x.phase != working {
		return false
	}
	return !r.x.fenced || w.clock-margin/2 <= r.lease
}

// fencesRise is I2: every fence given is higher than all before, over deletions and
// re-creations; and no run comes onto the guard without a new one.
func fencesRise(h *history, _ *World, o *observation) string {
	if o.commit == nil {
		return ""
	}
	if acquires(o) && o.after.Fence <= h.fence {
		return fmt.Sprintf("%s acquires with fence %d, but %d was given before", o.after.Run.ID, o.after.Fence, h.fence)
	}
	for i, row := range o.rowsAfter {
		if row != nil && row.Shared && o.rowsBefore[i] == nil && row.Outcome == guard.Running && row.Fence <= h.fence {
			return fmt.Sprintf("%s begins with fence %d, but %d was given before", row.Run, row.Fence, h.fence)
		}
	}
	if o.before != nil && o.after.Version < o.before.Version {
		return fmt.Sprintf("version falls from %d to %d", o.before.Version, o.after.Version)
	}
	return ""
}

// oldWritesRefused is I3: a write that checks the fence is not let through once a higher
// fence was seen, or once the run is off the guard.
func oldWritesRefused(h *history, _ *World, o *observation) string {
	if o.wrote == nil || !o.accepted {
		return ""
	}
	in := o.wrote.x.in
	if in.Fence < h.written {
		return fmt.Sprintf("a write of %s with fence %d is let through after one with %d", in.Run, in.Fence, h.written)
	}
	if r := h.byFence(in.Fence); r != nil && r.left {
		return fmt.Sprintf("a write of %s is let through after its end was recorded", in.Run)
	}
	return ""
}

// finalStays is the first half of I4: a final outcome never changes, and nothing of it, and what is
// on record, or named by the guard, is not Missed.
func finalStays(h *history, _ *World, o *observation) string {
	if o.commit != nil {
		for _, g := range gapsOf(*o.commit) {
			if tick, ok := h.rowWithin(g, o.before); ok {
				return fmt.Sprintf("tick %s is on record and becomes Missed", tick)
			}
		}
	}
	for _, row := range o.rowsAfter {
		if row == nil {
			continue
		}
		f, over := h.finals[row.Tick]
		if over && f != (final{row.Outcome, row.EndedAt, row.Fence}) {
			return fmt.Sprintf("tick %s was %s and becomes %s", row.Tick, f.outcome, row.Outcome)
		}
	}
	return ""
}

// oneWaits is I5.
func oneWaits(h *history, _ *World, o *observation) string {
	waiting := 0
	for _, row := range o.rowsAfter {
		if row != nil && row.Outcome == guard.Queued {
			waiting++
		}
	}
	for tick := range h.queued {
		if !o.touches(tick) {
			waiting++
		}
	}
	if o.commit != nil && waiting > 1 {
		return fmt.Sprintf("%d ticks wait", waiting)
	}
	return ""
}

// touches tells whether the commit writes a tick's row.
func (o *observation) touches(tick string) bool {
	for _, row := range o.rowsAfter {
		if row != nil && row.Tick == tick {
			return true
		}
	}
	return false
}

// skipIsNoError is I7: a tick that starts nothing is answered without an error and counts as
// no success.
func skipIsNoError(_ *history, _ *World, o *observation) string {
	if o.delivered != "" && o.outcome.skipped && o.outcome.err != nil && !o.outcome.hurt {
		return fmt.Sprintf("tick %s was skipped with an error: %v", o.delivered, o.outcome.err)
	}
	if o.commit == nil || o.before == nil || o.after.LastSuccessAt == o.before.LastSuccessAt {
		return ""
	}
	for _, row := range o.rowsAfter {
		if row != nil && row.Outcome == guard.Succeeded {
			return ""
		}
	}
	return "a success is noted on the guard that no row tells of"
}

// oneWorks is I9, on what the runs really do: no two of them work at the same time, and none
// is started after another was given its place. A fenced job's old run may still be ending,
// once it can write no more.
func oneWorks(h *history, w *World, o *observation) string {
	switch {
	case o.began != nil:
		return worksAlone(h, w, o.began.x)
	case o.started != nil:
		return startsInItsPlace(h, o.started.in)
	case o.commit != nil && o.after != nil && o.after.Spec.Overlap != policy.Allow:
		for i, row := range o.rowsAfter {
			asked := row != nil && row.Kind == guard.Manual // by a person, who may let a run in beside others
			if row != nil && row.Shared && !asked && o.rowsBefore[i] == nil && !row.Outcome.Final() {
				return fmt.Sprintf("%s is let in beside others by policy %s", row.Run, o.after.Spec.Overlap)
			}
		}
	}
	return ""
}

func worksAlone(h *history, w *World, x *execution) string {
	began := h.byFence(x.in.Fence)
	if w.plan.Spec.Overlap == policy.Allow || began != nil && began.shared && (w.allowed || began.manual()) {
		return "" // what policy Allow starts, let start before it was changed, or a person let in
	}
	for _, k := range h.working {
		r := h.byFence(k.x.in.Fence)
		ending := r != nil && k.x.fenced && r.left
		late := r != nil && r.shared && r.fence > x.in.Fence // a tick of the old policy
		beside := late || r != nil && r.shared && began != nil && began.allowed
		if !ending && !beside {
			return fmt.Sprintf("%s begins to work while %s does", x.name(), k.x.name())
		}
	}
	return ""
}

func startsInItsPlace(h *history, in schema.RunInput) string {
	r := h.byFence(in.Fence)
	switch {
	case r != nil && r.shared:
		return ""
	case r == nil:
		return fmt.Sprintf("%s starts with fence %d, which nobody was given", in.Run, in.Fence)
	case r.left:
		return fmt.Sprintf("%s starts after it was given up", in.Run)
	}
	for _, other := range h.runs {
		if other.fence > in.Fence && !other.shared {
			return fmt.Sprintf("%s starts after its place was given to %s", in.Run, other.run)
		}
	}
	return ""
}

// tickID is the id of a planned tick.
func tickID(at Millis) string { return schema.TickID(at.Time()) }

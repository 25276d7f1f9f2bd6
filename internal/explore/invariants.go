package explore

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
)

// The invariants I1 to I10 of the design's first section. Those that a single step can break
// are checked at that step; those about what must come of it in the end, in quiet.go.

// checkCommit holds a commit that went through against the invariants and takes it in. The
// state is the one after it.
func (x *explorer) checkCommit(s *state, before *records, n *node) (broken string) {
	b, g := before.guard, s.recs.guard
	for _, check := range []string{
		x.checkHolder(s, b, g),
		x.checkRows(s, before, n),
		checkMark(s.clock, b, g),
		x.checkLastTick(s, b, g),
		x.checkGaps(s),
	} {
		if check != "" {
			return check
		}
	}
	return ""
}

func acquires(b, g *record) bool {
	return g != nil && g.Run != nil && (b == nil || b.Run == nil || b.Fence != g.Fence || b.Run.ID != g.Run.ID)
}

// checkHolder is I1 and I2: nobody takes the guard from a run that may trust in it, nor while
// another does; and every fence is higher than all before.
func (x *explorer) checkHolder(s *state, b, g *record) string {
	if what := x.checkTrust(s, b, g); what != "" {
		return what
	}
	if b != nil && g != nil && g.Version < b.Version {
		return fmt.Sprintf("I2: the version falls from %d to %d", b.Version, g.Version)
	}
	if w := freed(b, g); w != "" && (g.DrainUntil == 0 || g.DrainUntil+2*margin < s.clock) {
		return fmt.Sprintf("I10: the guard comes free and %s goes on waiting", shortTick(w))
	}
	if !acquires(b, g) {
		return ""
	}
	if g.Fence <= s.past.fence {
		return fmt.Sprintf("I2: %s gets fence %d, but %d was given before", shortRun(g.Run.ID), g.Fence, s.past.fence)
	}
	s.past.fence = g.Fence
	return ""
}

// freed returns the tick that waits for a guard which its holder leaves to nobody.
func freed(b, g *record) string {
	if b == nil || b.Run == nil || g == nil || g.Run != nil || g.Waiting == nil {
		return ""
	}
	return g.Waiting.Tick
}

// checkTrust is I1. A run trusts while its task is at work; one that fences its writes, only
// until its lease is over.
func (x *explorer) checkTrust(s *state, b, g *record) string {
	held := b != nil && b.Run != nil
	takes := acquires(b, g)
	leaves := held && (g == nil || g.Run == nil || g.Fence != b.Fence)
	for _, r := range s.runs.all {
		mine := held && r.in.Fence == b.Fence
		harmed := takes && r.in.Fence != g.Fence || leaves && mine
		trusts := !x.spec.Fenced || mine && s.clock <= b.LeaseUntil
		if r.phase == working && harmed && trusts {
			return fmt.Sprintf("I1: %s is at work and trusted, and the guard goes on without it", shortRun(r.run))
		}
	}
	return ""
}

// checkRows is I3, I4, I5, I7 and the first half of I10, on the rows that changed.
func (x *explorer) checkRows(s *state, before *records, n *node) string {
	b, c, queued := before.guard, n.call, 0
	for _, r := range s.recs.rows {
		if r.Outcome == guard.Queued {
			queued++
		}
		old := before.row(r.Tick)
		if old == r {
			continue
		}
		i := x.tickIndex(r.Tick)
		s.past.deleted[i] = false
		if f := s.past.finals[i]; f != 0 && f != outcomeOf(r.Outcome) {
			return fmt.Sprintf("I4: T%d was %s and becomes %s", i+1, f, r.Outcome)
		}
		if r.Outcome.Final() {
			s.past.finals[i] = outcomeOf(r.Outcome)
		}
		if old == nil && c.kind == kindDeliver && i == c.tick && r.Outcome != guard.Running && x.clearlyFree(n.decided(), b) && s.clock+margin < x.ticks[i].at+Millis(x.spec.StartDeadlineSeconds)*second && !s.past.exempt[i] {
			return fmt.Sprintf("I10: T%d finds the guard free and becomes %s", i+1, r.Outcome)
		}
	}
	if queued > 1 {
		return fmt.Sprintf("I5: %d ticks wait", queued)
	}
	if c.kind == kindBeat && (b == nil || b.Run == nil || b.Fence != c.run.in.Fence) {
		return fmt.Sprintf("I3: a beat of %s is let through, which does not hold the guard", shortRun(c.run.run))
	}
	return ""
}

// clearlyFree tells whether the guard is free by every clock.
func (x *explorer) clearlyFree(now Millis, g *record) bool {
	return g != nil && g.Ready && g.Run == nil && g.Waiting == nil && g.Paused == nil && (g.DrainUntil == 0 || g.DrainUntil+2*margin < now)
}

// checkMark is the second half of I10: a holder whose lease is good, and who was not asked to
// stop in vain, is not marked.
func checkMark(now Millis, b, g *record) string {
	if g == nil || g.Mark == nil || b == nil || b.Mark != nil {
		return ""
	}
	switch {
	case g.Mark.Why == guard.MarkTakeOver && now <= b.LeaseUntil:
		return fmt.Sprintf("I10: %s is marked although its lease is good", shortRun(g.Run.ID))
	case g.Mark.Why == guard.MarkReplace && (b.Stop == nil || now <= b.StopDeadline):
		return fmt.Sprintf("I10: %s is marked before its stop deadline", shortRun(g.Run.ID))
	}
	return ""
}

// checkLastTick is I8: LastTick passes no tick that has no record.
func (x *explorer) checkLastTick(s *state, b, g *record) string {
	if b == nil || g == nil || g.LastTick <= b.LastTick {
		return ""
	}
	for i, t := range x.ticks {
		if t.at > b.LastTick && t.at <= g.LastTick && !x.recorded(s, i) && !x.unexpected(g, i) {
			return fmt.Sprintf("I8: lastTick passes T%d, which is not on record", i+1)
		}
	}
	return ""
}

// checkGaps is I4 for ticks that never came: none is missed twice, and none that has a record.
func (x *explorer) checkGaps(s *state) string {
	if len(s.recs.gaps) == 0 {
		return ""
	}
	for i, t := range x.ticks {
		missed := 0
		for _, gap := range s.recs.gaps {
			if gap.From <= t.at && t.at <= gap.To {
				missed++
			}
		}
		if missed > 1 || missed == 1 && s.past.finals[i] != 0 {
			return fmt.Sprintf("I4: T%d is in %d gaps, and on record as %q", i+1, missed, s.past.finals[i])
		}
	}
	return ""
}

// recorded tells whether a tick was ever put on record.
func (x *explorer) recorded(s *state, i int) bool {
	if s.past.finals[i] != 0 || s.past.exempt[i] || s.past.deleted[i] || s.recs.row(x.ticks[i].id) != nil {
		return true
	}
	return x.missed(s, i)
}

// tooLate tells whether a tick comes after its whole window, to a guard made anew meanwhile: one
// that never expected it. Any other guard has it in a gap.
func (x *explorer) tooLate(s *state, i int) bool {
	g, at := s.recs.guard, x.ticks[i].at
	return g != nil && x.unexpected(g, i) && at.Add(x.spec.Window()) < s.clock
}

func (x *explorer) missed(s *state, i int) bool {
	for _, gap := range s.recs.gaps {
		if gap.From <= x.ticks[i].at && x.ticks[i].at <= gap.To {
			return true
		}
	}
	return false
}

// checkStart is I9: nobody starts while another may be at work, nor after its place was given
// away or its end recorded.
func (x *explorer) checkStart(s *state, r *execution) string {
	drain := Millis(x.spec.DrainSeconds) * second
	for _, other := range s.runs.all {
		switch {
		case x.spec.Fenced && other.in.Fence < r.in.Fence:
		case other.phase == working:
			return fmt.Sprintf("I9: %s starts while %s is at work", shortRun(r.run), shortRun(other.run))
		case other.lingers && s.clock <= other.endedAt+drain:
			return fmt.Sprintf("I9: %s starts while work of %s may still be going on", shortRun(r.run), shortRun(other.run))
		}
	}
	if r.in.Fence != s.past.fence {
		return fmt.Sprintf("I9: %s starts with fence %d after %d was given", shortRun(r.run), r.in.Fence, s.past.fence)
	}
	if i := x.tickIndex(r.in.Tick); s.past.finals[i] != 0 {
		return fmt.Sprintf("I9: %s starts after T%d ended as %s", shortRun(r.run), i+1, s.past.finals[i])
	}
	return ""
}

// checkEnd holds the end of a call against I7, I8 and the second half of I10.
func (x *explorer) checkEnd(s *state, n *node) string {
	r, c := n.result, n.call
	switch {
	case r.err != nil && !n.hurt:
		return fmt.Sprintf("I7: %s ends with an error that no fault caused: %v", c, r.err)
	case r.err != nil:
		return ""
	case c.kind == kindDeliver && !x.recorded(s, c.tick) && !x.tooLate(s, c.tick):
		return fmt.Sprintf("I8: %s ends well and left no record", c)
	case c.kind == kindBeat:
		return x.checkAnswer(s, c, r.renewal)
	}
	return ""
}

// checkAnswer: a run that holds the guard, unmarked and within its times, is not told to end.
func (x *explorer) checkAnswer(s *state, c call, told guard.Renewal) string {
	g := s.recs.guard
	if g == nil || g.Run == nil || g.Run.ID != c.run.run || g.Fence != c.run.in.Fence || g.Mark != nil {
		return ""
	}
	switch {
	case told == guard.LostLease,
		told == guard.HadMaxTime && s.clock+skew < c.run.timesOut(x.spec),
		told == guard.AskedToStop && (g.Stop == nil || s.clock+skew < g.StopDeadline):
		return fmt.Sprintf("I10: %s holds the guard and is told %q", shortRun(c.run.run), refusalName(told))
	}
	return ""
}

package guard

import "github.com/cronfence/cronfence/pkg/policy"

// waiter compares the tick that waits with one that is delivered. One that waited past its start
// deadline keeps its place from nobody, a manual run from no planned tick, whose place it does not
// take either: the instant at which somebody asked for it says nothing of a plan.
func (g Guard) waiter(d Delivery, now Millis) policy.Waiter {
	w := g.Waiting
	switch {
	case w == nil || now > w.Deadline || w.Kind == Manual && d.Kind == Scheduled:
		return policy.Nobody
	case w.Kind == Scheduled && d.Kind == Manual || w.Planned > d.At:
		return policy.NewerWaits
	default:
		return policy.OlderWaits
	}
}

// older tells whether the tick is planned before the holder's: of manual runs and of a backlog
// nothing is older.
func (d Delivery) older(g Guard) bool {
	if g.Run == nil || d.Kind != Scheduled {
		return false
	}
	kind, _ := KindOf(g.Run.Tick)
	return kind == Scheduled && d.At < g.Run.Planned
}

// replaces tells whether the tick asks the holder to stop. A backfill's run, which a person asked for,
// is waited for: ticks of a job whose backfilled runs outlast its interval would replace every one.
func (d Delivery) replaces(g Guard) bool {
	if g.Run != nil && d.Overlap == nil {
		if kind, _ := KindOf(g.Run.Tick); kind == Backfill {
			return false
		}
	}
	return d.rule(g).Overlap == policy.Replace
}

// wait lets the tick wait for the guard in the place of whatever waited, and under Replace
// asks the holder to stop, if nobody did so yet.
func (d Delivery) wait(seen, want Guard, now Millis) Decision {
	row := d.row(Queued, now)
	why := waitsQueued
	if d.replaces(want) {
		why = waitsReplacing
	}
	row.Why, row.Holder = seen.inTheWay(now)
	var more []Write
	var ended []Row
	if seen.Waiting != nil {
		over := closing{Coalesced, WhyNewer + ": " + d.Tick}
		switch {
		case now > seen.Waiting.Deadline:
			over = closing{Expired, WhyWaited}
		case seen.Waiting.Kind != d.Kind:
			over.why = WhyPlanned + ": " + d.Tick
		}
		w, closed := seen.closeWaiting(over, d.Token, now)
		more, ended = append(more, w), append(ended, closed)
	}
	want.Waiting = &Waiting{
		Tick: d.Tick, Planned: d.At, Kind: d.Kind, Interval: d.Interval,
		Since: now, Deadline: d.startDeadline(), Why: why,
	}
	dec := decided(Done, d, seen, want.askHolder(now), row, more...)
	dec.Ended = ended
	return dec
}

// What a tick waits for: the holder's end, or to replace it.
const (
	waitsQueued    = "queue"
	waitsReplacing = "replace"
)

// askHolder asks the holder to stop if a tick waits to replace it, nobody asked or marked it so
// far, and no pause keeps that tick from running. It is the one rule of who is asked and when.
func (g Guard) askHolder(now Millis) Guard {
	w := g.Waiting
	if w == nil || w.Why != waitsReplacing || g.Run == nil || g.Stop != nil || g.Mark != nil || g.paused(now) {
		return g
	}
	g.Stop, g.StopDeadline = &StopRequest{ByTick: w.Tick, At: now}, now.Add(g.Spec.Grace())
	return g
}

// withdrawStop takes back a stop request whose time is not over: the holder goes on.
func (g Guard) withdrawStop(now Millis) Guard {
	if g.Mark == nil && now < g.StopDeadline {
		g.Stop, g.StopDeadline = nil, 0
	}
	return g
}

// row is the waiting tick's row as far as the guard knows it.
func (w Waiting) row(job string) Row {
	return Row{Job: job, Tick: w.Tick, At: w.Planned, Kind: w.Kind, Outcome: Queued, Interval: w.Interval}
}

// closing is a final outcome and its reason.
type closing struct {
	outcome Outcome
	why     string
}

// closeWaiting ends the waiting tick without a run.
func (g Guard) closeWaiting(c closing, token string, now Millis) (Write, Row) {
	before := g.Waiting.row(g.Job)
	after := before.closed(c.outcome, c.why, token, now)
	return changedRow(before, after), after
}

// handOver is what becomes of the tick that waits for a guard that is about to be as it says.
type handOver struct {
	guard  Guard
	writes []Write
	next   *Row  // the run to start once this is on record
	ended  []Row // the waiting tick, if it came to its end instead
}

// handOver gives a guard to the tick that waits for it, if it is free and the tick may still
// start: in the commit that frees it, so that there is no free instant between.
func (g Guard) handOver(token string, now Millis) handOver {
	w := g.Waiting
	switch {
	case w == nil:
		return handOver{guard: g}
	case now > w.Deadline:
		return g.dropWaiting(closing{Expired, WhyWaited}, token, now)
	case g.occupied(now):
		return handOver{guard: g}
	case g.paused(now):
		return g.dropWaiting(closing{Skipped, WhyPaused + ": " + g.Paused.Why}, token, now)
	}
	before := w.row(g.Job)
	after := before
	after.Token, after.Attempt, after.Why = token, 1, WhyHandedOver
	after.ClaimedAt, after.Delay = now, max(0, int64(now-w.Planned))
	g.Waiting = nil
	g, after = g.acquire(after, w.Deadline, now)
	return handOver{guard: g, writes: []Write{changedRow(before, after)}, next: &after}
}

// dropWaiting ends the waiting tick and withdraws the stop request it made, unless the
// holder is being stopped already.
func (g Guard) dropWaiting(c closing, token string, now Millis) handOver {
	w, row := g.closeWaiting(c, token, now)
	g.Waiting = nil
	if g.Mark == nil {
		g.Stop, g.StopDeadline = nil, 0
	}
	return handOver{guard: g, writes: []Write{w}, ended: []Row{row}}
}

// Advance moves the tick that waits: a free guard is handed over to it, one that waited past its
// start deadline expires, and a holder that it is to replace is asked to stop, such as after a
// pause that ran out. It is false when there is nothing to move.
func Advance(g Guard, token string, now Millis) (Decision, bool) {
	if !g.Ready {
		return Decision{}, false
	}
	h := g.handOver(token, now)
	if len(h.writes) == 0 {
		h.guard = g.askHolder(now)
	}
	if diffGuards(&g, &h.guard).Empty() {
		return Decision{}, false
	}
	c := exact(token, g, h.guard, h.writes...)
	return Decision{Verdict: Done, Commit: c, Guard: g.Apply(c.Writes[0].Patch), Next: h.next, Ended: h.ended}, true
}

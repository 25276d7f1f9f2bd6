package guard

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Why a tick started nothing, or later. A pause and a mark add who and what for.
const (
	WhyHeld       = "held"
	WhyDraining   = "the last run's work may still be going on"
	WhyLive       = "runs of policy allow are still going on"
	WhyWaiting    = "another tick waits to run first"
	WhyBlocked    = "guard blocked"
	WhyPaused     = "paused"
	WhyLate       = "delivered after its start deadline"
	WhyWaited     = "waited past its start deadline"
	WhyOlder      = "older than the run that holds the guard"
	WhyNewer      = "a newer tick waits"
	WhyHandedOver = "waited for the guard"
	WhyGuardLost  = "closed after the guard was lost"
	WhyFirst      = "an earlier tick waits and keeps its place"
	WhyPlanned    = "a planned tick waits, which a manual run makes way for"
)

// occupied tells whether no exclusive run may begin: a run holds the guard, runs of policy
// Allow are alive, or the last run's work may still be going on.
func (g Guard) occupied(now Millis) bool { return g.Run != nil || g.Live > 0 || g.draining(now) }

// draining tells whether work of the last run may still be going on.
func (g Guard) draining(now Millis) bool {
	return g.DrainUntil != 0 && g.DrainUntil >= now.Add(-Margin)
}

// leaseOver tells whether the holder is no longer trusted, by anybody's clock.
func (g Guard) leaseOver(now Millis) bool { return g.Run != nil && g.LeaseUntil < now.Add(-Margin) }

// stopOverdue tells whether the holder had its grace time, and a beat in which it should
// have learnt of it, and is still there.
func (g Guard) stopOverdue(now Millis) bool {
	if g.Run == nil || g.Stop == nil {
		return false
	}
	by := g.StopDeadline.Add(Margin)
	if g.Spec.Beats {
		by = by.Add(g.Spec.Renewal())
	}
	return by < now
}

// holderDue tells whether the holder is to be looked at and taken over.
func (g Guard) holderDue(now Millis) bool {
	return g.Run != nil && (g.Mark != nil || g.leaseOver(now) || g.stopOverdue(now))
}

// names tells whether the tick is the holder's or the one that waits.
func (g Guard) names(tick string) bool {
	return g.Run != nil && g.Run.Tick == tick || g.Waiting != nil && g.Waiting.Tick == tick
}

// paused tells whether ticks are skipped for a pause.
func (g Guard) paused(now Millis) bool {
	return g.Paused != nil && (g.Paused.Until == 0 || now < g.Paused.Until)
}

// inTheWay says what a skipped tick found.
func (g Guard) inTheWay(now Millis) (why string, h *Holder) {
	switch {
	case g.Run != nil:
		return WhyHeld, &Holder{Run: g.Run.ID, Tick: g.Run.Tick, HeldFor: max(0, int64(now-g.Run.At)), Until: g.LeaseUntil}
	case g.Live > 0:
		return WhyLive, nil
	case !g.draining(now):
		return WhyWaiting, nil
	}
	h = &Holder{Until: g.DrainUntil, Draining: true}
	if g.Last != nil {
		h.Run, h.Tick, h.HeldFor = g.Last.Run, g.Last.Tick, max(0, int64(now-g.Last.EndedAt))
	}
	return WhyDraining, h
}

// coalesced says which tick stands for one that neither runs nor waits.
func (g Guard) coalesced(d Delivery, now Millis) (why string, h *Holder) {
	_, h = g.inTheWay(now)
	switch w := g.Waiting; {
	case d.older(g):
		return WhyOlder, h
	case w == nil:
		return WhyHeld, h
	case w.Kind != d.Kind:
		return WhyPlanned + ": " + w.Tick, h
	case d.At < w.Planned:
		return WhyNewer + ": " + w.Tick, h
	default:
		return WhyFirst + ": " + w.Tick, h
	}
}

// HolderDue tells whether the guard's holder is to be looked at and taken over: its lease ran
// out, it did not heed a stop request, or it is marked.
func HolderDue(g Guard, now Millis) bool { return g.Ready && g.holderDue(now) }

// Urgent tells whether something stands in the job's way that a sweep can clear.
func Urgent(g Guard, now Millis) bool {
	return HolderDue(g, now) || !g.Ready && now > g.ReadyAt.Add(Margin) || g.Ready && g.Waiting != nil && !g.occupied(now)
}

// StartDue tells whether somebody must make sure that the holder was started: whoever gave it
// the guard is no longer about to, and no beat has shown that it runs. A lease says that it was
// renewed only as long as the spec stands that it was first made from.
func StartDue(g Guard, now Millis) bool {
	if g.Run == nil || g.Mark != nil || now < g.Run.At.Add(schema.DispatcherTimeout) {
		return false
	}
	first := max(g.Run.At.Add(g.Spec.Lease()), g.StartBy.Add(Margin+g.Spec.Renewal())) // of another attempt it begins later
	renewed := g.Spec.Beats && g.Run.At >= g.SpecSince && g.LeaseUntil > first
	return !renewed
}

// RunsFrom is the instant from which the holder's run could start: when it acquired the guard
// or, for another attempt, when the work of the one before was over. 0 when nobody holds it.
func (g Guard) RunsFrom() Millis {
	switch {
	case g.Run == nil || g.Spec == nil:
		return 0
	case g.Spec.Beats:
		return max(g.Run.At, g.StartBy.Add(Margin+g.Spec.Renewal()-g.Spec.Lease()))
	}
	return max(g.Run.At, g.StartBy.Add(-schema.StartAllowance))
}

// LeaseAge is how long ago the holder's lease began, or was renewed last.
func (g Guard) LeaseAge(now Millis) time.Duration {
	from := g.RunsFrom()
	if g.Spec != nil && g.Spec.Beats {
		from = g.LeaseUntil.Add(-g.Spec.Lease())
	}
	return max(0, now.Sub(from))
}

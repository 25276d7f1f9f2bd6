package guard

import (
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Delivery is one delivery of a tick: everything a decision needs but the records and
// the time.
type Delivery struct {
	Spec     schema.Spec
	Tick     string // the tick's id
	At       Millis // its planned instant
	Prev     Millis // the planned tick before it; 0 when there is none
	Interval int64  // seconds to the next tick; 0 when there is none
	Token    string // of this decision
	// Stays names a holder whose lease is over and who was looked at and could not be
	// taken over: it counts as holding.
	Stays string
}

// Deliver decides on a delivered tick from the records as they are. row is nil when the
// tick has none, g when the job has none; a final row decides without g.
func Deliver(d Delivery, g *Guard, row *Row, now Millis) Decision {
	switch {
	case row != nil && row.Outcome.Final():
		return Decision{Verdict: Duplicate, Row: *row}
	case g == nil:
		return create(d, now)
	case row != nil:
		return redeliver(*row, *g, now)
	}
	if d.At <= g.LastTick { // decided before, and its row has been collected since
		return Decision{Verdict: Duplicate, Guard: *g}
	}
	if !g.Ready && now > g.ReadyAt.Add(Margin) {
		return Decision{Verdict: Unblock, Guard: *g}
	}
	want := g.seenTick(d, now)
	switch action := d.Spec.Overlap.Decide(policy.Situation{
		Late:    now > d.startDeadline(),
		Blocked: !g.Ready,
		Held:    g.holds(now),
	}); action {
	case policy.Start:
		want, row := want.acquire(d, now)
		return decided(Start, d, *g, want, row)
	case policy.StartBeside:
		want, row := want.admit(d, now)
		return decided(Start, d, *g, want, row)
	default:
		if action == policy.SkipHeld && g.leaseOver(now) && g.Run.ID != d.Stays {
			return Decision{Verdict: Look, Guard: *g}
		}
		return decided(Done, d, *g, want, d.refusedRow(action, *g, now))
	}
}

func decided(v Verdict, d Delivery, seen, want Guard, row Row) Decision {
	c := exact(d.Token, seen, want, newRow(row))
	return Decision{Verdict: v, Commit: c, Row: row, Guard: seen.Apply(c.Writes[0].Patch)}
}

// redeliver decides on a tick whose run is on record. A run that has not been given up is
// started once more: same name, same input, so at most one execution comes of it.
func redeliver(row Row, g Guard, now Millis) Decision {
	d := Decision{Verdict: Duplicate, Row: row, Guard: g}
	trusted := g.Ready && (row.Shared || g.heldBy(row.Run, row.Fence) && g.Mark == nil)
	if trusted && now < row.StartBy {
		d.Verdict = Start
	}
	return d
}

// create makes a missing guard, blocked: a run of the guard that was lost may be alive. Its
// version lies above every clock, so that no fence is ever given twice.
func create(d Delivery, now Millis) Decision {
	spec := d.Spec
	g := Guard{
		Job:       spec.Job,
		Version:   int64(now.Add(Margin)) + 1,
		LastTick:  d.Prev,
		Spec:      &spec,
		SpecHash:  spec.Hash(),
		SpecSince: now,
	}
	w := Write{SK: schema.GuardSK, Absent: true, Patch: diffGuards(Guard{}, g)}
	return Decision{Verdict: Unblock, Guard: g, Commit: &Commit{Job: spec.Job, Token: d.Token, Writes: []Write{w}}}
}

// seenTick returns the guard with the tick recorded and the spec it came with.
func (g Guard) seenTick(d Delivery, now Millis) Guard {
	if hash := d.Spec.Hash(); hash != g.SpecHash {
		spec := d.Spec
		g.Spec, g.SpecHash, g.SpecSince = &spec, hash, now
	}
	if max(g.LastTick, g.SpecSince) >= d.Prev { // else a tick before it is not on record yet
		g.LastTick = d.At
	}
	return g
}

// acquire gives the guard to the tick's first run. Whoever starts it must do so before
// StartBy, which leaves time for a first renewal.
func (g Guard) acquire(d Delivery, now Millis) (Guard, Row) {
	g.Version = max(g.Version+1, int64(now))
	g.Fence = g.Version
	row := d.claim(g.Version, now)
	g.Run = &RunRef{ID: row.Run, Tick: d.Tick, Attempt: row.Attempt, At: now}
	g.LeaseUntil, g.StartBy = d.lease(now)
	g.MaxRunUntil = g.StartBy.Add(d.Spec.MaxRun())
	g.DrainUntil, g.TTL = 0, 0
	row.StartBy, row.MaxRunUntil = g.StartBy, g.MaxRunUntil
	return g, row
}

// admit starts the tick's run beside whatever else runs: the guard only counts it.
func (g Guard) admit(d Delivery, now Millis) (Guard, Row) {
	g.Version = max(g.Version+1, int64(now))
	g.Live++
	g.TTL = 0
	row := d.claim(g.Version, now)
	row.Shared = true
	row.StartBy = now.Add(schema.StartAllowance)
	row.MaxRunUntil = row.StartBy.Add(d.Spec.MaxRun())
	return g, row
}

func (d Delivery) claim(fence int64, now Millis) Row {
	row := d.row(Running, now)
	row.Fence, row.Attempt = fence, 1
	row.Run = schema.RunID(d.Spec.Job, d.Tick, row.Attempt)
	return row
}

func (d Delivery) row(o Outcome, now Millis) Row {
	return Row{
		Job: d.Spec.Job, Tick: d.Tick, At: d.At, Kind: Scheduled, Outcome: o, Token: d.Token,
		ClaimedAt: now, Interval: d.Interval, Delay: max(0, int64(now-d.At)),
	}
}

// lease returns until when a run that acquires the guard now is trusted, and by when it
// must have been started. Without beats the lease spans the whole run.
func (d Delivery) lease(now Millis) (until, startBy Millis) {
	if d.Spec.Beats {
		until = now.Add(d.Spec.Lease())
		return until, until.Add(-Margin - d.Spec.Renewal())
	}
	startBy = now.Add(schema.StartAllowance)
	return startBy.Add(d.Spec.MachineTimeout() + schema.SettleAllowance + Margin), startBy
}

func (d Delivery) startDeadline() Millis { return d.At.Add(d.Spec.StartDeadline()) }

// refusedRow records why a tick starts nothing.
func (d Delivery) refusedRow(a policy.Action, g Guard, now Millis) Row {
	row := d.row(Skipped, now)
	row.TTL = rowTTL(now)
	switch a {
	case policy.Expire:
		row.Outcome, row.Why = Expired, "delivered after its start deadline"
	case policy.SkipBlocked:
		row.Why = "guard blocked"
	default:
		row.Why, row.Holder = g.inTheWay(now)
	}
	return row
}

// holds tells whether a tick must not start beside what the guard knows of.
func (g Guard) holds(now Millis) bool { return g.Run != nil || g.Live > 0 || g.draining(now) }

// draining tells whether work of the last run may still be going on.
func (g Guard) draining(now Millis) bool {
	return g.DrainUntil != 0 && g.DrainUntil >= now.Add(-Margin)
}

// leaseOver tells whether the holder is no longer trusted, by anybody's clock.
func (g Guard) leaseOver(now Millis) bool { return g.Run != nil && g.LeaseUntil < now.Add(-Margin) }

func (g Guard) inTheWay(now Millis) (why string, h *Holder) {
	switch {
	case g.Run != nil:
		return "held", &Holder{Run: g.Run.ID, Tick: g.Run.Tick, HeldFor: max(0, int64(now-g.Run.At)), Until: g.LeaseUntil}
	case g.Live > 0:
		return "runs of policy allow are still going on", &Holder{}
	}
	h = &Holder{Until: g.DrainUntil, Draining: true}
	if g.Last != nil {
		h.Run, h.Tick, h.HeldFor = g.Last.Run, g.Last.Tick, max(0, int64(now-g.Last.EndedAt))
	}
	return "the last run's work may still be going on", h
}

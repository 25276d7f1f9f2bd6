package guard

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Delivery is one delivery of a tick: everything a decision needs but the records and
// the time.
type Delivery struct {
	Spec     schema.Spec
	Tick     string // the tick's id
	Kind     Kind
	At       Millis // its planned instant; of a manual run the instant it was asked for
	Prev     Millis // the planned tick before it; 0 when there is none
	Floor    Millis // a planned tick whose time is over, from which a new guard counts; 0: any
	Interval int64  // seconds to the next tick; 0 when there is none
	Token    string // of this decision
	By       string // of a manual run: who asked for it, and why
	// Overlap overrides the job's policy for this tick alone; nil does not.
	Overlap *policy.Overlap
	// Stays names a holder who is to be taken over and could not be: it counts as holding.
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
		return redeliver(d, *row, *g, now)
	case d.Kind == Scheduled && d.At <= g.LastTick && !d.ofReplaced(*g, now): // decided before: its row was collected, or it lies in a gap
		return Decision{Verdict: Duplicate, Guard: *g}
	case g.names(d.Tick): // somebody deleted its row: the guard still speaks for it
		return Decision{Verdict: Duplicate, Guard: *g}
	}
	late := now > d.startDeadline()
	if first := d.first(*g, now); first != Done && !late {
		return Decision{Verdict: first, Guard: *g}
	}
	want := g.seenTick(d, now)
	action := d.rule(want).Decide(policy.Situation{
		Late:    late,
		Blocked: !g.Ready,
		Paused:  g.paused(now),
		Held:    g.occupied(now) || g.Waiting != nil,
		Older:   d.older(*g),
		Waiting: g.waiter(d, now),
	})
	switch action {
	case policy.Start:
		want, row := want.acquire(d.claim(now), d.startDeadline(), now)
		return decided(Start, d, *g, want, row)
	case policy.StartBeside:
		want, row := want.admit(d, now)
		return decided(Start, d, *g, want, row)
	case policy.Wait:
		return d.wait(*g, want, now)
	default:
		return decided(Done, d, *g, want, d.refusedRow(action, *g, now))
	}
}

// ofReplaced tells whether a tick may be one of a spec that was replaced while it was on its way,
// even if that stands again. LastTick speaks for the ticks of the schedules since, which it need
// not be among: until its window is over, its row alone tells whether it was decided.
func (d Delivery) ofReplaced(g Guard, now Millis) bool {
	window := min(d.Spec.Window(), g.Spec.Window())
	return d.At < g.SpecSince.Add(Margin) && now < d.At.Add(window-Margin)
}

// first says what must be seen to before a tick can be judged; Done: nothing.
func (d Delivery) first(g Guard, now Millis) Verdict {
	switch {
	case !g.Ready && now > g.ReadyAt.Add(Margin):
		return Unblock
	case g.Ready && g.holderDue(now) && g.Run.ID != d.Stays:
		return Look
	case g.Ready && g.Waiting != nil && !g.occupied(now):
		return HandOver
	}
	return Done
}

func decided(v Verdict, d Delivery, seen, want Guard, row Row, more ...Write) Decision {
	c := exact(d.Token, seen, want, append([]Write{newRow(row)}, more...)...)
	return Decision{Verdict: v, Commit: c, Row: row, Guard: seen.Apply(c.Writes[0].Patch)}
}

// redeliver decides on a tick that is on record and not final. A run that has not been given
// up is started once more: same name, same input, so at most one execution comes of it.
func redeliver(d Delivery, row Row, g Guard, now Millis) Decision {
	dec := Decision{Verdict: Duplicate, Row: row, Guard: g}
	switch {
	case !g.Ready:
	case row.Outcome == Queued:
		if g.holderDue(now) && g.Run.ID != d.Stays {
			dec.Verdict = Look
		} else if g.Waiting != nil && !g.occupied(now) {
			dec.Verdict = HandOver
		}
	case row.Shared || g.heldBy(row.Run, row.Fence) && g.Mark == nil:
		if row.NotBefore <= now && now < row.StartBy {
			dec.Verdict = Start
		}
	}
	return dec
}

// create makes a missing guard, blocked: a run of the guard that was lost may be alive. Its
// version lies above every clock, so that no fence is ever given twice. What was planned
// before now is not expected, but may still be on its way.
func create(d Delivery, now Millis) Decision {
	spec := d.Spec
	g := Guard{
		Job:       spec.Job,
		Version:   int64(now.Add(Margin)) + 1,
		LastTick:  now.Add(-spec.Window()),
		Spec:      &spec,
		SpecHash:  spec.Hash(),
		SpecSince: now,
	}
	if d.Floor != 0 { // keeps the phase of a rate
		g.LastTick = min(g.LastTick, d.Floor)
	}
	w := Write{SK: schema.GuardSK, Absent: true, Patch: diffGuards(&Guard{}, &g)}
	return Decision{Verdict: Unblock, Guard: g, Commit: &Commit{Job: spec.Job, Token: d.Token, Writes: []Write{w}}}
}

// seenTick returns the guard with the tick recorded, the spec it came with, and without a
// pause that is over.
func (g Guard) seenTick(d Delivery, now Millis) Guard {
	if g.Paused != nil && !g.paused(now) {
		g.Paused, g.ResumedAt = nil, g.Paused.Until
	}
	if d.Kind != Scheduled {
		return g
	}
	if hash := d.Spec.Hash(); hash != g.SpecHash && d.At >= g.SpecSince { // else a tick of before the change
		g = g.respec(d.Spec, hash, now)
	}
	if g.LastTick >= d.Prev { // else a tick before it is not on record yet
		g.LastTick = max(g.LastTick, d.At)
	}
	return g
}

// acquire gives the guard to a run. row says which, and from when on it may start.
// Whoever starts it must do so before StartBy, which leaves time for a first renewal, and lies not
// past its start deadline, if there is one, but for the process that acquires at the last moment.
func (g Guard) acquire(row Row, startDeadline, now Millis) (Guard, Row) {
	g.Version = max(g.Version+1, int64(now))
	g.Fence = g.Version
	row.Outcome, row.Fence = Running, g.Fence
	row.Run = schema.RunID(g.Job, row.Tick, row.Attempt)
	g.Run = &RunRef{ID: row.Run, Tick: row.Tick, Planned: row.At, Attempt: row.Attempt, At: now, Terms: termsOf(*g.Spec)}
	g.LeaseUntil, g.StartBy = lease(*g.Spec, max(now, row.NotBefore))
	g.StartBy = inTime(g.StartBy, startDeadline, now)
	g.MaxRunUntil = g.StartBy.Add(g.Spec.MaxRun())
	g.Mark, g.Stop, g.StopDeadline = nil, nil, 0
	g.TTL = 0
	row.StartBy, row.MaxRunUntil = g.StartBy, g.MaxRunUntil
	row.Terms = &g.Run.Terms
	return g, row
}

// inTime bounds the instant until which a start is sent by a start deadline, 0 for none. Who
// acquires now has a dispatcher's time for it in any case.
func inTime(startBy, startDeadline, now Millis) Millis {
	if startDeadline == 0 {
		return startBy
	}
	return min(startBy, max(startDeadline, now.Add(schema.DispatcherTimeout)+1))
}

// admit starts the tick's run beside whatever else runs: the guard only counts it.
func (g Guard) admit(d Delivery, now Millis) (Guard, Row) {
	g.Version = max(g.Version+1, int64(now))
	g.Live, g.LiveSeconds, g.LiveUntil = g.Live+1, max(g.LiveSeconds, liveSeconds(d.Spec)), max(g.LiveUntil, liveUntil(d.Spec, now))
	g.TTL = 0
	row := d.claim(now)
	row.Fence, row.Run, row.Shared = g.Version, schema.RunID(g.Job, d.Tick, row.Attempt), true
	row.StartBy = inTime(now.Add(schema.StartAllowance), d.startDeadline(), now)
	row.MaxRunUntil = row.StartBy.Add(d.Spec.MaxRun())
	terms := termsOf(d.Spec)
	row.Terms = &terms
	return g, row
}

// liveSeconds is how long after its planned instant a run of policy Allow can be going on.
func liveSeconds(spec schema.Spec) int64 {
	return int64((spec.Window() + schema.StartAllowance + spec.MachineTimeout()) / time.Second)
}

// liveUntil is when a run of policy Allow that is claimed now can no longer be going on.
func liveUntil(spec schema.Spec, now Millis) Millis {
	return now.Add(schema.StartAllowance + spec.MachineTimeout() + Margin)
}

// lease returns until when a run that may start from an instant on is trusted, and by when
// it must have been started. Without beats the lease spans the whole run.
func lease(spec schema.Spec, from Millis) (until, startBy Millis) {
	if spec.Beats {
		until = from.Add(spec.Lease())
		return until, until.Add(-Margin - spec.Renewal())
	}
	startBy = from.Add(schema.StartAllowance)
	return startBy.Add(spec.MachineTimeout() + schema.SettleAllowance + Margin), startBy
}

// rule is the overlap policy that a tick meets: that of the spec which stands, not of one that it
// may still carry, unless the tick has a policy of its own.
func (d Delivery) rule(g Guard) policy.Rule {
	if d.Overlap != nil {
		return policy.Rule{Overlap: *d.Overlap}
	}
	return g.Spec.Rule()
}

// startDeadline is how late the tick may still start.
func (d Delivery) startDeadline() Millis { return d.At.Add(d.Spec.StartDeadline()) }

func (d Delivery) claim(now Millis) Row {
	row := d.row(Running, now)
	row.Attempt = 1
	return row
}

func (d Delivery) row(o Outcome, now Millis) Row {
	return Row{
		Job: d.Spec.Job, Tick: d.Tick, At: d.At, Kind: d.Kind, Outcome: o, By: d.By, Token: d.Token,
		ClaimedAt: now, Interval: d.Interval, Delay: max(0, int64(now-d.At)),
	}
}

// refusedRow records why a tick starts nothing.
func (d Delivery) refusedRow(a policy.Action, g Guard, now Millis) Row {
	row := d.row(Skipped, now)
	row.TTL = rowTTL(now)
	switch a {
	case policy.Expire:
		row.Outcome, row.Why = Expired, WhyLate
	case policy.SkipBlocked:
		row.Why = WhyBlocked
	case policy.SkipPaused:
		row.Why = WhyPaused + ": " + g.Paused.Why
	case policy.Coalesce:
		row.Outcome = Coalesced
		row.Why, row.Holder = g.coalesced(d, now)
	default:
		row.Why, row.Holder = g.inTheWay(now)
	}
	return row
}

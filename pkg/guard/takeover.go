package guard

// Sight is what a look at a run's execution showed.
type Sight struct {
	Known     bool // false: Step Functions knows no such execution, as yet or any more
	Ended     bool
	Outcome   Outcome // once ended, from its status and error
	Error     string
	Cause     string
	MayLinger bool
	StartedAt Millis
	EndedAt   Millis // the execution's stop date, or a clock read after the look
}

// TakeOver decides what becomes of a holder whose lease ran out, after a look at its
// execution. Verdict Done settles it on its behalf; Look means that the mark is set and the
// execution is to be stopped and looked at again; Stale that it cannot be taken over yet.
func TakeOver(g Guard, row *Row, s Sight, by, token string, now Millis) Decision {
	switch {
	case !g.leaseOver(now):
		return Decision{Verdict: Stale, Guard: g}
	case !s.Known && now > g.StartBy.Add(Margin):
		return Settle(g.endOfHolder(row, Sight{Outcome: Abandoned}, token), &g, row, now)
	case s.Known && s.Ended:
		return Settle(g.endOfHolder(row, s, token), &g, row, now)
	case !s.Known: // it may still be started, or just not be visible yet
		return Decision{Verdict: Stale, Guard: g}
	case g.Mark == nil:
		want := g
		want.Mark = &Mark{Why: MarkTakeOver, By: by, At: now}
		d := Decision{Verdict: Look, Commit: exact(token, g, want)}
		d.Guard = g.Apply(d.Commit.Writes[0].Patch)
		return d
	default:
		return Decision{Verdict: Look, Guard: g}
	}
}

func (g Guard) endOfHolder(row *Row, s Sight, token string) End {
	e := End{
		Job: g.Job, Tick: g.Run.Tick, Run: g.Run.ID, Fence: g.Fence, Attempt: g.Run.Attempt,
		Outcome: s.Outcome, Error: s.Error, Cause: s.Cause, MayLinger: s.MayLinger,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt, Token: token,
	}
	if s.Outcome == Abandoned {
		e.Why = "claimed but never started"
	}
	if row != nil {
		e.Interval = row.Interval
	}
	return e
}

// Closing is an open row of a job whose guard was lost, with what a look at its execution
// showed. Sight.Ended is true: what runs is stopped first.
type Closing struct {
	Row   Row
	Sight Sight
}

// BlockUntil returns the commit that keeps a new guard blocked for as long as a run of the
// lost one may be trusted or its work going on. now is read after the guard was made.
func BlockUntil(g Guard, open []Row, token string, now Millis) Commit {
	want := g
	want.ReadyAt = now.Add(Margin)
	if g.Spec != nil {
		want.ReadyAt = now.Add(g.Spec.Lease() + g.Spec.Drain() + Margin)
	}
	for _, row := range open {
		want.ReadyAt = max(want.ReadyAt, row.StartBy.Add(Margin))
	}
	return *exact(token, g, want)
}

// Unblocked returns the commit that makes a blocked guard ready and closes the rows that
// the lost guard left open, all at once, each as it was read.
func Unblocked(g Guard, closings []Closing, token string, now Millis) Decision {
	want := g
	want.Ready, want.ReadyAt = true, 0
	want.TTL = guardTTL(now, 0)
	var writes []Write
	var drained Guard
	drained.Spec = g.Spec
	for _, c := range closings {
		e := End{
			Job: g.Job, Tick: c.Row.Tick, Run: c.Row.Run, Fence: c.Row.Fence, Attempt: c.Row.Attempt, Interval: c.Row.Interval,
			Outcome: c.Sight.Outcome, Why: "closed after the guard was lost", Error: c.Sight.Error, Cause: c.Sight.Cause,
			StartedAt: c.Sight.StartedAt, EndedAt: c.Sight.EndedAt, MayLinger: c.Sight.MayLinger, Token: token,
		}
		want.Version = max(want.Version, c.Row.Fence)
		drained = drained.release(e, now)
		writes = append(writes, changedRow(c.Row, e.settled(c.Row, now)))
	}
	want.DrainUntil = max(want.DrainUntil, drained.DrainUntil)
	want.Version++
	c := exact(token, g, want, writes...)
	return Decision{Verdict: Done, Commit: c, Guard: g.Apply(c.Writes[0].Patch)}
}

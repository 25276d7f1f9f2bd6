package guard

// Sight is what a look at a run's execution showed.
type Sight struct {
	At        Millis // a clock read before the look
	Known     bool   // false: Step Functions knows no such execution, as yet or any more
	Ended     bool
	Outcome   Outcome // once ended, from its status and error
	Error     string
	Cause     string
	MayLinger bool
	StartedAt Millis
	EndedAt   Millis // the execution's stop date, or a clock read after the look
	// Stopped says that the stop was sent, and this look is behind it.
	Stopped bool
}

// TakeOver decides what becomes of a holder that is due - its lease ran out, it did not heed
// a stop request, or somebody released it by force - after a look at its execution. Verdict
// Done settles it on its behalf, hand-over included; Look means that the mark is set and the
// execution is to be stopped and looked at again; Stale that it cannot be taken over yet.
func TakeOver(g Guard, row *Row, s Sight, by string, backlog BacklogTick, token string, now Millis) Decision {
	end := func(s Sight) Decision {
		e := g.endOfHolder(row, s, token)
		e.Backlog = backlog
		return Settle(e, &g, row, now)
	}
	switch {
	case !g.holderDue(now):
		return Decision{Verdict: Stale, Guard: g}
	case s.Known && s.Ended:
		return end(s)
	case !s.Known && s.At > g.StartBy.Add(Margin): // nobody could start it any more when it was looked for
		s = Sight{Outcome: Abandoned}
		if g.Mark != nil && g.Mark.Why == MarkRelease {
			s.Outcome = Aborted
		}
		return end(s)
	case !s.Known: // it may still be started, or just not be visible yet
		return Decision{Verdict: Stale, Guard: g}
	case g.Mark == nil:
		want := g
		want.Mark = &Mark{Why: MarkTakeOver, By: by, At: now}
		if !g.leaseOver(now) {
			want.Mark.Why = MarkReplace
		}
		d := Decision{Verdict: Look, Commit: exact(token, g, want)}
		d.Guard = g.Apply(d.Commit.Writes[0].Patch)
		return d
	case s.Stopped && FencedHolder(g) && g.leaseOver(now):
		// Its writes are refused from the next fence on: its end need not be awaited.
		s.Outcome, s.EndedAt = LeaseLost, now
		return end(s)
	default:
		return Decision{Verdict: Look, Guard: g}
	}
}

// FencedHolder tells whether the holder checks its fence at every write: by the spec that it was
// started under, and by the one that stands.
func FencedHolder(g Guard) bool { return g.Run != nil && g.Run.Terms.Fenced && g.Spec.Fenced }

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

package guard

// Closing is an open row of a job whose guard was lost, with what a look at its execution
// showed: Sight.Ended is true, what runs is stopped first. A row that only waited has none.
type Closing struct {
	Row   Row
	Sight Sight
}

// BlockUntil keeps a new guard blocked for as long as a run of the lost one may be trusted
// or its work going on. now is read after the guard was made.
func BlockUntil(g Guard, open []Row, token string, now Millis) Decision {
	want := g
	until, _ := lease(*g.Spec, now)
	want.ReadyAt = until.Add(g.Spec.Drain())
	for _, row := range open { // of an older spec, perhaps
		want.ReadyAt = max(want.ReadyAt, row.StartBy, until.Add(row.Terms.drain(g.Spec)))
	}
	return changed(token, g, want)
}

// Unblocked makes a blocked guard ready and closes the rows that the lost guard left open,
// all at once, each as it was read.
func Unblocked(g Guard, closings []Closing, token string, now Millis) Decision {
	ready := g
	ready.Ready, ready.ReadyAt = true, 0
	ready.TTL = guardTTL(now, 0)
	return g.closeRows(ready, closings, token, now)
}

// StillBlocked closes some of the rows, more than which fit into one commit.
func StillBlocked(g Guard, closings []Closing, token string, now Millis) Decision {
	return g.closeRows(g, closings, token, now)
}

func (g Guard) closeRows(want Guard, closings []Closing, token string, now Millis) Decision {
	var writes []Write
	var ended []Row
	for _, c := range closings {
		want.Version = max(want.Version, c.Row.Fence)
		row := c.Row.closed(Abandoned, WhyGuardLost, token, now)
		if c.Row.Outcome == Running {
			e := c.end(token)
			row = e.settled(c.Row, now)
			want.DrainUntil = max(want.DrainUntil, e.drained(c.Row.Terms.drain(g.Spec), now))
		}
		ended = append(ended, row)
		writes = append(writes, changedRow(c.Row, row))
	}
	want.Version++
	commit := exact(token, g, want, writes...)
	return Decision{Verdict: Done, Commit: commit, Guard: g.Apply(commit.Writes[0].Patch), Ended: ended}
}

func (c Closing) end(token string) End {
	return End{
		Job: c.Row.Job, Tick: c.Row.Tick, Run: c.Row.Run, Fence: c.Row.Fence, Attempt: c.Row.Attempt, Interval: c.Row.Interval,
		Outcome: c.Sight.Outcome, Why: WhyGuardLost, Error: c.Sight.Error, Cause: c.Sight.Cause,
		StartedAt: c.Sight.StartedAt, EndedAt: c.Sight.EndedAt, MayLinger: c.Sight.MayLinger, Token: token,
	}
}

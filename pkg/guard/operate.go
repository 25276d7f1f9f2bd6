package guard

import "fmt"

// Refusal says why something a person asked for cannot be done now.
type Refusal struct{ Reason string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

func refusal(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

func changed(token string, g, want Guard) Decision {
	c := exact(token, g, want)
	return Decision{Verdict: Done, Commit: c, Guard: g.Apply(c.Writes[0].Patch)}
}

// PauseJob has the job's ticks skipped. A run that is going on is not touched, and one that was
// asked to stop and has time left goes on.
func PauseJob(g Guard, p Pause, token string) Decision {
	want := g
	want.Paused = &p
	return changed(token, g, want.withdrawStop(p.At)) // nothing would run in the holder's place
}

// ResumeJob ends a pause. It starts nothing by itself: the next tick does. A tick that waits to
// replace the holder has it asked to stop again.
func ResumeJob(g Guard, token string, now Millis) (Decision, error) {
	if !g.paused(now) {
		return Decision{}, refusal("job %s is not paused", g.Job)
	}
	want := g
	want.Paused, want.ResumedAt = nil, now
	if want.Run == nil {
		want.TTL = guardTTL(now, 0)
	}
	return changed(token, g, want.askHolder(now)), nil // the pause withdrew the request
}

// ReleaseJob marks the holder: from then on it renews no lease, it is stopped, and the guard
// comes free once it has ended. The fence is not raised: that alone would stop no write. A run
// that is named is the only one that is meant; without, it is whoever holds the guard.
func ReleaseJob(g Guard, run, by, why, token string, now Millis) (Decision, error) {
	switch {
	case g.Run == nil && run == "":
		return Decision{}, refusal("no run holds the guard of job %s: nothing to release", g.Job)
	case g.Run == nil:
		return Decision{}, refusal("run %s does not hold the guard of job %s, and no other does: nothing to release", run, g.Job)
	case run != "" && run != g.Run.ID:
		return Decision{}, refusal("run %s does not hold the guard of job %s: run %s does, and is left alone", run, g.Job, g.Run.ID)
	}
	want := g
	want.Mark = &Mark{Why: MarkRelease, By: by + ": " + why, At: now}
	return changed(token, g, want), nil
}

// BackfillEnd is the last instant that a backfill may go up to: ticks behind it may still come by
// themselves.
func BackfillEnd(g Guard, now Millis) Millis {
	return max(g.LastTick, now.Add(-g.Spec.Window())-1)
}

// BackfillJob queues planned ticks of the past, to be run one at a time behind everything
// else the job does. Of some an earlier backfill succeeded: they are passed over where that is
// still on record when their turn comes.
func BackfillJob(g Guard, from, to Millis, planned, passed int, token string, now Millis) (Decision, error) {
	switch {
	case g.Backlog != nil:
		return Decision{}, refusal("job %s has a %s under way, from %s to %s; `cronfence backfill %s --cancel --reason WHY` ends it", g.Job, g.Backlog.Kind, g.Backlog.Next, g.Backlog.To, g.Job)
	case from > to:
		return Decision{}, refusal("ticks of job %s from %s on may still come by themselves: nothing to backfill yet", g.Job, from)
	case planned == 0:
		return Decision{}, refusal("job %s plans no tick from %s to %s", g.Job, from, to)
	case passed >= planned:
		return Decision{}, refusal("all %d ticks of job %s from %s to %s succeeded in an earlier backfill: nothing to run again", planned, g.Job, from, to)
	}
	want := g
	want.Backlog = &Backlog{Kind: Backfill, Next: from, To: to, Left: planned, Until: now.Add(BackfillWindow)}
	return changed(token, g, want), nil
}

// EndBacklog ends a backfill or catch-up: no more of its ticks are started. One of them that
// runs goes on, and what was recorded stays.
func EndBacklog(g Guard, by, why, token string, now Millis) (Decision, error) {
	if g.Backlog == nil {
		return Decision{}, refusal("job %s has no backfill or catch-up under way: nothing to end", g.Job)
	}
	return changed(token, g, g.endBacklog(by, why, now)), nil
}

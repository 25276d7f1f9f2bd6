package guard

// retry gives a run that was lost or never started another attempt, if the job asks for
// them and there is time. The row stays Running under a new run and a new fence; work of the
// attempt before may go on until its drain is over, so the new one does not start before, and the
// time for retries counts from then: there is always time for one. A tick that waits keeps its
// place. While a run goes on that an override let in beside the lost one, there is no other attempt.
func (g Guard) retry(e End, row Row, now Millis) (Decision, bool) {
	lost := e.Outcome == LeaseLost || e.Outcome == Abandoned
	if !lost || g.Spec == nil || row.Attempt > g.Spec.Retries || g.paused(now) || g.Live > 0 {
		return Decision{}, false
	}
	if g.Waiting != nil && g.Waiting.Why == waitsReplacing { // a newer tick takes its place
		return Decision{}, false
	}
	again := row
	want := g.release(e, g.Run.Terms.drain(g.Spec), now)
	again.NotBefore = now
	if want.DrainUntil != 0 {
		again.NotBefore = max(now, want.DrainUntil.Add(Margin))
	}
	if again.RetryUntil == 0 {
		again.RetryUntil = again.NotBefore.Add(g.Spec.RetryWindow(row.Interval))
	}
	if again.NotBefore > again.RetryUntil {
		return Decision{}, false
	}
	again.Attempt++
	again.Token = e.Token
	want, again = want.acquire(again, 0, now)
	c := exact(e.Token, g, want, changedRow(row, again))
	return Decision{Verdict: Done, Commit: c, Row: again, Guard: g.Apply(c.Writes[0].Patch), Next: &again}, true
}

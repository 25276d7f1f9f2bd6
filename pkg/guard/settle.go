package guard

import (
	"math"
	"strings"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// End is how a run ended, whoever says so.
type End struct {
	Job      string
	Tick     string
	Run      string
	Fence    int64
	Attempt  int
	Interval int64 // seconds
	Outcome  Outcome
	Why      string
	Error    string
	Cause    string
	// StartedAt and EndedAt are the execution's own times. EndedAt is a lower bound of when
	// its work could have ended; zero StartedAt: it never started.
	StartedAt, EndedAt Millis
	// MayLinger says that work of the run may still be going on: stopping an execution is
	// not stopping its work.
	MayLinger bool
	Token     string
}

// OutcomeOf maps the name of the error a run failed with to its outcome.
func OutcomeOf(errorName string) Outcome {
	switch errorName {
	case "States.Timeout", schema.ErrorMaxRunTime:
		return TimedOut
	case schema.ErrorStop:
		return Replaced
	case schema.ErrorLeaseLost:
		return LeaseLost
	}
	return Failed
}

// OwnError tells whether the error's name is one that a single task's function returned
// itself, so that its work is known to be over. In doubt it is not.
func OwnError(errorName string) bool {
	for _, prefix := range []string{"States.", "Lambda.", "Cronfence.", "Runtime.", "Sandbox.", "Extension.", "Function."} {
		if strings.HasPrefix(errorName, prefix) {
			return false
		}
	}
	return errorName != ""
}

// BlindSettle returns the commit that releases the guard and records the outcome without
// looking first. It is false unless the work is known to be over: what may linger needs the
// job's drain time, which the guard knows.
func BlindSettle(e End, now Millis) (Decision, bool) {
	if e.MayLinger {
		return Decision{}, false
	}
	seenGuard := Guard{
		Job: e.Job, Version: 1, Fence: e.Fence, Run: &RunRef{ID: e.Run},
		LeaseUntil: 1, StartBy: 1, MaxRunUntil: 1, Mark: &Mark{},
	}
	seenRow := e.claimed()
	g := seenGuard.release(e, now)
	row := e.settled(seenRow, now)
	patch := diffGuards(seenGuard, g)
	delete(patch.Set, "version") // it is not known: it rises by one
	patch.Add = map[string]int64{"version": 1}
	guardWrite := Write{SK: schema.GuardSK, If: runNeeds(e.Run, e.Fence), Patch: patch}
	return Decision{Verdict: Done, Row: row, Commit: &Commit{
		Job: e.Job, Token: e.Token, Writes: []Write{guardWrite, changedRow(seenRow, row)},
	}}, true
}

// Settle decides on the end of a run from the records as they are. Its effect is one
// however often and in whatever order ends are reported.
func Settle(e End, g *Guard, row *Row, now Millis) Decision {
	mine := g.heldBy(e.Run, e.Fence)
	switch {
	case row == nil && !mine:
		return Decision{Verdict: Stale}
	case row == nil: // somebody deleted it
		claimed := e.claimed()
		row = &claimed
	case row.Run != e.Run || row.Fence != e.Fence:
		return Decision{Verdict: Stale, Row: *row}
	case row.Outcome.Final() && !mine:
		return Decision{Verdict: Duplicate, Row: *row}
	}
	want := *row
	if !row.Outcome.Final() {
		e = e.marked(g, mine)
		want = e.settled(*row, now)
	}
	rowWrite := changedRow(*row, want)
	d := Decision{Verdict: Done, Row: want}
	if g != nil {
		d.Guard = *g
	}
	switch {
	case mine:
		d.Commit = exact(e.Token, *g, g.release(e, now), rowWrite)
	case row.Shared && g != nil && g.Live > 0:
		left := *g
		left.Live--
		left.TTL = guardTTL(now, e.Interval)
		d.Commit = exact(e.Token, *g, left, rowWrite)
	default: // the guard names another run, or none: the row is finished alone
		d.Commit = &Commit{Job: e.Job, Token: e.Token, Writes: []Write{rowWrite}}
	}
	if g != nil && d.Commit.Writes[0].SK == schema.GuardSK {
		d.Guard = g.Apply(d.Commit.Writes[0].Patch)
	}
	return d
}

// marked gives an execution that was stopped because of a mark the mark's outcome. One that
// ended by itself before the stop reached it keeps its own.
func (e End) marked(g *Guard, mine bool) End {
	if mine && g.Mark != nil && e.Outcome == Aborted {
		e.Outcome, e.Why = LeaseLost, "the lease ran out; stopped for "+g.Mark.By
	}
	return e
}

// claimed is the row as the claim must have left it, as far as the end knows.
func (e End) claimed() Row {
	row := Row{
		Job: e.Job, Tick: e.Tick, Kind: Scheduled, Outcome: Running,
		Run: e.Run, Fence: e.Fence, Attempt: e.Attempt, Interval: e.Interval,
	}
	if at, err := schema.ParseTick(e.Tick); err == nil {
		row.At = schema.MillisOf(at)
	}
	return row
}

// settled returns the row with the run's outcome.
func (e End) settled(row Row, now Millis) Row {
	row.Outcome, row.Why, row.Token = e.Outcome, e.Why, e.Token
	row.Error, row.Cause = e.Error, cut(e.Cause)
	row.TTL = rowTTL(now)
	row.EndedAt = e.EndedAt
	if row.EndedAt == 0 {
		row.EndedAt = now
	}
	if e.StartedAt != 0 && e.EndedAt >= e.StartedAt {
		row.StartedAt = e.StartedAt
		row.RunTime = int64(e.EndedAt - e.StartedAt)
	}
	if row.Interval > 0 {
		row.Ratio = math.Round(float64(row.RunTime)/float64(row.Interval*1000)*1e4) / 1e4
	}
	return row
}

// release takes the run off the guard. The fence stays; what may linger holds the guard
// until it can no longer be going on.
func (g Guard) release(e End, now Millis) Guard {
	g.Version++
	g.Run, g.Mark = nil, nil
	g.LeaseUntil, g.StartBy, g.MaxRunUntil = 0, 0, 0
	g.Last = &LastRun{Run: e.Run, Tick: e.Tick, EndedAt: e.EndedAt}
	g.TTL = guardTTL(now, e.Interval)
	if e.Outcome == Succeeded {
		g.LastSuccessAt = e.EndedAt
	}
	if e.MayLinger && g.Spec != nil && g.Spec.Drain() > 0 {
		ended := e.EndedAt
		if ended == 0 {
			ended = now
		}
		g.DrainUntil = max(g.DrainUntil, ended.Add(g.Spec.Drain()))
	}
	return g
}

// cut shortens a cause to what a row keeps, at a character's boundary.
func cut(cause string) string {
	if len(cause) <= MaxCause {
		return cause
	}
	return strings.ToValidUTF8(cause[:MaxCause], "")
}

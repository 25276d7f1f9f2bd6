package guard

import (
	"fmt"
	"math"
	"strings"
	"time"

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
	// Refused says that the run never began because its start was refused for good.
	Refused bool
	Token   string
	// Backlog is the next tick of the guard's backlog, for a guard that comes free. The zero
	// value starts none.
	Backlog BacklogTick
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
	if e.MayLinger || e.Outcome != Succeeded && e.Outcome != Failed {
		return Decision{}, false
	}
	seenGuard := Guard{
		Job: e.Job, Version: 1, Fence: e.Fence, Run: &RunRef{ID: e.Run},
		LeaseUntil: 1, StartBy: 1, MaxRunUntil: 1, Mark: &Mark{}, Stop: &StopRequest{}, StopDeadline: 1,
	}
	seenRow := e.claimed()
	g := seenGuard.release(e, 0, now)
	row := e.settled(seenRow, now)
	seenGuard.Version = g.Version // it is not known: it rises by one
	patch := diffGuards(&seenGuard, &g)
	patch.Add = map[string]int64{"version": 1}
	guardWrite := Write{
		SK: schema.GuardSK, Patch: patch,
		If: settleNeeds(e),
	}
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
	case mine: // whatever the row says: nobody else releases the guard
	case !row.of(e):
		return Decision{Verdict: Stale, Row: *row}
	case row.Outcome.Final():
		return Decision{Verdict: Duplicate, Row: *row}
	}
	if mine {
		return settleHolder(e, *g, *row, now)
	}
	want := e.settled(*row, now)
	rowWrite := changedRow(*row, want)
	d := Decision{Verdict: Done, Row: want}
	if row.Shared && g != nil && g.Live > 0 {
		left := *g
		left.Live--
		// LiveUntil stays: a row that was deleted and came back may have been counted off before.
		left.DrainUntil = max(left.DrainUntil, e.drained(row.Terms.drain(g.Spec), now)) // holds nobody but runs of another policy
		left.TTL = guardTTL(now, e.Interval)
		if e.Outcome == Succeeded {
			left.LastSuccessAt = max(left.LastSuccessAt, want.EndedAt)
		}
		d.Commit = exact(e.Token, *g, left, rowWrite)
		d.Guard = g.Apply(d.Commit.Writes[0].Patch)
		return d
	}
	// The guard names another run, or none: the row is finished alone. It is not brought back
	// if somebody deletes it meanwhile: another may have finished it before that.
	rowWrite.OrAbsent = false
	if g == nil {
		d.Commit = &Commit{Job: e.Job, Token: e.Token, Writes: []Write{rowWrite}}
		return d
	}
	if until := e.drained(row.Terms.drain(g.Spec), now); !g.Ready && until > g.DrainUntil {
		waits := *g // it was made anew and waits for rows that are open; this one's drain must not be lost
		waits.DrainUntil = until
		d.Commit = exact(e.Token, *g, waits, rowWrite)
		d.Guard = g.Apply(d.Commit.Writes[0].Patch)
		return d
	}
	d.Commit, d.Guard = &Commit{Job: e.Job, Token: e.Token, Writes: []Write{rowWrite}}, *g
	return d
}

// settleHolder settles the run that holds the guard: it is given another attempt, or the
// guard is released and goes straight to the tick that waits or to the backlog.
func settleHolder(e End, g Guard, row Row, now Millis) Decision {
	want := row
	if !row.Outcome.Final() && row.of(e) {
		e = e.marked(g)
		want = e.settled(row, now)
		if again, ok := g.retry(e, row, now); ok {
			again.Lost = &want
			return again
		}
	}
	h := g.release(e, g.Run.Terms.drain(g.Spec), now).handOver(e.Token, now)
	switch {
	case e.Refused && ofBacklog(e.Tick): // as would be every tick behind it
		h.guard = h.guard.endBacklog(Itself, fmt.Sprintf("%s: %s: %s", EndRefused, e.Tick, e.Cause), now)
	case h.next == nil && len(h.ended) == 0 && !h.guard.Backlog.ahead(e.Tick): // else the sweep sees to it, by its outcome
		h = h.guard.startBacklog(e.Backlog, e.Token, now)
	}
	writes := append([]Write{changedRow(row, want)}, h.writes...)
	c := exact(e.Token, g, h.guard, writes...)
	return Decision{Verdict: Done, Commit: c, Row: want, Guard: g.Apply(c.Writes[0].Patch), Next: h.next, Ended: h.ended}
}

// marked gives a run that was stopped because of a mark the mark's outcome. One that ended by
// itself before the stop reached it keeps its own.
func (e End) marked(g Guard) End {
	if g.Mark == nil || e.Outcome != Aborted && e.Outcome != LeaseLost {
		return e
	}
	switch g.Mark.Why {
	case MarkReplace:
		e.Outcome, e.Why = Replaced, "stopped for "+g.Mark.By
	case MarkRelease:
		e.Outcome, e.Why = Aborted, "released by "+g.Mark.By
	default:
		e.Outcome, e.Why = LeaseLost, "the lease ran out; stopped for "+g.Mark.By
	}
	return e
}

// of tells whether the row is that of the run which ended.
func (r Row) of(e End) bool { return r.Run == e.Run && r.Fence == e.Fence }

// claimed is the row as the claim must have left it, as far as the end knows.
func (e End) claimed() Row {
	row := Row{
		Job: e.Job, Tick: e.Tick, Outcome: Running,
		Run: e.Run, Fence: e.Fence, Attempt: e.Attempt, Interval: e.Interval,
	}
	row.Kind, row.At = KindOf(e.Tick)
	return row
}

// settled returns the row with the run's outcome.
func (e End) settled(row Row, now Millis) Row {
	why := row.Why // of a backlog's run it says of which
	if e.Why != "" {
		why = e.Why
	}
	row = row.closed(e.Outcome, why, e.Token, now)
	row.Error, row.Cause = e.Error, cut(e.Cause, MaxCause)
	if e.EndedAt != 0 {
		row.EndedAt = e.EndedAt
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
func (g Guard) release(e End, drain time.Duration, now Millis) Guard {
	g.Version++
	g.Run, g.Mark, g.Stop, g.StopDeadline = nil, nil, nil, 0
	g.LeaseUntil, g.StartBy, g.MaxRunUntil = 0, 0, 0
	ended := e.EndedAt
	if ended == 0 {
		ended = now
	}
	g.Last = &LastRun{Run: e.Run, Tick: e.Tick, EndedAt: ended}
	if e.StartedAt != 0 && ended > e.StartedAt {
		g.Last.RunTime = int64(ended - e.StartedAt)
	}
	g.TTL = guardTTL(now, e.Interval)
	if kind, _ := KindOf(e.Tick); e.Outcome == Succeeded && kind != Backfill { // which makes up for no tick that is due
		g.LastSuccessAt = ended
	}
	g.Last.DrainUntil = e.drained(drain, now)
	g.DrainUntil = max(g.DrainUntil, g.Last.DrainUntil)
	return g
}

// drained is when work of the ended run can no longer be going on; 0 when it is over.
func (e End) drained(drain time.Duration, now Millis) Millis {
	switch {
	case !e.MayLinger || drain == 0:
		return 0
	case e.EndedAt == 0:
		return now.Add(drain)
	}
	return e.EndedAt.Add(drain)
}

// cut shortens a text to so many bytes, at a character's boundary.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

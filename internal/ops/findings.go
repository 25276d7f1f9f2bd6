package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	// patience is how long the sentinel may take to see to something before it is a finding:
	// two sweeps, and what they need.
	patience = 3 * schema.Sweep
	// stopPatience is how long a run may take to end once it is stopped: Step Functions ends
	// an execution within seconds.
	stopPatience = 5 * time.Minute

	ratioLimit = 0.8 // as of the ratio alarm

	// eventLimit leaves 5,000 events to the 25,000 at which Step Functions ends an execution
	// with a failure that nothing can catch.
	eventLimit    = 20_000
	eventsBesides = 18
	eventsPerBeat = 7
)

const sentinelFix = "see that the sentinel runs, which does this every minute: its alarm is silent-sentinel, its schedule _sentinel.%s"

// stuck finds what the sentinel should have seen to, by the guard alone.
func stuck(x *Diagnosis, g guard.Guard, now guard.Millis) {
	late := now.Add(-patience - guard.Margin)
	switch run := g.Run; {
	case run != nil && g.Mark != nil && g.Mark.At < now.Add(-stopPatience):
		x.Add(FoundUnheededStop, g.Job, "look why its execution does not end, and stop it: cronfence logs "+g.Job+" "+run.Tick,
			"run %s of %s is being stopped since %s (%s) and still holds the guard", run.ID, g.Job, g.Mark.At, g.Mark.Why)
	case run != nil && g.Mark == nil && g.LeaseUntil < late:
		x.Add(FoundExpiredHolder, g.Job, releaseFix(g, "lease over"),
			"run %s holds the guard of %s, its lease is over since %s and nobody took over", run.ID, g.Job, g.LeaseUntil)
	}
	sentinel := sentinelOf(g)
	if !g.Ready && g.ReadyAt < late && g.ReadyAt != 0 {
		x.Add(FoundBlockedGuard, g.Job, sentinel, "the guard of %s was made anew and should be ready since %s: its ticks are skipped", g.Job, g.ReadyAt)
	}
	if w := g.Waiting; w != nil && freeSince(g, w.Since, now) < late {
		x.Add(FoundStuckWaiting, g.Job, sentinel+"; the next tick starts it too",
			"tick %s of %s waits since %s, the guard is free and nobody starts it", w.Tick, g.Job, w.Since)
	}
	if b := g.Backlog; b != nil && g.Waiting == nil && !paused(g, now) && freeSince(g, 0, now) < late {
		x.Add(FoundStuckBacklog, g.Job, sentinel,
			"the %s of %s stands at %s, the guard is free and nobody goes on with it", b.Kind, g.Job, b.Next)
	}
}

func sentinelOf(g guard.Guard) string {
	name := "SCHEDULER"
	if g.Spec != nil {
		name = g.Spec.Scheduler
	}
	return fmt.Sprintf(sentinelFix, name)
}

// releaseFix releases the run that was found, and no other that has the guard when it is typed.
func releaseFix(g guard.Guard, reason string) string {
	return fmt.Sprintf("cronfence release %s --run %s --reason '%s' --yes", g.Job, g.Run.ID, reason)
}

// freeSince is since when a guard is free for what came at an instant, or now if it is not.
func freeSince(g guard.Guard, came, now guard.Millis) guard.Millis {
	if !g.Ready || g.Run != nil || g.Live > 0 || draining(g, now) {
		return now
	}
	since := max(came, g.DrainUntil.Add(guard.Margin), g.ResumedAt)
	if g.Last != nil {
		since = max(since, g.Last.EndedAt)
	}
	return since
}

// examineHolder looks at the execution behind the holder.
func (d *Direct) examineHolder(ctx context.Context, x *Diagnosis, g guard.Guard, now guard.Millis) {
	arn := schema.ExecutionARN(g.Spec.Machine, g.Run.ID)
	late := now.Add(-patience - guard.Margin)
	execution, err := d.Engine.Machines.Describe(ctx, arn)
	switch {
	case errors.Is(err, machine.ErrNotFound):
		if g.StartBy < late {
			x.Add(FoundEndedHolder, g.Job, releaseFix(g, "no execution"),
				"run %s holds the guard of %s and has no execution; it had to be started by %s", g.Run.ID, g.Job, g.StartBy)
		}
	case err != nil:
		x.Skip("executions of holders", err.Error())
	case execution.Status != machine.Running:
		if ended := schema.MillisOf(execution.StoppedAt); ended < late {
			x.Add(FoundEndedHolder, g.Job, releaseFix(g, "its execution has ended"),
				"run %s holds the guard of %s, but its execution ended as %s at %s", g.Run.ID, g.Job, execution.Status, ended)
		}
	default:
		d.examineEvents(ctx, x, g, arn)
	}
}

func (d *Direct) examineEvents(ctx context.Context, x *Diagnosis, g guard.Guard, arn string) {
	n, err := d.Around.Events(ctx, arn)
	if err != nil {
		x.Skip("events of running executions", err.Error())
		return
	}
	if n >= eventLimit {
		x.Add(FoundHistoryLimit, g.Job, fewerEvents(g), "run %s of %s has %d events in its history; at 25,000 Step Functions ends it as failed", g.Run.ID, g.Job, n)
	}
}

// historyBound finds a job whose beats alone could fill an execution's history.
func historyBound(x *Diagnosis, g guard.Guard) {
	if s := g.Spec; s.Beats && s.RenewalSeconds > 0 {
		if n := eventsOf(*s, s.RenewalSeconds); n > eventLimit {
			x.Add(FoundHistoryLimit, g.Job, fewerEvents(g),
				"a run of %s that takes its %s writes %d events of history; at 25,000 Step Functions ends it as failed", g.Job, Span(s.MaxRun()), n)
		}
	}
}

func eventsOf(s schema.Spec, renewal int64) int64 {
	return eventsBesides + eventsPerBeat*((s.MachineTimeoutSeconds+renewal-1)/renewal)
}

func fewerEvents(g guard.Guard) string {
	s := g.Spec
	if !s.Beats || s.RenewalSeconds <= 0 {
		return "move parts of the job's chain into state machines of their own"
	}
	renewal := s.RenewalSeconds
	for eventsOf(*s, renewal) > eventLimit/2 {
		renewal += 5
	}
	return fmt.Sprintf("in the job's props set Renewal to %s or more, and a Lease to go with it, and deploy; move parts of a chain into state machines of their own", secondsOf(renewal))
}

func orphaned(x *Diagnosis, g guard.Guard, forget func(job string) string) {
	fix := "deploy the job again"
	if forget != nil {
		fix += ", or if it is gone for good delete its guard, which TTL does after 400 days: " + forget(g.Job)
	}
	if g.Run != nil {
		fix = "first " + releaseFix(g, "job removed") + "; then " + fix
	}
	x.Add(FoundOrphanedGuard, g.Job, fix, "%s has a guard and no schedule any more", g.Job)
}

// highRatio finds a job whose runs come near their interval, or pass it.
func highRatio(x *Diagnosis, g guard.Guard, rows []guard.Row, now guard.Millis) {
	var highest guard.Row
	for _, r := range rows {
		if g.Run != nil && r.Run == g.Run.ID && r.Outcome == guard.Running && r.Interval > 0 {
			r.Ratio = now.Sub(g.Run.At).Seconds() / float64(r.Interval)
		}
		if r.Ratio > highest.Ratio {
			highest = r
		}
	}
	if highest.Ratio < ratioLimit {
		return
	}
	x.Add(FoundHighRatio, g.Job,
		fmt.Sprintf("make it shorter or rarer, or choose its overlap policy; what each makes of it: cronfence simulate --history <(cronfence history %s --json) --overlap queue-one", g.Job),
		"run %s of %s took %.2f of its interval of %s", highest.Run, g.Job, highest.Ratio, Span(secondsOf(highest.Interval)))
}

// order sorts findings by kind, those that block a job first, then by job.
func (d *Diagnosis) order() {
	rank := map[string]int{}
	for i, kind := range []string{
		FoundExpiredHolder, FoundEndedHolder, FoundUnheededStop, FoundBlockedGuard, FoundStuckWaiting, FoundStuckBacklog, FoundUnknownJob,
		FoundClock, FoundScheduleMissing, FoundScheduleChanged, FoundDeadLetters, FoundSilentAlarm, FoundNoTTL, FoundNoRecovery,
		FoundHistoryLimit, FoundHighRatio, FoundOrphanedGuard,
	} {
		rank[kind] = i
	}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.Job, b.Job))
	})
}

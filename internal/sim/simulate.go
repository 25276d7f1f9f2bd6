package sim

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// Options say what to simulate without faults.
type Options struct {
	Schedule schedule.Schedule
	Overlap  policy.Overlap
	From     time.Time // the first instant at which a tick may be planned
	For      time.Duration
	// RunTime is how long the run of a tick takes; Longest bounds it.
	RunTime func(planned time.Time) time.Duration
	Longest time.Duration
}

// Summary is what became of the ticks of a simulation. Its JSON is what the command line
// writes.
type Summary struct {
	Ticks         int     `json:"ticks"`
	Started       int     `json:"started"`
	Succeeded     int     `json:"succeeded"`
	Failed        int     `json:"failed"`
	Skipped       int     `json:"skipped"`
	Coalesced     int     `json:"coalesced"`
	Replaced      int     `json:"replaced"`
	Missed        int     `json:"missed"`
	Expired       int     `json:"expired"`
	Abandoned     int     `json:"abandoned"`
	LeaseLost     int     `json:"leaseLost"`
	MaxConcurrent int     `json:"maxConcurrent"` // runs at work at the same time
	MaxRatio      float64 `json:"maxRatio"`      // run time / interval
	// TrustedOverlaps counts the moments at which a run came to hold the guard, or to work,
	// while another was trusted.
	TrustedOverlaps int `json:"trustedOverlaps"`

	maxWaiting int
}

// Simulate lets the ticks of a schedule run their course in virtual time, over the code that
// decides in the deployed functions, until the last run has ended.
func Simulate(o Options) (Summary, error) {
	var s Summary
	plan, err := o.plan()
	if err != nil {
		return s, err
	}
	w, err := newWorld(plan, nil)
	if err != nil {
		return s, err
	}
	w.faultless, w.tally = true, s.add
	w.clock -= 60_000 // the job is deployed a minute before
	w.planSweeps(w.clock + 30_000)
	w.planNext(plan.From - 1)
	w.run()
	s.Ticks, s.TrustedOverlaps = w.coverage.Ticks, w.overlaps
	for _, g := range w.history.gaps {
		s.Missed += w.sched.Between((g.from - 1).Time(), g.to.Time())
	}
	switch {
	case w.violation != nil:
		return s, w.violation
	case !w.atRest:
		return s, fmt.Errorf("simulate: the last runs did not end within %v", plan.Until.Sub(plan.Last))
	}
	return s, nil
}

// plan makes the spec that the constructs would make of the defaults. The maximum run time is
// long enough for every run.
func (o Options) plan() (Plan, error) {
	sched := o.Schedule
	if cron, ok := sched.AsCron(); ok {
		sched = cron
	}
	maxRun := max(schema.DefaultMaxRun, 2*o.Longest).Round(time.Second)
	s := schema.Spec{
		Version: schema.SpecVersion, Scheduler: simScheduler, Job: simJob, Machine: simMachine,
		Schedule: sched.Expression(), Timezone: sched.Timezone(), Overlap: o.Overlap,
		LeaseSeconds: seconds(schema.DefaultLease), MaxRunSeconds: seconds(maxRun),
		StartDeadlineSeconds: seconds(schema.DefaultStartDeadline),
		GraceSeconds:         seconds(schema.DefaultGrace),
	}
	if start := sched.Start(); !start.IsZero() {
		s.Start = start.Format(time.RFC3339)
	}
	if o.Overlap != policy.Allow && !schema.FitsWithoutBeats(maxRun, schema.DefaultLease) {
		s.Beats, s.RenewalSeconds = true, seconds(schema.DefaultRenewal)
	}
	s.MachineTimeoutSeconds = machineTimeout(s)
	p := Plan{Spec: &s, From: schema.MillisOf(o.From)}
	p.Last = p.From + Millis(o.For.Milliseconds()) - 1
	p.settles = settlesWithin(s)
	p.ever.add(s)
	p.Until = p.Last + p.settles + p.missedWithin()
	p.runTime = func(planned Millis) Millis { return max(1, Millis(o.RunTime(planned.Time()).Milliseconds())) }
	if _, err := engine.ScheduleOf(s); err != nil {
		return p, fmt.Errorf("simulate: %w", err)
	}
	return p, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// add counts one observation.
func (s *Summary) add(w *World, o *observation) {
	switch {
	case o.began != nil:
		s.Started++
		s.MaxConcurrent = max(s.MaxConcurrent, len(w.history.working))
	case o.commit != nil:
		s.maxWaiting = max(s.maxWaiting, len(w.history.queued))
		for i, row := range o.rowsAfter {
			if row != nil && row.Outcome.Final() && (o.rowsBefore[i] == nil || !o.rowsBefore[i].Outcome.Final()) {
				s.ended(row)
			}
		}
	}
}

func (s *Summary) ended(row *guard.Row) {
	s.MaxRatio = max(s.MaxRatio, row.Ratio)
	switch row.Outcome {
	case guard.Succeeded:
		s.Succeeded++
	case guard.Failed, guard.TimedOut, guard.Aborted:
		s.Failed++
	case guard.Skipped:
		s.Skipped++
	case guard.Coalesced:
		s.Coalesced++
	case guard.Replaced:
		s.Replaced++
	case guard.Expired:
		s.Expired++
	case guard.Abandoned:
		s.Abandoned++
	case guard.LeaseLost:
		s.LeaseLost++
	case guard.Running, guard.Queued, guard.Missed:
	}
}

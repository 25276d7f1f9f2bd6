package sentinel

import (
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Overdue is how long ago a job's next success should have been on record. The first tick
// planned after the last success is expected to have succeeded after its maximum run time,
// and so much later as is no trouble yet: two intervals, and never more than the time in
// which the tick may still come. expected is zero where no success is: the job is paused, or
// its schedule plans no further tick. It is false for a job without a schedule.
func Overdue(g guard.Guard, now guard.Millis) (overdue time.Duration, expected guard.Millis, ok bool) {
	if g.Spec == nil || g.SpecHash == "" {
		return 0, 0, false
	}
	plan, err := engine.PlannedBy(g)
	if err != nil { // the sweep of the same guard reports it
		return 0, 0, false
	}
	// Not before the spec was changed, as for missed ticks, and not while the job was paused.
	resumed := g.ResumedAt
	if p := g.Paused; p != nil {
		if p.Until == 0 || now < p.Until {
			return 0, 0, true
		}
		resumed = max(resumed, p.Until)
	}
	tick := plan.Next(max(g.LastSuccessAt, g.SpecSince, resumed))
	if owed(g, plan, resumed) {
		tick = g.LastTick
	}
	if tick == 0 {
		return 0, 0, true
	}
	late := g.Spec.Window()
	if interval := plan.Interval(tick.Time()); interval > 0 {
		late = min(late, 2*interval)
	}
	expected = tick.Add(g.Spec.MaxRun() + late)
	return max(0, now.Sub(expected)), expected, true
}

// owed tells whether the last tick on record, of before the spec was changed, is still without a
// success: no deployment makes up for it. That holds where the tick is the one before the change;
// an older one is of a job that was away meanwhile, or of another schedule.
func owed(g guard.Guard, plan engine.Planned, resumed guard.Millis) bool {
	if g.LastSuccessAt == 0 || g.LastTick <= max(g.LastSuccessAt, resumed) || g.LastTick > g.SpecSince {
		return false
	}
	next := plan.Next(g.LastTick)
	return next == 0 || next > g.SpecSince.Add(-g.Spec.Window()) // that one may not be on record yet
}

// reportGauges publishes what no event would of a job by which nothing happens any more: how
// long its next success is overdue, since no alarm on the job's own metrics could look back far
// enough, and how much of its interval the run that holds the guard has taken so far. How old
// that run's lease is stands beside them.
func reportGauges(log *telemetry.Writer, g guard.Guard, now guard.Millis) {
	fields, metrics := map[string]any{}, telemetry.Values{}
	if overdue, expected, ok := Overdue(g, now); ok {
		metrics[telemetry.Overdue] = overdue.Seconds()
		fields["lastSuccessAt"] = g.LastSuccessAt.String()
		if expected != 0 {
			fields["expected"] = expected.String()
		}
	}
	if from := g.RunsFrom(); from != 0 && from < now {
		fields["tick"], fields["run"], fields["fence"] = g.Run.Tick, g.Run.ID, g.Fence
		fields["heldForSeconds"] = now.Sub(g.Run.At).Seconds()
		fields["leaseAgeSeconds"], fields["leaseUntil"] = g.LeaseAge(now).Seconds(), g.LeaseUntil.String()
		if plan, err := engine.PlannedBy(g); err == nil { // else the sweep of the same guard reports it
			telemetry.RunningRatio(metrics, now.Sub(from), plan.IntervalOf(g.Run.Tick))
		}
	}
	if len(fields) > 0 {
		log.Line("INFO", "gauges", g.Job, fields, metrics)
	}
}

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// redeploy makes up another spec for the same job: another policy, other durations, another
// way to end, or another schedule.
func redeploy(rng *rand.Rand, s schema.Spec) schema.Spec {
	switch rng.IntN(4) {
	case 0:
		s.Overlap = policy.Overlap(rng.IntN(int(policy.Allow) + 1))
		s.KeepFirst = s.KeepFirst && s.Overlap == policy.QueueOne
		if s.Overlap == policy.Allow {
			s.Beats, s.RenewalSeconds = false, 0
		}
	case 1:
		s.MaxRunSeconds += 30
		s.LeaseSeconds += 20
	case 2:
		s.DrainSeconds = []int64{0, 20, 45}[rng.IntN(3)]
		s.Fenced = s.Overlap != policy.Allow && rng.IntN(2) == 0
	default:
		other := map[string]string{everyMinute: everyOther, everyOther: everyMinute}
		s.Schedule = other[s.Schedule]
		end, _ := time.Parse(time.RFC3339, s.End)
		s.End = end.Add(12 * time.Minute).Format(time.RFC3339) // ten ticks at the least
	}
	s.MachineTimeoutSeconds = machineTimeout(s)
	return s
}

const (
	everyMinute = "cron(* * * * ? *)"
	everyOther  = "cron(0/2 * * * ? *)"
)

// deploy gives the job another spec. Executions that run keep the machine they were started
// with; ticks on their way keep the spec that stood in the schedule.
func (w *World) deploy(s schema.Spec) {
	w.allowed = w.allowed || w.plan.Spec.Overlap == policy.Allow
	sched, err := engine.ScheduleOf(s)
	if err != nil {
		w.violate("plan", err.Error())
		return
	}
	if w.tracing {
		w.log("world", "deploys %+v", s)
	}
	w.plan.Spec, w.sched = &s, sched
	end, _ := time.Parse(time.RFC3339, s.End)
	w.plan.Last = schema.MillisOf(end)
	w.plan.least = min(w.plan.least, Millis(s.MaxRunSeconds*1000))
	w.plan.longestDeadline = max(w.plan.longestDeadline, Millis(s.StartDeadlineSeconds*1000))
	w.plan.settles = max(w.plan.settles, settlesWithin(s))
	w.plan.Until = w.plan.Last + w.plan.settles + w.plan.missedWithin()
	w.deployed++
	w.planNext(w.clock)
}

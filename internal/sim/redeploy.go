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
	pick := func(n ...int64) int64 { return n[rng.IntN(len(n))] }
	switch rng.IntN(7) {
	case 0:
		s.Overlap = policy.Overlap(rng.IntN(int(policy.Allow) + 1))
		s.KeepFirst = s.KeepFirst && s.Overlap == policy.QueueOne
		if s.Overlap == policy.Allow {
			s.Beats, s.RenewalSeconds = false, 0
		}
	case 1:
		s.MaxRunSeconds = pick(45, 75, 150, 180)
		s.LeaseSeconds = leastLease(s) + pick(0, 5, 20, 50)
	case 2:
		s.DrainSeconds = pick(0, 20, 45)
		s.Fenced = s.Overlap != policy.Allow && rng.IntN(2) == 0
	case 3:
		s.StartDeadlineSeconds, s.GraceSeconds = pick(60, 120, 240), pick(0, 10, 40)
	case 4:
		s.CatchUp, s.CatchUpMax = policy.CatchUp(pick(0, 1, 2)), 0
		if s.CatchUp == policy.CatchUpAll {
			s.CatchUpMax = int(pick(1, 3))
		}
	case 5:
		if s.Overlap != policy.Allow {
			s.Retries, s.RetrySeconds = int(pick(0, 1, 2)), pick(0, 200, 400)
		}
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

// remove deletes the job's schedule, or disables it, for a while. Ticks on their way still come; of
// the time until the schedule is there again nobody expects any.
func (w *World) remove() {
	if w.tracing {
		w.log("world", "the schedule is gone for %d s", w.away/1000)
	}
	w.removed = true
	w.deployed++
	w.after(w.away, func() {
		w.removed = false
		w.planNext(w.clock)
	})
	w.away = 0
}

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
	w.plan.ever.add(s)
	w.plan.settles = max(w.plan.settles, settlesWithin(s))
	w.plan.Until = w.plan.Last + w.plan.settles + w.plan.missedWithin()
	w.deployed++
	if !w.removed {
		w.planNext(w.clock)
	}
}

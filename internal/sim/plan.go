package sim

import (
	"math/rand/v2"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Plan is what a world is like: its job, how long its runs take, how often faults strike.
type Plan struct {
	Spec    *schema.Spec // never changed in place: a deployment puts another
	From    Millis       // the first planned tick is later
	Last    Millis       // and none is later than this
	Calm    Millis       // no fault strikes later
	Until   Millis       // the end, unless everything has come right before
	settles Millis       // how long a run may be open
	ever    bounds       // of what its specs have said
	skew    skewMode
	typical Millis // run time
	spread  Millis
	runTime func(planned Millis) Millis // of a simulation without faults
}

type skewMode uint8

const (
	skewNone skewMode = iota
	skewEnds
	skewAny
)

const (
	simScheduler = "sim"
	simJob       = "job"
	simMachine   = "arn:aws:states:us-east-1:000000000000:stateMachine:" + simScheduler + "_" + simJob
)

// midnight is when the worlds with faults begin: 2026-09-07T00:00:00Z.
const midnight Millis = 1_788_739_200_000

// draw makes up a world in which faults strike. Durations are near each other and near the
// interval: that is where orders change.
func draw(rng *rand.Rand) Plan {
	pick := func(n ...int64) int64 { return n[rng.IntN(len(n))] }
	minutes := pick(1, 1, 1, 2)
	s := schema.Spec{
		Version: schema.SpecVersion, Scheduler: simScheduler, Job: simJob, Machine: simMachine,
		Schedule:             map[int64]string{1: everyMinute, 2: everyOther}[minutes],
		Overlap:              policy.Overlap(pick(int64(policy.Skip), int64(policy.Skip), int64(policy.QueueOne), int64(policy.QueueOne), int64(policy.Replace), int64(policy.Replace), int64(policy.Allow))),
		StartDeadlineSeconds: pick(60, 120, 240),
		DrainSeconds:         pick(0, 20, 45),
		MaxRunSeconds:        pick(45, 75, 150),
	}
	if s.Overlap != policy.Allow {
		s.Beats = rng.IntN(3) > 0
		s.Fenced = rng.IntN(4) == 0
		s.Chain = rng.IntN(4) == 0
	}
	if s.Beats {
		s.RenewalSeconds = pick(10, 20, 30)
	}
	s.LeaseSeconds = leastLease(s) + pick(0, 0, 5, 30)
	s.MachineTimeoutSeconds = machineTimeout(s)
	drawOptions(&s, pick)
	// A few ticks come after the last fault: they must find their way again. Then the schedule
	// is over, and everything must come right.
	interval := Millis(minutes) * 60_000
	calm := midnight + interval*Millis(10+rng.IntN(4)) + 30_000
	last := calm + 3*interval
	s.End = last.Time().Format(time.RFC3339)
	p := Plan{
		Spec: &s, From: midnight, Calm: calm, Last: last,
		skew:    skewMode(pick(0, 1, 1, 2)),
		typical: Millis(pick(5, 30, 60, 90, 130)) * 1000, spread: Millis(pick(1, 20, 60)) * 1000,
	}
	p.settles = settlesWithin(s)
	p.ever.add(s)
	p.Until = last + p.settles + p.missedWithin()
	return p
}

// drawOptions draws what most jobs do without.
func drawOptions(s *schema.Spec, pick func(...int64) int64) {
	s.GraceSeconds = pick(0, 10, 40)
	s.KeepFirst = s.Overlap == policy.QueueOne && pick(0, 1) == 1
	if s.Overlap != policy.Allow {
		s.Retries = int(pick(0, 1, 2))
		s.RetrySeconds = pick(0, 200, 400)
	}
	s.CatchUp = policy.CatchUp(pick(int64(policy.CatchUpNone), int64(policy.CatchUpLatest), int64(policy.CatchUpAll)))
	if s.CatchUp == policy.CatchUpAll {
		s.CatchUpMax = int(pick(1, 3))
	}
}

func leastLease(s schema.Spec) int64 { return seconds(schema.MinLease(s.Renewal())) }

// machineTimeout is what infra/cronfence gives the machine.
func machineTimeout(s schema.Spec) int64 {
	timeout := s.MaxRunSeconds + seconds(schema.MachineSlack)
	if s.Beats {
		timeout += s.LeaseSeconds - seconds(schema.SkewMargin) - s.RenewalSeconds
	}
	return timeout
}

// beatRetries is how often the machine tries a failing beat again: infra/cronfence counts
// the same way.
func beatRetries(s schema.Spec) (n int) {
	left := s.Lease() - schema.SkewMargin - s.Renewal() - schema.HeartbeatTimeout
	for delay := time.Second; ; n++ {
		if left -= delay + schema.HeartbeatTimeout; left < 0 {
			return n
		}
		delay = min(2*delay, 10*time.Second)
	}
}

// settlesWithin bounds how long a run may be open: the longest with its lease, its drain, its
// retries and the sweeps that find it.
func settlesWithin(s schema.Spec) Millis {
	hold := s.MachineTimeout() + s.Lease() + s.Drain() + schema.SettleAllowance + schema.StartAllowance + 4*schema.Sweep
	return Millis((time.Duration(1+s.Retries)*hold + s.StartDeadline()).Milliseconds())
}

// missedWithin is how long after its instant a tick that never came must be on record.
func (p *Plan) missedWithin() Millis {
	return p.ever.longWindow() + Millis((4 * schema.Sweep).Milliseconds())
}

// behave draws what a run is going to do.
func (p *Plan) behave(w *World, x *execution) behaviour {
	if p.runTime != nil {
		_, planned := guard.KindOf(x.in.Tick)
		return behaviour{lasts: p.runTime(planned)}
	}
	b := behaviour{delay: w.between(5, 800), lasts: max(1, p.typical+w.between(-p.spread, p.spread))}
	if w.rng.IntN(30) == 0 {
		b.delay = w.between(1_000, 14_000) // throttled
	}
	if !w.faults.chance(3) {
		return b
	}
	faults := []Fault{RunFails, RunCrashes, RunHangs, RunBroken, BeatLate, BeatLate}
	b.fault = faults[w.rng.IntN(len(faults))]
	switch b.fault {
	case RunFails:
		b.error = "OutOfStock"
	case RunCrashes:
		b.error = "Lambda.Unknown"
	case RunHangs:
		b.lasts = 24 * 3600 * 1000
	case RunBroken:
		b.broken = w.between(1, b.lasts+5_000)
	case BeatLate:
		b.beatDelay = w.between(20_000, Millis(2*p.Spec.Lease().Milliseconds()))
	default: // no other is a run's
	}
	return b
}

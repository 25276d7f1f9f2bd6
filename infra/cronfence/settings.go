package cronfence

import (
	"encoding/json"
	"time"

	"github.com/aws/constructs-go/constructs/v10"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// settle turns props into the spec that the dispatcher gets, machine aside, and the
// payload as JSON; or says everything that is wrong with them. scope is the job.
func (p *JobProps) settle(scope constructs.Construct, name string) (schema.Spec, json.RawMessage, problems) {
	var bad problems
	bad.add(schema.CheckJob(name))
	if p.Scheduler == nil {
		bad.addf("scheduler: none given: must be one made with NewScheduler")
	}
	bad.add(checkSchedule(p.Schedule))
	payload, err := encodePayload(p.Payload)
	bad.add(err)
	facts := targetFacts{}
	if p.Target == nil {
		bad.addf("target: none given: must be the work, such as LambdaTarget(fn)")
	} else {
		facts = p.Target.facts(scope)
		bad = append(bad, facts.bad...)
	}
	bad.add(checkCarrier(payload, facts))
	p.checkOverlap(facts, &bad)
	p.checkAlarms(&bad)
	o := p.options(&bad)
	t := p.times(facts, &bad)
	if len(bad) > 0 {
		return schema.Spec{}, nil, bad
	}
	spec := p.spec(name, t, o)
	spec.Chain = facts.doubtful
	spec.DrainSeconds = wholeSeconds(facts.drain)
	if facts.untilDeadline {
		spec.DrainSeconds = spec.MaxRunSeconds
	}
	probe := spec // the real ARN is known to CloudFormation only
	probe.Machine = "arn:aws:states:::stateMachine:" + schema.MachineName(spec.Scheduler, name)
	bad.add(probe.Check())
	return spec, payload, bad
}

func checkSchedule(s schedule.Schedule) error {
	if s.IsZero() {
		return errNoSchedule
	}
	return s.Err()
}

// checkOverlap refuses what no run could do.
func (p *JobProps) checkOverlap(target targetFacts, bad *problems) {
	if _, err := p.Overlap.MarshalText(); err != nil {
		bad.add(err)
		return
	}
	if p.Overlap == policy.Allow && p.Fenced {
		bad.addf("overlap %q of a fenced job: must be another: runs side by side would refuse each other's writes", p.Overlap)
	}
	if p.Overlap == policy.Replace && !p.Fenced && target.unstoppable != "" {
		bad.addf("overlap %q: must be another, unless the job is fenced or its work can be stopped: %s", p.Overlap, target.unstoppable)
	}
}

// times are a job's durations with the defaults filled in.
type times struct {
	lease, renewal, maxRun, startDeadline time.Duration
	beats                                 bool
}

func (p *JobProps) times(target targetFacts, bad *problems) times {
	byDefault := schema.DefaultMaxRun
	if target.timeout > 0 {
		byDefault = target.timeout
	}
	before := len(*bad)
	t := times{
		lease:         orDefault("lease", p.Lease, schema.DefaultLease, bad),
		renewal:       orDefault("renewal", p.Renewal, schema.DefaultRenewal, bad),
		maxRun:        orDefault("maximum run time", p.MaxRun, byDefault, bad),
		startDeadline: orDefault("start deadline", p.StartDeadline, schema.DefaultStartDeadline, bad),
	}
	if len(*bad) > before {
		return t
	}
	p.checkStart(t.startDeadline, bad)
	if target.known && target.timeout > t.maxRun && !p.Fenced {
		bad.addf("maximum run time %v: must be at least the function's own timeout of %v, which nothing can cut short, unless the job is fenced", t.maxRun, target.timeout)
	}
	if target.heartbeat >= t.maxRun {
		bad.addf("target: heartbeat %v: must be less than the maximum run time of %v", target.heartbeat, t.maxRun)
	}
	// Runs of Allow hold no guard, and so there is no lease to renew.
	t.beats = p.Overlap != policy.Allow && !schema.FitsWithoutBeats(t.maxRun, t.lease)
	if !t.beats {
		t.renewal = 0
	}
	bad.add(schema.CheckTimes(t.maxRun, t.lease, t.renewal, target.events))
	return t
}

// checkStart refuses a start deadline that a tick in time could miss.
func (p *JobProps) checkStart(deadline time.Duration, bad *problems) {
	switch {
	case deadline < time.Minute:
		bad.addf("start deadline %v: must be at least 1m0s, the precision of EventBridge Scheduler", deadline)
	case p.Spread > 0 && deadline < p.Spread+time.Minute:
		bad.addf("start deadline %v: must be at least %v, the spread and a minute", deadline, p.Spread+time.Minute)
	}
}

func orDefault(name string, got, byDefault time.Duration, bad *problems) time.Duration {
	if got == 0 {
		return byDefault
	}
	bad.add(schema.CheckDuration(name, got, byDefault))
	return got
}

func (p *JobProps) spec(name string, t times, o options) schema.Spec {
	deployed := deployedSchedule(p.Schedule)
	return schema.Spec{
		Version:               schema.SpecVersion,
		Scheduler:             p.Scheduler.name,
		Job:                   name,
		Schedule:              deployed.Expression(),
		Timezone:              deployed.Timezone(),
		Start:                 instant(p.Schedule.Start()),
		End:                   instant(p.Schedule.End()),
		Overlap:               p.Overlap,
		KeepFirst:             p.KeepFirst,
		Retries:               p.Retries,
		CatchUp:               p.CatchUp,
		CatchUpMax:            o.catchUpMax,
		Beats:                 t.beats,
		Fenced:                p.Fenced,
		LeaseSeconds:          wholeSeconds(t.lease),
		RenewalSeconds:        wholeSeconds(t.renewal),
		MaxRunSeconds:         wholeSeconds(t.maxRun),
		MachineTimeoutSeconds: wholeSeconds(schema.MachineTimeout(t.maxRun, t.lease, t.renewal)),
		StartDeadlineSeconds:  wholeSeconds(t.startDeadline),
		GraceSeconds:          wholeSeconds(o.grace),
		RetrySeconds:          wholeSeconds(o.retryWindow),
		CatchUpSeconds:        wholeSeconds(o.catchUpWindow),
	}
}

// deployedSchedule writes a rate as cron where cron has the same ticks: a rate counts
// from whenever it was deployed, and only the first delivered tick would tell.
func deployedSchedule(s schedule.Schedule) schedule.Schedule {
	if cron, ok := s.AsCron(); ok {
		return cron
	}
	return s
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

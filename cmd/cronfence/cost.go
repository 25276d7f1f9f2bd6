package main

import (
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

type costOptions struct {
	schedule, timezone string
	runTime, maxRun    time.Duration
	lease, renewal     time.Duration
	target             string
	overlap            string
	chainStates        int
	skipShare          float64
	skipShareGiven     bool
	json               bool
}

func newCostCommand() *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "What a job will cost a month on AWS",
		Long: `Estimates what a job costs a month, line by line: requests, state transitions, Lambda time, log
bytes, its metrics and alarms, times public prices (` + cost.Region + `, ` + cost.PricesOf + `, beyond the free tiers). The job's
own work is not in it. What the scheduler costs however few jobs it has is said apart: it comes on top
once. A job that could not be deployed is refused. See docs/cost.md.

A month is the twelfth of 365.25 days. Of a schedule that comes less than once a month it has that
fraction of a run; of one that ends, and of at(...), notes say what the figures are of.

With --json it writes one document: target, shape, maxRunTimeSeconds, chainStates, beatsPerRun,
runsPerMonth, skipsPerMonth, transitionsPerRun (chainStates in it), requestsPerRun and
requestsPerSkip (to DynamoDB), usdPerMillionRuns and usdPerMillionSkips (of these alone),
usdPerMonth (all that the job costs), usdPerMonthWatching (of it metrics, alarms and the
sentinel's look), lines, scheduler (usdPerMonth, usdPerMonthWithoutDashboard, lines), alternatives
(name, usdPerMillionRuns, usdPerMillionSkips, usdPerMonth, note), notes, pricesOf, region.
usdPerMonth has the watching in it and the scheduler not; those of alternatives have neither:
beside usdPerMonth of an alternative belongs usdPerMonth - usdPerMonthWatching.`,
		Example: `  cronfence cost --schedule 'rate(15 minutes)' --run-time 40s --max-run-time 45s
  cronfence cost --schedule 'rate(1 minute)' --run-time 3m --json
  cronfence cost --schedule 'cron(0 2 * * ? *)' --run-time 1h --target chain --chain-states 6
  cronfence cost --schedule 'rate(1 hour)' --run-time 10m --json | jq '.usdPerMonth - .usdPerMonthWatching, .alternatives[].usdPerMonth'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.skipShareGiven = cmd.Flags().Changed("skip-share")
			return runCost(o, time.Now(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.schedule, "schedule", "", "EventBridge expression: cron(...), rate(...) or at(...)")
	flags.StringVar(&o.timezone, "timezone", "UTC", "IANA zone, such as Europe/Berlin")
	flags.DurationVar(&o.runTime, "run-time", 0, "how long a run takes, such as 90s")
	flags.DurationVar(&o.maxRun, "max-run-time", 0, "the job's bound on a run; with the default lease up to 45s needs no heartbeat (default: 15m of a function, else 1h, or the run time if that is longer)")
	flags.StringVar(&o.target, "target", "", "what does the work: lambda, task-token, ecs, batch, glue, state-machine or chain (default: lambda, or ecs where a run is longer than the 15m of a function)")
	flags.StringVar(&o.overlap, "overlap", "skip", "what a tick does that finds its job running: skip, or allow, whose runs have no heartbeat")
	flags.IntVar(&o.chainStates, "chain-states", 0, "states that a run enters in your own chain, with --target chain")
	flags.DurationVar(&o.lease, "lease", 0, "the job's lease (default: 2m, or what the renewal needs)")
	flags.DurationVar(&o.renewal, "renewal", 0, "time between two beats (default: 30s)")
	flags.Float64Var(&o.skipShare, "skip-share", 0, "share of the ticks that are skipped, 0 to 1 (default: what schedule and run time come to)")
	flags.BoolVar(&o.json, "json", false, "write one JSON document")
	completeFlag(cmd, "overlap", policy.Skip.String(), policy.Allow.String())
	completeFlag(cmd, "target", cost.Targets...)
	return cmd
}

func runCost(o costOptions, now time.Time, out io.Writer) error {
	s, job, err := o.read()
	if err != nil {
		return err
	}
	from := now.Truncate(time.Second)
	pace := cost.PaceOf(s, from)
	job.TicksPerMonth, job.SkipShare = pace.PerMonth, o.skipShare
	about := ""
	if !o.skipShareGiven && job.Overlap == policy.Skip {
		job.SkipShare = cost.SkipShare(s, from, o.runTime)
		about = cost.ShareNote(s, from, o.runTime, job.SkipShare)
	}
	e := cost.Of(job)
	for _, note := range []string{about, pace.Note(e)} {
		if note != "" {
			e.Notes = append([]string{note}, e.Notes...)
		}
	}
	if o.json {
		return writeJSON(out, e)
	}
	return writeCost(out, job, e)
}

// read checks the flags.
func (o costOptions) read() (schedule.Schedule, cost.Job, error) {
	job, err := o.job()
	if err != nil {
		return schedule.Schedule{}, cost.Job{}, err
	}
	s, err := schedule.Parse(o.schedule, schedule.In(o.timezone))
	if err != nil {
		return schedule.Schedule{}, cost.Job{}, usagef("%w", err)
	}
	return s, job, nil
}

// policy is one of those whose ticks are estimated.
func (o costOptions) policy() (policy.Overlap, error) {
	overlap, err := policy.ParseOverlap(o.overlap)
	switch {
	case err != nil || overlap != policy.Skip && overlap != policy.Allow:
		return overlap, usagef("--overlap %q: must be skip or allow: what a tick costs that waits is not estimated; runs cost what they do with skip", o.overlap)
	case overlap == policy.Allow && o.skipShare > 0:
		return overlap, usagef("--skip-share %v: must be left out with --overlap allow, which skips none", o.skipShare)
	}
	return overlap, nil
}

// job is all but its ticks.
func (o costOptions) job() (cost.Job, error) {
	none := cost.Job{}
	switch {
	case o.schedule == "":
		return none, usagef("--schedule is not set: must be an EventBridge expression, such as 'cron(0 2 * * ? *)' or 'rate(15 minutes)'")
	case o.runTime <= 0 || o.runTime > schema.MaxDuration:
		return none, usagef("--run-time %v: must be a duration above 0 and of at most a year, the longest that an execution lasts, such as 90s", o.runTime)
	case math.IsNaN(o.skipShare) || o.skipShare > 1 || o.skipShare < 0:
		return none, usagef("--skip-share %v: must be 0 to 1", o.skipShare)
	}
	overlap, err := o.policy()
	if err != nil {
		return none, err
	}
	job := cost.Job{RunTime: o.runTime, MaxRunTime: o.maxRun, Target: cost.DefaultTarget(o.runTime), Overlap: overlap, ChainStates: o.chainStates, Lease: o.lease, Renewal: o.renewal}
	if o.target != "" {
		t, err := cost.ParseTarget(o.target)
		if err != nil {
			return none, usagef("--target %w", err)
		}
		job.Target = t
	}
	if o.chainStates < 0 || o.chainStates > 0 && job.Target != cost.Chain {
		return none, usagef("--chain-states %d: must be 0 or more, and given with --target chain alone", o.chainStates)
	}
	if o.maxRun == 0 {
		job.MaxRunTime = job.Target.DefaultMaxRun(o.runTime)
	}
	for _, d := range []struct {
		name           string
		got, byDefault time.Duration
	}{
		{"--max-run-time", o.maxRun, job.Target.DefaultMaxRun(o.runTime)}, {"--lease", o.lease, schema.DefaultLease}, {"--renewal", o.renewal, schema.DefaultRenewal},
	} {
		if err := schema.CheckDuration(d.name, d.got, d.byDefault); err != nil {
			return none, usagef("%w", err)
		}
	}
	if o.maxRun != 0 && o.maxRun < o.runTime {
		return none, usagef("--max-run-time %v: must be at least the run time, %v", o.maxRun, o.runTime)
	}
	if err := job.Check(); err != nil {
		return none, usagef("%w", err)
	}
	return job, nil
}

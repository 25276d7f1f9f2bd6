package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

type costOptions struct {
	schedule, timezone string
	runTime, maxRun    time.Duration
	skipShare          float64
	json               bool
}

func newCostCommand() *cobra.Command {
	o := costOptions{skipShare: -1}
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "What a job will cost a month on AWS",
		Long: `Estimates what a job costs a month, line by line: requests, state transitions, Lambda time, log
bytes, its metrics and alarms, times public prices (` + cost.Region + `, ` + cost.PricesOf + `, beyond the free tiers). The job's
own work is not in it, nor what a scheduler costs however few jobs it has: see docs/cost.md.

With --json it writes one document: runsPerMonth, skipsPerMonth, transitionsPerRun,
requestsPerRun and requestsPerSkip (to DynamoDB), usdPerMillionRuns, usdPerMonth, lines,
alternatives, pricesOf, region. usdPerMillionRuns is of runs alone; usdPerMonth has skips, metrics and
alarms as well.`,
		Example: `  cronfence cost --schedule 'rate(15 minutes)' --run-time 40s --max-run-time 45s
  cronfence cost --schedule 'rate(1 minute)' --run-time 3m --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCost(o, time.Now(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.schedule, "schedule", "", "EventBridge expression: cron(...), rate(...) or at(...)")
	flags.StringVar(&o.timezone, "timezone", "UTC", "IANA zone, such as Europe/Berlin")
	flags.DurationVar(&o.runTime, "run-time", 0, "how long a run takes, such as 90s")
	flags.DurationVar(&o.maxRun, "max-run-time", 0, "the job's bound on a run; up to 45s no heartbeat is needed (default: 1h, or the run time if that is longer)")
	flags.Float64Var(&o.skipShare, "skip-share", -1, "share of the ticks that are skipped, 0 to 1 (default: what schedule and run time come to)")
	flags.BoolVar(&o.json, "json", false, "write one JSON document")
	return cmd
}

func runCost(o costOptions, now time.Time, out io.Writer) error {
	s, err := o.read()
	if err != nil {
		return err
	}
	if o.maxRun == 0 {
		o.maxRun = max(schema.DefaultMaxRun, o.runTime)
	}
	from := now.Truncate(time.Second)
	if o.skipShare < 0 {
		o.skipShare = cost.SkipShare(s, from, o.runTime)
	}
	e := cost.Of(cost.Job{
		TicksPerMonth: cost.TicksPerMonth(s, from), RunTime: o.runTime, MaxRunTime: o.maxRun, SkipShare: o.skipShare,
	})
	if o.json {
		return writeJSON(out, e)
	}
	return writeCost(out, e)
}

// maxRunTime is how long an execution of Step Functions lasts at the most.
const maxRunTime = 365 * 24 * time.Hour

// read checks the flags.
func (o costOptions) read() (schedule.Schedule, error) {
	switch {
	case o.schedule == "":
		return schedule.Schedule{}, usagef("--schedule is not set: must be an EventBridge expression, such as 'cron(0 2 * * ? *)' or 'rate(15 minutes)'")
	case o.runTime <= 0 || o.runTime > maxRunTime:
		return schedule.Schedule{}, usagef("--run-time %v: must be a duration above 0 and of at most a year, the longest that an execution lasts, such as 90s", o.runTime)
	case o.maxRun != 0 && (o.maxRun < o.runTime || o.maxRun > maxRunTime):
		return schedule.Schedule{}, usagef("--max-run-time %v: must be at least the run time, %v, and at most a year", o.maxRun, o.runTime)
	case math.IsNaN(o.skipShare) || o.skipShare > 1 || o.skipShare < 0 && o.skipShare != -1:
		return schedule.Schedule{}, usagef("--skip-share %v: must be 0 to 1", o.skipShare)
	}
	s, err := schedule.Parse(o.schedule, schedule.In(o.timezone))
	if err != nil {
		return schedule.Schedule{}, usagef("%w", err)
	}
	return s, nil
}

// writeCost writes a line for each thing that is paid for, and the sums.
func writeCost(out io.Writer, e cost.Estimate) error {
	table := newColumns(out, column{name: "ITEM"}, column{name: "A RUN"}, column{name: "A SKIP"}, column{name: "A MONTH", spare: 1},
		column{name: "USD A UNIT", spare: 2}, column{name: "USD, A MILLION RUNS"}, column{name: "USD A MONTH"})
	for _, l := range e.Lines {
		err := table.add(l.Item, units(l.PerRun), units(l.PerSkip), units(l.PerMonth), units(l.UnitPriceUSD),
			fmt.Sprintf("%.2f", l.USDPerMillionRuns), fmt.Sprintf("%.2f", l.USDPerMonth))
		if err != nil {
			return err
		}
	}
	if err := table.add("in all", "", "", "", "", fmt.Sprintf("%.2f", e.USDPerMillionRuns), fmt.Sprintf("%.2f", e.USDPerMonth)); err != nil {
		return err
	}
	if err := table.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%.0f runs and %.0f skips a month; a run makes %d state transitions and %d requests to DynamoDB, a skip %d.\n"+
		"Prices of %s in %s, beyond the free tiers; Lambda times are assumed. A million runs elsewhere:\n",
		e.RunsPerMonth, e.SkipsPerMonth, e.TransitionsPerRun, e.RequestsPerRun, e.RequestsPerSkip, e.PricesOf, e.Region)
	for _, a := range e.Alternatives {
		if err == nil {
			_, err = fmt.Fprintf(out, "  $%.2f  %s: %s\n", a.USDPerMillionRuns, a.Name, a.Note)
		}
	}
	if err != nil {
		return fmt.Errorf("write cost: %w", err)
	}
	return nil
}

// units writes a count or a price with three significant figures; none is empty.
func units(n float64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

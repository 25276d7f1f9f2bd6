package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/sim"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// maxSimulated bounds the ticks of one simulation: four years of a minutely job.
const maxSimulated = 2_200_000

// overlaps are the policies as flags have them.
var overlaps = []string{policy.Skip.String(), policy.QueueOne.String(), policy.Replace.String(), policy.Allow.String()}

type simulateOptions struct {
	schedule, timezone, overlap, start, history string
	runTime, length                             time.Duration
	runTimeGiven, lengthGiven                   bool
	json                                        bool
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "What would become of a schedule's ticks",
		Long: `Lets the ticks of a schedule run their course in virtual time, over the very code that decides
in AWS, and counts what becomes of them. Nothing fails in it: it shows what an overlap policy
makes of runs that take long. Ends settle before a tick of the same instant.

A history file has the run times of ticks past, a line each: CSV with tick and seconds, or JSON
with "tick" and "seconds", or what the history verb writes with --json. A tick that is not in it
takes as long as the last one before it. The ticks are those between its first and its last one,
unless --start and --for say otherwise; what the history verb writes says the job's schedule too.

With --json it writes one document: ticks, started, succeeded, failed, skipped, coalesced,
replaced, missed, expired, abandoned, leaseLost, maxConcurrent, maxRatio (run time / interval)
and trustedOverlaps (moments at which two runs were trusted; always 0).`,
		Example: `  cronfence simulate --schedule 'rate(1 minute)' --run-time 3m --for 6h
  cronfence simulate --history <(cronfence history cleanup --json) --overlap queue-one`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.runTimeGiven, o.lengthGiven = cmd.Flags().Changed("run-time"), cmd.Flags().Changed("for")
			return runSimulate(o, time.Now(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.schedule, "schedule", "", "EventBridge expression: cron(...), rate(...) or at(...) (default: that of the history)")
	flags.StringVar(&o.timezone, "timezone", "", "IANA zone, such as Europe/Berlin (default: UTC)")
	flags.StringVar(&o.overlap, "overlap", "skip", "what a tick does that finds its job running: skip, queue-one, replace or allow")
	flags.DurationVar(&o.runTime, "run-time", 0, "how long every run takes, such as 3m")
	flags.StringVar(&o.history, "history", "", "file with the run times of ticks, instead of --run-time")
	flags.StringVar(&o.start, "start", "", "instant of the beginning, RFC 3339 (default: now, or the first tick of the history)")
	flags.DurationVar(&o.length, "for", 0, "how long ticks come, such as 6h (default: to the last tick of the history)")
	flags.BoolVar(&o.json, "json", false, "write one JSON document")
	completeFlag(cmd, "overlap", overlaps...)
	return cmd
}

func runSimulate(o simulateOptions, now time.Time, out io.Writer) error {
	options, err := o.read(now)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it makes much rubbish and keeps little
	s, err := sim.Simulate(options)
	if err != nil {
		return err
	}
	if o.json {
		err = writeJSON(out, s)
	} else {
		err = writeSummary(out, s)
	}
	if err == nil && s.TrustedOverlaps > 0 {
		return fmt.Errorf("two runs were trusted at %d moments: this is a fault of Cronfence, please report it with the flags you used", s.TrustedOverlaps)
	}
	return err
}

// read turns the flags into what is simulated. What they leave open the history says.
func (o simulateOptions) read(now time.Time) (sim.Options, error) {
	var none sim.Options
	if err := o.checkRunTimes(); err != nil {
		return none, err
	}
	overlap, err := policy.ParseOverlap(o.overlap)
	if err != nil {
		return none, usagef("--%w", err)
	}
	options := sim.Options{
		Overlap: overlap, From: now.Truncate(time.Minute), For: o.length,
		RunTime: func(time.Time) time.Duration { return o.runTime }, Longest: o.runTime,
	}
	var past sim.Past
	if o.history != "" {
		if past, err = readHistory(o.history); err != nil {
			return none, err
		}
		options.From, options.RunTime, options.Longest = past.First, past.Of, past.Longest()
		if o.schedule == "" {
			o.schedule, o.timezone = past.Schedule, cmp.Or(o.timezone, past.Timezone)
		}
	}
	if o.start != "" {
		if options.From, err = time.Parse(time.RFC3339, o.start); err != nil {
			return none, usagef("--start %q: must be an instant in RFC 3339, such as 2026-03-08T06:00:00Z", o.start)
		}
	}
	if !o.lengthGiven && o.history != "" {
		if past.Last.Before(options.From) {
			return none, usagef("--start %s: is behind the last tick of the history, %s; must not be, or --for must say how long ticks come", o.start, past.Last.Format(time.RFC3339))
		}
		options.For = past.Last.Sub(options.From) + time.Second // that last tick too
	}
	return o.scheduled(options)
}

// checkRunTimes refuses all but one source of run times.
func (o simulateOptions) checkRunTimes() error {
	switch {
	case !o.runTimeGiven && o.history == "":
		return usagef("--run-time is not set, nor is --history: must be one of them, such as --run-time 3m")
	case o.runTimeGiven && o.history != "":
		return usagef("--run-time %v and --history %q: must be exactly one of them", o.runTime, o.history)
	case o.runTimeGiven && o.runTime <= 0:
		return usagef("--run-time %v: must be more than 0, such as 3m", o.runTime)
	}
	return nil
}

// scheduled adds the schedule, and refuses what would take for ever.
func (o simulateOptions) scheduled(options sim.Options) (sim.Options, error) {
	var err error
	switch {
	case o.schedule == "":
		return options, usagef("--schedule is not set: must be an EventBridge expression, such as 'rate(1 minute)'")
	case !o.lengthGiven && options.For == 0:
		return options, usagef("--for is not set: must be a duration such as 6h")
	case options.For <= 0:
		return options, usagef("--for %v: must be more than 0, such as 6h", options.For)
	}
	if options.Schedule, err = schedule.Parse(o.schedule, schedule.In(cmp.Or(o.timezone, "UTC"))); err != nil {
		return options, usagef("%w", err)
	}
	if n := options.Schedule.Between(options.From, options.From.Add(options.For)); n > maxSimulated {
		return options, usagef("--for %v: has %d ticks; must be at most %d", options.For, n, maxSimulated)
	}
	return options, nil
}

func readHistory(file string) (sim.Past, error) {
	f, err := os.Open(file)
	if err != nil {
		return sim.Past{}, usagef("--history: %w", err)
	}
	defer func() { _ = f.Close() }() // it was read only
	past, err := sim.ReadPast(f)
	if err != nil {
		return past, usagef("--history %s: %w", file, err)
	}
	return past, nil
}

// writeSummary says it in words, and leaves out what did not happen.
func writeSummary(out io.Writer, s sim.Summary) error {
	text := fmt.Sprintf("%d ticks\n", s.Ticks)
	for _, line := range []struct {
		what string
		n    int
	}{
		{"started", s.Started},
		{"succeeded", s.Succeeded},
		{"failed", s.Failed},
		{"skipped", s.Skipped},
		{"coalesced", s.Coalesced},
		{"replaced", s.Replaced},
		{"missed", s.Missed},
		{"expired", s.Expired},
		{"abandoned", s.Abandoned},
		{"lease lost", s.LeaseLost},
	} {
		if line.n > 0 {
			text += fmt.Sprintf("%8d %-10s %5.1f %%\n", line.n, line.what, 100*float64(line.n)/float64(s.Ticks))
		}
	}
	text += fmt.Sprintf("at most %d at a time; a run took up to %.2f of its interval\n", s.MaxConcurrent, s.MaxRatio)
	_, err := io.WriteString(out, text)
	return err
}

package main

import (
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

type simulateOptions struct {
	schedule, timezone, overlap, start, history string
	runTime, length                             time.Duration
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
takes as long as the last one before it.

With --json it writes one document: ticks, started, succeeded, failed, skipped, coalesced,
replaced, missed, expired, abandoned, leaseLost, maxConcurrent, maxRatio (run time / interval)
and trustedOverlaps (moments at which two runs were trusted; always 0).`,
		Example: `  cronfence simulate --schedule 'rate(1 minute)' --run-time 3m --for 6h
  cronfence simulate --schedule 'cron(0 * * * ? *)' --overlap queue-one --history runs.csv --for 168h`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSimulate(o, time.Now(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.schedule, "schedule", "", "EventBridge expression: cron(...), rate(...) or at(...)")
	flags.StringVar(&o.timezone, "timezone", "UTC", "IANA zone, such as Europe/Berlin")
	flags.StringVar(&o.overlap, "overlap", "skip", "what a tick does that finds its job running: skip, queue-one, replace or allow")
	flags.DurationVar(&o.runTime, "run-time", 0, "how long every run takes, such as 3m")
	flags.StringVar(&o.history, "history", "", "file with the run times of ticks, instead of --run-time")
	flags.StringVar(&o.start, "start", "", "instant of the beginning, RFC 3339 (default: now, or the first tick of the history)")
	flags.DurationVar(&o.length, "for", 0, "how long ticks come, such as 6h")
	flags.BoolVar(&o.json, "json", false, "write one JSON document")
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

// read turns the flags into what is simulated.
func (o simulateOptions) read(now time.Time) (sim.Options, error) {
	var none sim.Options
	switch {
	case o.schedule == "":
		return none, usagef("--schedule is not set: must be an EventBridge expression, such as 'rate(1 minute)'")
	case o.length <= 0:
		return none, usagef("--for %v: must be a duration such as 6h", o.length)
	case (o.runTime > 0) == (o.history != ""):
		return none, usagef("--run-time %v and --history %q: must be exactly one of them, such as --run-time 3m", o.runTime, o.history)
	}
	overlap, err := policy.ParseOverlap(o.overlap)
	if err != nil {
		return none, usagef("--%w", err)
	}
	options := sim.Options{
		Overlap: overlap, From: now.Truncate(time.Minute), For: o.length,
		RunTime: func(time.Time) time.Duration { return o.runTime }, Longest: o.runTime,
	}
	if o.history != "" {
		runs, err := readHistory(o.history)
		if err != nil {
			return none, err
		}
		options.From, options.RunTime, options.Longest = runs[0].Tick, runs.Of, runs.Longest()
	}
	if o.start != "" {
		if options.From, err = time.Parse(time.RFC3339, o.start); err != nil {
			return none, usagef("--start %q: must be an instant in RFC 3339, such as 2026-03-08T06:00:00Z", o.start)
		}
	}
	if options.Schedule, err = schedule.Parse(o.schedule, schedule.In(o.timezone)); err != nil {
		return none, usagef("%w", err)
	}
	if n := options.Schedule.Between(options.From, options.From.Add(o.length)); n > maxSimulated {
		return none, usagef("--for %v: has %d ticks; must be at most %d", o.length, n, maxSimulated)
	}
	return options, nil
}

func readHistory(file string) (sim.RunTimes, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usagef("--history: %w", err)
	}
	defer func() { _ = f.Close() }() // it was read only
	runs, err := sim.ReadRunTimes(f)
	if err != nil {
		return nil, usagef("--history %s: %w", file, err)
	}
	return runs, nil
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

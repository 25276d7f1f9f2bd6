package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/report"
)

func newReportCommand() *cobra.Command {
	var o operated
	var full bool
	cmd := o.command("report", "What the week came to, job by job, and where it is heading",
		`Shows a line a job, those first that need a look: the longest run of the last seven days
and of the seven before, median and 95th percentile of the run times, what became of the
ticks, and - where the share of the interval that runs take grows from day to day - the day on
which the job first overlaps itself if that goes on. What to do is said only where the figures
say so. Run times are those of runs that came to an end by themselves; a run that was replaced
took its whole interval.

The trend is a line through the largest ratio of run time to interval of each of the last 14
days (of a rare job: of its last ticks within 90 days), by the median of the slopes between
any two, since the schedule was last changed. It is taken for one if it is beyond chance (six
days with runs at the least) and goes on in each half of the days; a step is none.

With --week it is the last calendar week that is over, Monday to Monday in UTC, as in the
weekly message to the notice topic. With --dev it asks a cronfence dev that still runs.

With --json it writes one document: scheduler, from, to, jobs, each with job, clean, findings
(of noSuccess, silent, failures, misses, stalled, overlaps, willOverlap, skips, paused),
thisWeek and lastWeek (ticks, unplanned, succeeded, failed, timedOut, aborted, skipped, paused,
missed, replaced, coalesced, open, runs, longestSeconds, medianSeconds, p95Seconds, maxRatio,
medianRatio, intervalSeconds; failed has those of timedOut and aborted in it), withoutSuccess (from, to, seconds), trend (ratioPerDay, days,
firstOverlap), advice (do, why), text.`,
		`  cronfence report
  cronfence report --week --scheduler shop --json`,
		func(cmd *cobra.Command, op ops.Operator, _ []string) error {
			r, err := reportOn(cmd.Context(), op, full)
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), r)
			}
			return r.write(cmd.OutOrStdout())
		})
	cmd.Flags().BoolVar(&full, "week", false, "the last full calendar week instead of the last seven days")
	return cmd
}

// weekly is the document of the verb's --json.
type weekly struct {
	Scheduler string        `json:"scheduler"`
	From      time.Time     `json:"from"` // of the job asked last: the week moves on while jobs are asked
	To        time.Time     `json:"to"`   // excluded
	Jobs      []report.Line `json:"jobs"`
}

func reportOn(ctx context.Context, op ops.Operator, full bool) (weekly, error) {
	r := weekly{Jobs: []report.Line{}}
	for j, err := range op.Jobs(ctx) {
		if err != nil {
			return r, err
		}
		week, err := op.Report(ctx, ops.ReportQuery{Job: j.Job, Full: full})
		if err != nil {
			return r, err
		}
		r.Scheduler, r.From, r.To = j.Scheduler, week.From, week.To
		if !week.Line.Empty() {
			r.Jobs = append(r.Jobs, week.Line)
		}
	}
	slices.SortFunc(r.Jobs, report.Worse)
	return r, nil
}

func (r weekly) write(out io.Writer) error {
	if len(r.Jobs) == 0 {
		_, err := fmt.Fprintln(out, "nothing is on record yet")
		return err
	}
	screen := screenOf(out)
	for _, l := range r.Jobs {
		if _, err := fmt.Fprintln(out, screen.wrap(l.Text, 2)); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newLogsCommand() *cobra.Command {
	var o operated
	var groups []string
	cmd := o.command("logs JOB [TICK]", "What a run wrote, and where to find it in the console",
		`Shows the lines that a run's work wrote, the oldest first, and links to its execution and log
groups in the console. Without TICK it is the newest tick that has a run; the id of a run will do. Lines are those of the
functions of the job's state machine between the run's begin and end; a job's runs do not overlap, so
they are this run's. Work of other services - ECS, Batch, Glue - keeps its lines in groups of
its own: name them with --log-group. At most 10,000 lines are shown.

Against `+"`cronfence dev`"+` they are what the job's command or program wrote, with the decisions on
the job among them.

With --json it writes one document: scheduler, job, tick, run, from, until, lines (at, source,
text), truncated, links (what, url), notes.`,
		`  cronfence logs cleanup
  cronfence logs report 2026-09-07T02:00:00Z --log-group /ecs/report`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			q := ops.LogQuery{Job: args[0], Groups: groups}
			if len(args) > 1 {
				var err error
				if q.Tick, err = ops.ParseTickOf(args[0], args[1]); err != nil {
					return usagef("%w", err)
				}
			}
			l, err := op.Logs(cmd.Context(), q)
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), l)
			}
			return writeLogs(cmd, l)
		})
	cmd.Flags().StringArrayVar(&groups, "log-group", nil, "a group of logs in CloudWatch, in the place of those of the job's functions; may be repeated")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return nil
		}
		if _, err := ops.ParseTickOf(args[0], args[1]); err != nil {
			return usagef("%w", err)
		}
		return nil
	}
	return cmd
}

// writeLogs writes lines to standard output and what is about them to standard error, so that
// the lines can be searched.
func writeLogs(cmd *cobra.Command, l ops.Logs) error {
	about := cmd.ErrOrStderr()
	_, _ = fmt.Fprintf(about, "run %s of tick %s\n", l.Run, l.Tick)
	for _, line := range l.Lines {
		if err := writeText(cmd, line.At.UTC().Format("2006-01-02T15:04:05.000Z")+"  "+ops.Printable(line.Text)); err != nil {
			return err
		}
	}
	if len(l.Lines) == 0 {
		_, _ = fmt.Fprintf(about, "no lines between %s and %s\n", instant(l.From), instant(l.Until))
	}
	if l.Truncated {
		_, _ = fmt.Fprintln(about, "there are more lines than these: follow the links")
	}
	for _, note := range l.Notes {
		_, _ = fmt.Fprintln(about, "note: "+ops.Printable(note))
	}
	for _, link := range l.Links {
		_, _ = fmt.Fprintf(about, "%s: %s\n", link.What, link.URL)
	}
	return nil
}

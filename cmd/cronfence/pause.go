package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newPauseCommand() *cobra.Command {
	var o operated
	var p ops.PauseRequest
	var all bool
	cmd := o.command("pause JOB...", "Have ticks skipped, for a reason",
		`Pauses jobs on their guards, on the record: their ticks are Skipped until they are resumed or the
time is over. A run that is going on is not touched; one that waits is skipped. Nothing about the
schedules in EventBridge changes. A pause of a paused job takes the place of the one before.

With --json it writes the job's status afterwards, as `+"`cronfence status --json`"+` does; with
several jobs or --all one document whose jobs have job, done, message and status each.`,
		`  cronfence pause cleanup --reason 'index rebuild' --for 2h
  cronfence pause --all --reason 'database upgrade' --by alice --dry-run`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			return o.onJobs(cmd, op, args, jobsAct{
				all: all,
				act: func(job string) ops.Act {
					r := p
					r.Job = job
					return ops.Act{Job: job, Pause: &r}
				},
				do:   func(a ops.Act) (ops.Status, error) { return op.Pause(cmd.Context(), *a.Pause) },
				text: ops.PausedText,
			})
		})
	cmd.Flags().StringVar(&p.Reason, "reason", "", reasonUsage+"; required")
	cmd.Flags().DurationVar(&p.For, "for", 0, "how long (default: until it is resumed)")
	cmd.Flags().BoolVar(&all, "all", false, "all jobs of the scheduler")
	addBy(cmd, &p.By)
	o.addDryRun(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(p.Reason) == "" {
			return usagef("--reason is not set: say why %s is paused", whichJobs(args))
		}
		if cmd.Flags().Changed("for") && p.For < time.Millisecond {
			return usagef("--for %v: must be positive", p.For)
		}
		p.By = whoever(p.By)
		return asUsage(p.Check())
	}
	return cmd
}

func whichJobs(args []string) string {
	if len(args) == 0 {
		return "every job"
	}
	return strings.Join(args, ", ")
}

// say writes a sentence for a person.
func say(cmd *cobra.Command, text string) error {
	return writeText(cmd, screenOf(cmd.OutOrStdout()).wrap(here(cmd, text), 0))
}

// writeText writes a line as it is.
func writeText(cmd *cobra.Command, text string) error {
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

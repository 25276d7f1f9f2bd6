package main

import (
	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newResumeCommand() *cobra.Command {
	var o operated
	var all bool
	cmd := o.command("resume JOB...", "End pauses",
		`Ends the pauses of jobs. It starts nothing by itself: the next tick does, or a backfill or
catch-up under way, which goes on. A job that is not paused
exits 3; --all passes over those that are not. The overdue alarm counts from then on: what was
owed before the pause, `+"`cronfence run`"+` makes up for.

With --json it writes the job's status afterwards, as `+"`cronfence status --json`"+` does; with
several jobs or --all one document whose jobs have job, done, message and status each.`,
		`  cronfence resume cleanup
  cronfence resume --all --dev http://127.0.0.1:7171`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			return o.onJobs(cmd, op, args, jobsAct{
				all: all, pausedOnly: true,
				act:  func(job string) ops.Act { return ops.Act{Job: job, Resume: true} },
				do:   func(a ops.Act) (ops.Status, error) { return op.Resume(cmd.Context(), a.Job) },
				text: ops.ResumedText,
			})
		})
	cmd.Flags().BoolVar(&all, "all", false, "all jobs of the scheduler that are paused")
	o.addDryRun(cmd)
	return cmd
}

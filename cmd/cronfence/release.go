package main

import (
	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newReleaseCommand() *cobra.Command {
	var o operated
	var by, reason string
	cmd := o.command("release JOB", "Stop the run that holds a job's guard, and free the guard",
		`Marks the run that holds the guard, so that it renews no lease, stops its execution, and frees
the guard once that has ended; a tick that waits runs next. Stopping an execution is not stopping
its work: the guard stays taken for the job's drain time. A guard that nobody holds exits 3.

With --json it writes one document: released, tick, ended, message, status.`,
		`  cronfence release cleanup --reason 'hangs on a lock'
  cronfence release cleanup --reason 'wrong input' --by alice --json`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			res, err := op.Release(cmd.Context(), ops.ReleaseRequest{Job: args[0], By: whoever(by), Reason: reason})
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), res)
			}
			return say(cmd, res.Message)
		})
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record; required")
	addBy(cmd, &by)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if reason == "" {
			return usagef("--reason is not set: say why the run of %s is stopped", args[0])
		}
		return nil
	}
	return cmd
}

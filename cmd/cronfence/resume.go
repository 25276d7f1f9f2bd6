package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newResumeCommand() *cobra.Command {
	var o operated
	return o.command("resume JOB", "End a job's pause",
		`Ends a job's pause. It starts nothing by itself: the next tick does. A job that is not paused
exits 3.

With --json it writes the job's status afterwards, as `+"`cronfence status --json`"+` does.`,
		`  cronfence resume cleanup
  cronfence resume cleanup --dev http://127.0.0.1:7171`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			s, err := op.Resume(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), s)
			}
			text := fmt.Sprintf("%s is resumed", args[0])
			if !s.NextTick.IsZero() {
				text += "; its next tick is " + instant(s.NextTick)
			}
			return say(cmd, text)
		})
}

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newPauseCommand() *cobra.Command {
	var o operated
	var by, reason string
	var length time.Duration
	cmd := o.command("pause JOB", "Have a job's ticks skipped, for a reason",
		`Pauses a job on its guard, on the record: its ticks are Skipped until it is resumed or the time
is over. A run that is going on is not touched; one that waits is skipped. Nothing about the
schedule in EventBridge changes. A pause of a paused job takes the place of the one before.

With --json it writes the job's status afterwards, as `+"`cronfence status --json`"+` does.`,
		`  cronfence pause cleanup --reason 'index rebuild' --for 2h
  cronfence pause cleanup --reason 'until the vendor answers' --by alice`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			s, err := op.Pause(cmd.Context(), ops.PauseRequest{Job: args[0], By: whoever(by), Reason: reason, For: length})
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), s)
			}
			return say(cmd, pausedText(s))
		})
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record; required")
	cmd.Flags().DurationVar(&length, "for", 0, "how long (default: until it is resumed)")
	addBy(cmd, &by)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if reason == "" {
			return usagef("--reason is not set: say why %s is paused", args[0])
		}
		if cmd.Flags().Changed("for") && length <= 0 {
			return usagef("--for %v: must be positive", length)
		}
		return nil
	}
	return cmd
}

func pausedText(s ops.Status) string {
	text := fmt.Sprintf("%s is paused", s.Job.Job)
	if p := s.Paused; p != nil && !p.Until.IsZero() {
		text += " until " + instant(p.Until)
	}
	if h := s.Holder; h != nil {
		text += fmt.Sprintf("; run %s goes on", h.Run)
	}
	if w := s.Waiting; w != nil {
		text += fmt.Sprintf("; tick %s, which waits, will be skipped", w.Tick)
	}
	return text
}

// say writes a line for a person.
func say(cmd *cobra.Command, text string) error {
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

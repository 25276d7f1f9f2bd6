package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newWhyCommand() *cobra.Command {
	var o operated
	cmd := o.command("why JOB TICK", "Why a tick did what it did",
		`Explains a tick in sentences, from its row in the ledger: which run took it or what stood in
its way, for how long and until when, how it ended, and what its runs noted of their progress
(package job/notes). Of a tick without a row it says whether it
is still to come, never came, lies before the record began or is not on the schedule. A tick is
an instant in RFC 3339 in any zone, an id such as manual-2026-09-07T10:05:00.000Z, or the id of
one of its runs, as logs and consoles show it.

With --json it writes one document: scheduler, job, tick, known (recorded, missed, planned,
pending, before-record, unscheduled, no-record), sentences, entry, notes (name, text, at, run,
fence). Characters that no terminal should get are shown as U+FFFD.`,
		`  cronfence why cleanup 2026-09-07T02:01:00Z
  cronfence why report 2026-09-07T02:00:00+02:00 --json`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			tick, err := ops.ParseTickOf(args[0], args[1])
			if err != nil {
				return usagef("%w", err)
			}
			x, err := op.Why(cmd.Context(), args[0], tick)
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), x)
			}
			s := screenOf(cmd.OutOrStdout())
			for _, sentence := range x.Sentences {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.wrap(here(cmd, sentence), 0)); err != nil {
					return fmt.Errorf("write explanation: %w", err)
				}
			}
			return nil
		})
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if _, err := ops.ParseTickOf(args[0], args[1]); err != nil {
			return usagef("%w", err)
		}
		return nil
	}
	return cmd
}

package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

func newReleaseCommand() *cobra.Command {
	var o operated
	var r ops.ReleaseRequest
	var yes bool
	cmd := o.command("release JOB", "Stop the run that holds a job's guard, and free the guard",
		`Marks the run that holds the guard, so that it renews no lease, stops its execution, and frees
the guard once that has ended; a tick that waits runs next. Stopping an execution is not stopping
its work: the guard stays taken for the job's drain time. A guard that nobody holds exits 3.

It says what it is about to stop and asks first. Without a terminal there is nobody to ask: it
exits 2 unless --yes is given. It stops the run that it told of, that of --run or, with --yes alone,
the one that it finds: if another has the guard by then, that one is left alone, and it exits 3.

With --json it writes one document: released, tick, ended, message, status.`,
		`  cronfence release cleanup --reason 'hangs on a lock'
  cronfence release cleanup --run cleanup-20260907T020000Z-1 --reason 'wrong input' --by alice --yes --json`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			r.Job = args[0]
			act := ops.Act{Job: r.Job, Release: &r}
			if o.dryRun {
				return o.preview(cmd, op, act)
			}
			if !yes {
				p, err := op.Preview(cmd.Context(), act) // what is refused need not be confirmed
				if err != nil {
					return err
				}
				if err := confirm(cmd, p.Would); err != nil {
					return err
				}
				r.Run = p.Run // what was confirmed, whoever holds the guard by now
			}
			res, err := op.Release(cmd.Context(), r)
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), res)
			}
			return say(cmd, res.Message)
		})
	cmd.Flags().StringVar(&r.Reason, "reason", "", reasonUsage+"; required")
	cmd.Flags().StringVar(&r.Run, "run", "", "`RUN` that is meant, as status shows it (default: whichever holds the guard)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	addBy(cmd, &r.By)
	o.addDryRun(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(r.Reason) == "" {
			return usagef("--reason is not set: say why the run of %s is stopped", args[0])
		}
		r.By = whoever(r.By)
		if err := r.Check(); err != nil {
			return asUsage(err)
		}
		if !yes && !o.dryRun && !asking(cmd) {
			return usagef("--yes is not set, and there is no terminal to ask on: see what it would do with --dry-run, then add --yes")
		}
		return nil
	}
	return cmd
}

// asking tells whether there is somebody to ask; a test answers in a person's place.
var asking = func(cmd *cobra.Command) bool { return isTerminal(cmd.InOrStdin()) }

// confirm asks, on standard error, and takes only a yes for one.
func confirm(cmd *cobra.Command, would []string) error {
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s\nGo on? [y/N] ", ops.Printable(strings.Join(would, "; ")))
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if text := strings.ToLower(strings.TrimSpace(answer)); text == "y" || text == "yes" {
		return nil
	}
	if err != nil {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr())
	}
	return &guard.Refusal{Reason: "not confirmed: nothing is changed"}
}

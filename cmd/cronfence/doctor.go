package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newDoctorCommand() *cobra.Command {
	var o operated
	return o.command("doctor", "What is stuck, orphaned or misconfigured, and what mends it",
		`Looks at every job's guard, newest ticks and execution, at the schedules against the stacks that
deployed them, at the table, the alarms and the queue of dead letters, and shows each finding
with the command or change that mends it. It changes nothing. What the endpoint does not offer,
or the credentials do not allow, is said and not guessed. It exits 1 when something is found.

Findings: expired-holder, ended-holder, unheeded-stop, blocked-guard, stuck-waiting,
stuck-backlog, unknown-job, schedule-missing, schedule-changed, dead-letters, silent-alarm,
no-ttl, no-point-in-time-recovery, history-limit, high-ratio, orphaned-guard.

With --json it writes one document: scheduler, jobs (how many), findings (kind, job, what, fix),
unchecked (what, why).`,
		`  cronfence doctor
  cronfence doctor --scheduler shop --json`,
		func(cmd *cobra.Command, op ops.Operator, _ []string) error {
			d, err := op.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			if o.json {
				err = writeJSON(cmd.OutOrStdout(), d)
			} else {
				err = writeDiagnosis(cmd, d)
			}
			if err == nil && len(d.Findings) > 0 {
				err = errFindings(d)
			}
			return err
		})
}

func errFindings(d ops.Diagnosis) error {
	if len(d.Findings) == 1 {
		return errors.New("1 finding")
	}
	return fmt.Errorf("%d findings", len(d.Findings))
}

func writeDiagnosis(cmd *cobra.Command, d ops.Diagnosis) error {
	s := screenOf(cmd.OutOrStdout())
	for _, f := range d.Findings {
		if verb, _, _ := strings.Cut(strings.TrimPrefix(f.Fix, "cronfence "), " "); strings.HasPrefix(f.Fix, "cronfence ") && slices.Contains(operating, verb) {
			f.Fix += whereFlags(cmd)
		}
		title := s.paint(red, f.Kind)
		if f.Job != "" {
			title += "  " + s.paint(bold, f.Job)
		}
		// The fix stays in one line: it is for copying.
		if err := writeText(cmd, title+"\n  "+s.wrap(f.What, 2)+"\n  fix: "+ops.Printable(f.Fix)+"\n"); err != nil {
			return err
		}
	}
	for _, u := range d.Unchecked {
		if err := writeText(cmd, s.wrap("not looked at: "+u.What+": "+u.Why, 2)); err != nil {
			return err
		}
	}
	if len(d.Findings) > 0 {
		return nil
	}
	return say(cmd, fmt.Sprintf("nothing found in %d jobs", d.Jobs))
}

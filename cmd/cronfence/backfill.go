package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

type backfillOptions struct {
	from, to string
	wait     bool
	yes      bool

	cancel     bool
	by, reason string
	sleep      func(context.Context, time.Duration) error
}

const backfillHelp = `Puts a cursor over the planned ticks between two instants, both included, on the job's guard. They
are run one at a time, the oldest first, whenever nothing else wants the guard: planned ticks and
ticks that wait come first. Where a run takes longer than what is left until the next planned tick,
planned ticks and the backfill take turns, so some planned ticks meet a run of the backfill. Under
policy Replace they wait for it and do not replace it; under Allow it runs beside them and beside
what lingers of them, one of its own at a time.

Each is run whatever became of the planned tick of that instant, under an id of its own,
backfill-TICK, which the job's function finds in its run object. A backfill that is asked for again
passes over ticks of which an earlier one succeeded and runs the others again, as backfill-TICK-2 and
so on; the answer says how many. That one succeeded is known as long as it is on record, for 90 days
if the scheduler's retention is not set: after that it runs again. One that the earlier backfill is
still running is run again if it fails. Ticks that may still come by themselves are left out: those
that are not on record yet within their start deadline and five minutes.

The command ends once the cursor is on the guard; the backfill goes on without it, for 30 days
at the most. It ends before if the job's schedule is edited, since its ticks are then others, and if
one of its runs cannot be started, such as for a missing permission; mend that and ask again. Where
that is the first, started at once, the command fails and says so.
` + "`cronfence status`" + ` shows what was not run and why, and the log has a line of level ERROR.

With --wait it shows how far it has come and returns when all ticks have ended: 0 when all are
Succeeded, else 1. Interrupting it stops nothing. A job with a backfill or catch-up under way exits 3.
More than 1,000 ticks need --yes, and more than 10,000 are refused.

With --cancel it ends the backfill or catch-up under way, on the record: no more of its ticks are
started, and one that runs goes on. ` + "`cronfence status`" + ` shows who ended it, why and what was left.

With --json it writes one document: scheduler, job, ticks (that are to run), passedOver, first, last,
until, version (the guard's: its runs have higher fences), message; with --wait outcomes too, a
number by outcome; with --cancel the job's status afterwards.`

func newBackfillCommand() *cobra.Command {
	var o operated
	b := backfillOptions{sleep: sleep}
	cmd := o.command("backfill JOB", "Run planned ticks of the past, one at a time",
		backfillHelp,
		`  cronfence backfill report --from 2026-09-01T00:00:00Z --to 2026-09-07T00:00:00Z --dry-run
  cronfence backfill report --from 2026-09-01T00:00:00+02:00 --to 2026-09-02T00:00:00+02:00 --wait
  cronfence backfill report --cancel --reason 'wrong range'`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			if b.cancel {
				return o.endBacklog(cmd, op, ops.EndBacklogRequest{Job: args[0], By: whoever(b.by), Reason: b.reason})
			}
			return o.backfill(cmd, op, args[0], b)
		})
	cmd.Flags().StringVar(&b.from, "from", "", "the first instant, RFC 3339; required, but for --cancel")
	cmd.Flags().StringVar(&b.to, "to", "", "the last instant, RFC 3339, in the past; required, but for --cancel")
	cmd.Flags().BoolVar(&b.wait, "wait", false, "wait until all ticks have ended")
	cmd.Flags().BoolVar(&b.yes, "yes", false, "more than 1,000 ticks are meant")
	cmd.Flags().BoolVar(&b.cancel, "cancel", false, "end the backfill or catch-up under way; needs --reason")
	cmd.Flags().StringVar(&b.reason, "reason", "", reasonUsage+"; of --cancel")
	addBy(cmd, &b.by)
	o.addDryRun(cmd)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if b.wait && o.dryRun {
			return usagef("--wait and --dry-run: must be one or the other")
		}
		if b.cancel {
			return b.checkCancel(args[0])
		}
		if b.reason != "" || b.by != "" {
			return usagef("--reason and --by: are for --cancel, and a backfill has none")
		}
		_, err := b.request(args[0])
		return err
	}
	return cmd
}

// checkCancel refuses what does not go with the end of a backfill.
func (b backfillOptions) checkCancel(job string) error {
	if b.from != "" || b.to != "" || b.wait || b.yes {
		return usagef("--cancel: goes with --reason, --by and --dry-run only")
	}
	if strings.TrimSpace(b.reason) == "" {
		return usagef("--reason is not set: say why the backfill of %s is ended", job)
	}
	return asUsage(ops.EndBacklogRequest{By: whoever(b.by), Reason: b.reason}.Check())
}

func (o *operated) endBacklog(cmd *cobra.Command, op ops.Operator, r ops.EndBacklogRequest) error {
	if o.dryRun {
		return o.preview(cmd, op, ops.Act{Job: r.Job, EndBacklog: &r})
	}
	s, err := op.EndBacklog(cmd.Context(), r)
	switch {
	case err != nil:
		return err
	case o.json:
		return writeJSON(cmd.OutOrStdout(), s)
	}
	return say(cmd, ops.BacklogEndedText(s))
}

func (b backfillOptions) request(job string) (ops.BackfillRequest, error) {
	r := ops.BackfillRequest{Job: job, Yes: b.yes}
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"from", b.from, &r.From}, {"to", b.to, &r.To}} {
		if bound.text == "" {
			return r, usagef("--%s is not set: must be an instant in RFC 3339, such as 2026-09-07T02:00:00Z", bound.flag)
		}
		t, err := time.Parse(time.RFC3339, bound.text)
		if err != nil {
			return r, usagef("--%s %q: must be an instant in RFC 3339, such as 2026-09-07T02:00:00Z", bound.flag, bound.text)
		}
		*bound.at = t
	}
	if r.From.After(r.To) {
		return r, usagef("--from %s --to %s: must be in the order of time", b.from, b.to)
	}
	return r, nil
}

// backfilled is the document of `cronfence backfill --json`.
type backfilled struct {
	ops.BackfillResult
	Outcomes map[guard.Outcome]int `json:"outcomes,omitempty"` // once all have ended
}

func (o *operated) backfill(cmd *cobra.Command, op ops.Operator, job string, b backfillOptions) error {
	r, err := b.request(job)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.preview(cmd, op, ops.Act{Job: job, Backfill: &r})
	}
	res, err := op.Backfill(cmd.Context(), r)
	if err != nil {
		return err
	}
	doc := backfilled{BackfillResult: res}
	if !o.json {
		if err := say(cmd, res.Message); err != nil {
			return err
		}
	}
	if b.wait {
		doc.Outcomes, err = ops.WaitBackfill(cmd.Context(), op, res, progressTo(cmd.ErrOrStderr()), b.sleep)
		if err != nil {
			return err
		}
	}
	switch {
	case o.json:
		if err := writeJSON(cmd.OutOrStdout(), doc); err != nil {
			return err
		}
	case !b.wait:
		return say(cmd, fmt.Sprintf("it goes on by itself; `cronfence status %s` shows how far it is", job))
	}
	return doc.err()
}

// err says how a backfill that was waited for ended.
func (d backfilled) err() error {
	if d.Outcomes == nil { // nobody waited
		return nil
	}
	total := 0
	for _, n := range d.Outcomes {
		total += n
	}
	if good := d.Outcomes[guard.Succeeded]; good < total {
		return fmt.Errorf("%d of %d backfilled ticks of %s are not Succeeded; `cronfence history %s --kind backfill` lists them", total-good, total, d.Job, d.Job)
	}
	if total < d.Ticks {
		return fmt.Errorf("%d of %d ticks of %s were not run: the backfill was ended before; see `cronfence status %s`", d.Ticks-total, d.Ticks, d.Job, d.Job)
	}
	return nil
}

// progressTo writes a line whenever something has changed.
func progressTo(out io.Writer) func(ops.BackfillProgress) {
	return func(p ops.BackfillProgress) {
		text := fmt.Sprintf("%d of %d done", p.Done, p.Of)
		if p.Running != "" {
			text += ", " + p.Running + " is running"
		}
		_, _ = fmt.Fprintln(out, text)
	}
}

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

type runOptions struct {
	by, reason, overlap string
	wait                bool
	sleep               func(context.Context, time.Duration) error
}

func newRunCommand() *cobra.Command {
	var o operated
	r := runOptions{sleep: sleep}
	cmd := o.command("run JOB", "Run a job now, through its guard",
		`Asks for a run now, under the job's own overlap policy. The run has an id of its own and eats
no planned tick. One that is refused - the job is held or paused, or a planned tick waits - exits 3
and says by whom and since when; one that waits says so, and makes way for a planned tick.

With --wait it returns when the outcome is final: 0 when it is Succeeded, else 1. With --json
it writes one document: scheduler, job, tick, outcome, run, fence, refused, message, holder;
with --wait entry too, as in `+"`cronfence history --json`.",
		`  cronfence run cleanup --wait
  cronfence run cleanup --overlap queue-one --reason 'after the restore'`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error { return o.runJob(cmd, op, args[0], r) })
	cmd.Flags().BoolVar(&r.wait, "wait", false, "wait for the final outcome")
	cmd.Flags().StringVar(&r.overlap, "overlap", "", "skip, queue-one, replace or allow in the place of the job's own policy, on the record")
	cmd.Flags().StringVar(&r.reason, "reason", "", reasonUsage)
	completeFlag(cmd, "overlap", overlaps...)
	addBy(cmd, &r.by)
	o.addDryRun(cmd)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if r.wait && o.dryRun {
			return usagef("--wait and --dry-run: must be one or the other")
		}
		_, err := r.request(args[0])
		return err
	}
	return cmd
}

func (r runOptions) request(job string) (ops.RunRequest, error) {
	req := ops.RunRequest{Job: job, By: whoever(r.by), Reason: r.reason}
	if err := req.Check(); err != nil {
		return req, asUsage(err)
	}
	if r.overlap == "" {
		return req, nil
	}
	overlap, err := policy.ParseOverlap(r.overlap)
	if err != nil {
		return req, usagef("--%w", err)
	}
	req.Overlap = &overlap
	return req, nil
}

// ran is the document of `cronfence run --json`.
type ran struct {
	ops.RunResult
	Entry *ops.Entry `json:"entry,omitempty"` // once the outcome is final
}

func (o *operated) runJob(cmd *cobra.Command, op ops.Operator, job string, r runOptions) error {
	req, err := r.request(job)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.preview(cmd, op, ops.Act{Job: job, Run: &req})
	}
	res, err := op.Run(cmd.Context(), req)
	if err != nil {
		return err
	}
	doc := ran{RunResult: res}
	progress := cmd.OutOrStdout()
	if o.json {
		progress = cmd.ErrOrStderr()
	}
	if !res.Refused {
		_, _ = fmt.Fprintln(progress, ops.Printable(res.Message))
	}
	if r.wait && !res.Refused {
		e, err := ops.Wait(cmd.Context(), op, job, res.Tick, r.sleep)
		if err != nil {
			return err
		}
		doc.Entry, doc.Outcome, doc.Run, doc.Fence = &e, e.Outcome, e.Run, e.Fence
		if !o.json && e.Outcome == guard.Succeeded {
			_, _ = fmt.Fprintf(progress, "%s: %s in %v\n", e.Tick, e.Outcome, rounded(e.RunTimeSeconds))
		}
	}
	if o.json {
		if err := writeJSON(cmd.OutOrStdout(), doc); err != nil {
			return err
		}
	}
	return doc.err()
}

// err says how the command ends: refused, failed, or well.
func (d ran) err() error {
	switch {
	case d.Refused:
		return &guard.Refusal{Reason: d.Message}
	case !d.Outcome.Final() || d.Outcome == guard.Succeeded:
		return nil
	case d.Entry == nil:
		return fmt.Errorf("%s", d.Message)
	}
	err := fmt.Errorf("%s of job %s ended as %s; `cronfence why %s %s` says more", d.Tick, d.Job, d.Outcome, d.Job, d.Tick)
	if d.Entry.Error != "" {
		err = fmt.Errorf("%w: %s", err, d.Entry.Error)
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

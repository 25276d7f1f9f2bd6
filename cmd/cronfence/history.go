package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

func newHistoryCommand() *cobra.Command {
	o := operated{lines: true}
	var since, outcome, kind string
	cmd := o.command("history JOB", "What a job's ticks did",
		`Lists a job's ticks with their outcomes, the newest first by planned time, in UTC. Neighbouring
ticks that never came are one line.

With --json it writes a line a tick: scheduler, job, tick, at, kind, outcome, final, why, run,
attempt, fence, claimedAt, startedAt, endedAt, delaySeconds, runTimeSeconds, intervalSeconds,
ratio, holder, error, cause, and of missed ticks from and count.`,
		`  cronfence history cleanup --since 24h
  cronfence history cleanup --outcome Failed --json`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			q, err := historyQuery(args[0], since, outcome, kind)
			if err != nil {
				return err
			}
			return o.listHistory(cmd, op, q)
		})
	cmd.Flags().StringVar(&since, "since", "", "planned at or after this instant, RFC 3339, or within a duration before now, such as 24h")
	cmd.Flags().StringVar(&outcome, "outcome", "", "with this outcome only, such as Failed or Skipped")
	cmd.Flags().StringVar(&kind, "kind", "", "of this kind only: scheduled, manual, backfill or catchup")
	completeFlag(cmd, "outcome", ops.Outcomes...)
	completeFlag(cmd, "kind", ops.Kinds...)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		_, err := historyQuery(args[0], since, outcome, kind)
		return err
	}
	return cmd
}

// historyQuery reads the flags.
func historyQuery(job, since, outcome, kind string) (ops.HistoryQuery, error) {
	q := ops.HistoryQuery{Job: job, Kind: guard.Kind(kind)}
	if kind != "" && !slices.Contains(ops.Kinds, q.Kind) {
		return q, usagef("--kind %q: must be scheduled, manual, backfill or catchup", kind)
	}
	if since != "" {
		var err error
		if q.Last, err = time.ParseDuration(since); err != nil || q.Last <= 0 {
			q.Last = 0
			if q.Since, err = time.Parse(time.RFC3339, since); err != nil {
				return q, usagef("--since %q: must be an instant in RFC 3339, such as 2026-09-07T02:00:00Z, or a positive duration, such as 24h", since)
			}
		}
	}
	if outcome == "" {
		return q, nil
	}
	var names []string
	for _, o := range ops.Outcomes {
		if strings.EqualFold(outcome, string(o)) {
			q.Outcome = o
			return q, nil
		}
		names = append(names, string(o))
	}
	return q, usagef("--outcome %q: must be one of %s", outcome, strings.Join(names, ", "))
}

func (o *operated) listHistory(cmd *cobra.Command, op ops.Operator, q ops.HistoryQuery) error {
	table := newHistoryTable(cmd.OutOrStdout())
	for e, err := range op.History(cmd.Context(), q) {
		if err != nil {
			return err
		}
		if o.json {
			err = writeLine(cmd.OutOrStdout(), e)
		} else {
			err = table.add(historyCells(e)...)
		}
		if err != nil {
			return err
		}
	}
	return table.flush()
}

func newHistoryTable(out io.Writer) *columns {
	return newColumns(out, column{name: "TICK"}, column{name: "OUTCOME", colour: outcomeColour}, column{name: "DELAY", spare: 1},
		column{name: "RUN TIME"}, column{name: "RATIO"}, column{name: "WHY", text: true})
}

func historyCells(e ops.Entry) []string {
	delay, runTime, ratio := "", "", ""
	if e.Kind == guard.Scheduled && e.Outcome != guard.Missed {
		delay = rounded(e.DelaySeconds).String()
	}
	if e.RunTimeSeconds > 0 {
		runTime = rounded(e.RunTimeSeconds).String()
	}
	if e.Ratio > 0 {
		ratio = fmt.Sprintf("%.2f", e.Ratio)
	}
	return []string{e.Tick, string(e.Outcome), delay, runTime, ratio, e.Reason()}
}

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newJobsCommand() *cobra.Command {
	o := operated{lines: true}
	return o.command("jobs", "All jobs and what each is doing",
		`Lists the scheduler's jobs: whether a run holds the guard, since when, the last success and
the next tick, in UTC.

With --json it writes a line a job: scheduler, job, state (free, held, draining, live,
blocked), schedule, timezone, overlap, holder, waiting, paused, drainUntil, lastTick,
lastSuccessAt, nextTick.`,
		`  cronfence jobs
  cronfence jobs --dev http://127.0.0.1:7171 --json`,
		func(cmd *cobra.Command, op ops.Operator, _ []string) error { return o.listJobs(cmd, op) })
}

func (o *operated) listJobs(cmd *cobra.Command, op ops.Operator) error {
	table := newColumns(cmd.OutOrStdout(), column{name: "JOB"}, column{name: "STATE", colour: stateColour}, column{name: "SINCE", spare: 2},
		column{name: "TICK", spare: 4}, column{name: "LAST SUCCESS", spare: 1}, column{name: "NEXT TICK"}, column{name: "SCHEDULE", spare: 3, text: true})
	for j, err := range op.Jobs(cmd.Context()) {
		if err != nil {
			return err
		}
		if o.json {
			err = writeLine(cmd.OutOrStdout(), j)
		} else {
			since, tick := "", ""
			if h := j.Holder; h != nil {
				since, tick = instant(h.Since), h.Tick
			}
			err = table.add(j.Job, j.StateText(), since, tick, instant(j.LastSuccessAt), instant(j.NextTick), scheduleText(j))
		}
		if err != nil {
			return err
		}
	}
	return table.flush()
}

func scheduleText(j ops.Job) string {
	if j.Timezone == "UTC" || j.Timezone == "" {
		return j.Schedule
	}
	return j.Schedule + " " + j.Timezone
}

// instant writes an instant to the second, and nothing for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
)

// writeTable writes what a local cloud came to, a line a job.
func writeTable(out io.Writer, r *localcloud.Report) error {
	if _, err := fmt.Fprintln(out); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	table := newColumns(out, column{name: "JOB"}, column{name: "TICKS"}, column{name: "STARTED", spare: 3}, column{name: "SUCCEEDED"}, column{name: "FAILED"},
		column{name: "SKIPPED"}, column{name: "EXPIRED", spare: 6}, column{name: "MISSED", spare: 7}, column{name: "RUNNING", spare: 5}, column{name: "MAX CONCURRENT", spare: 2},
		column{name: "LONGEST RUN", spare: 1}, column{name: "RATIO"}, column{name: "NEXT TICK", spare: 4})
	for _, j := range r.Jobs {
		longest, ratio := "", ""
		if j.LongestRunSeconds > 0 {
			longest = time.Duration(j.LongestRunSeconds * float64(time.Second)).Round(time.Second).String()
		}
		if j.MaxRatio > 0 {
			ratio = fmt.Sprintf("%.2f", j.MaxRatio)
		}
		err := table.add(j.Job, fmt.Sprint(j.Ticks), fmt.Sprint(j.Started), fmt.Sprint(j.Succeeded), fmt.Sprint(j.Unsuccessful()),
			fmt.Sprint(j.Skipped), fmt.Sprint(j.Expired), fmt.Sprint(j.Missed), fmt.Sprint(j.Running), fmt.Sprint(j.MaxConcurrent), longest, ratio, j.NextTick)
		if err != nil {
			return err
		}
	}
	if err := table.flush(); err != nil {
		return err
	}
	text := "every tick has exactly one final outcome"
	switch {
	case len(r.Problems) > 0:
		text = fmt.Sprintf("problems: %d", len(r.Problems))
	case r.InFlight > 0:
		text = fmt.Sprintf("ended early: runs in flight have no outcome: %d", r.InFlight)
	}
	for _, f := range r.Faults {
		if _, err := fmt.Fprintf(out, "\nfault %q took effect: %d", f.Fault, f.Count); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if len(r.Faults) > 0 {
		_, _ = fmt.Fprintln(out)
	}
	if r.DeadLetters > 0 {
		text += fmt.Sprintf("; dead letters: %d", r.DeadLetters)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", text)
	return err
}

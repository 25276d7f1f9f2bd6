package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
)

// writeTable writes what a local cloud came to, a line a job.
func writeTable(out io.Writer, r *localcloud.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "\nJOB\tTICKS\tSTARTED\tSUCCEEDED\tFAILED\tSKIPPED\tEXPIRED\tRUNNING\tMAX CONCURRENT\tLONGEST RUN\tRATIO\tNEXT TICK\n")
	for _, j := range r.Jobs {
		longest, ratio := "-", "-"
		if j.LongestRunSeconds > 0 {
			longest = time.Duration(j.LongestRunSeconds * float64(time.Second)).Round(time.Second).String()
		}
		if j.MaxRatio > 0 {
			ratio = fmt.Sprintf("%.2f", j.MaxRatio)
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", j.Job, j.Ticks, j.Started, j.Succeeded,
			j.Unsuccessful(), j.Skipped, j.Expired, j.Running, j.MaxConcurrent, longest, ratio, cmp.Or(j.NextTick, "-"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
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

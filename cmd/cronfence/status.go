package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
)

func newStatusCommand() *cobra.Command {
	var o operated
	return o.command("status JOB", "What a job is doing now",
		`Shows a job's guard - who holds it, since when, until when, what waits, whether it is paused
and why - and its newest ticks.

With --json it writes one document: the fields of `+"`cronfence jobs --json`"+` and fence, version,
backlog, backlogEnd, leaseSeconds, maxRunSeconds, startDeadlineSeconds, fenced, recent.`,
		`  cronfence status cleanup
  cronfence status cleanup --scheduler shop --json`,
		func(cmd *cobra.Command, op ops.Operator, args []string) error {
			s, err := op.Status(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return o.writeStatus(cmd.OutOrStdout(), s)
		})
}

func (o *operated) writeStatus(out io.Writer, s ops.Status) error {
	if o.json {
		return writeJSON(out, s)
	}
	screen := screenOf(out)
	for _, line := range statusLines(s) {
		if line[1] != "" {
			if _, err := fmt.Fprintf(out, "%-13s %s\n", line[0], screen.wrap(line[1], 14)); err != nil {
				return fmt.Errorf("write status: %w", err)
			}
		}
	}
	if len(s.Recent) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	table := newHistoryTable(out)
	for _, e := range s.Recent {
		if err := table.add(historyCells(e)...); err != nil {
			return err
		}
	}
	return table.flush()
}

// statusLines are what there is to say of a job, a name and a value each. An empty value is
// not shown.
func statusLines(s ops.Status) [][2]string {
	lines := [][2]string{
		{"job", s.Job.Job}, {"scheduler", s.Scheduler}, {"state", s.Job.StateText()}, {"schedule", scheduleText(s.Job)}, {"overlap", s.Overlap},
	}
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if h := s.Holder; h != nil {
		add("held by", "%s, tick %s", h.Run, h.Tick)
		add("since", "%s (%v)", instant(h.Since), rounded(h.HeldForSeconds))
		add("lease until", "%s", instant(h.LeaseUntil))
		add("ends by", "%s", instant(h.MaxRunUntil))
		if m := h.Mark; m != nil {
			add("stopping", "since %s: %s by %s", instant(m.At), m.Why, m.By)
		}
		if !h.StopDeadline.IsZero() {
			add("asked to end", "by %s", instant(h.StopDeadline))
		}
	}
	if !s.DrainUntil.IsZero() {
		add("draining", "until %s: work of the last run may go on", instant(s.DrainUntil))
	}
	if s.State == ops.Blocked {
		add("blocked", "the guard was made anew, until %s at least", instant(s.ReadyAt))
	}
	if w := s.Waiting; w != nil {
		add("waiting", "tick %s since %s, until %s at the latest", w.Tick, instant(w.Since), instant(w.Deadline))
	}
	if p := s.Paused; p != nil {
		until := ""
		if !p.Until.IsZero() {
			until = " until " + instant(p.Until)
		}
		add("paused", "by %s since %s%s: %s", p.By, instant(p.Since), until, p.Why)
	}
	if b := s.Backlog; b != nil {
		add("backlog", "%s from %s to %s, at most %d more", b.Kind, instant(b.Next), instant(b.To), b.Left)
	}
	if b := s.BacklogEnd; b != nil {
		add("ended", "%s by %s at %s, at most %d ticks from %s to %s not run: %s", b.Kind, b.By, instant(b.At), b.Left, instant(b.Next), instant(b.To), b.Why)
	}
	return append(lines, [2]string{"last success", instant(s.LastSuccessAt)}, [2]string{"next tick", instant(s.NextTick)})
}

func rounded(s float64) time.Duration {
	d := time.Duration(s * float64(time.Second))
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

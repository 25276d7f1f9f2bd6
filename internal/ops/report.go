package ops

import (
	"context"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/report"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// reportPage is as many rows as a query returns at once: about half of its mebibyte.
const reportPage = 1000

// Report implements Operator.
func (d *Direct) Report(ctx context.Context, q ReportQuery) (JobReport, error) {
	g, err := d.guardOf(ctx, q.Job)
	if err != nil {
		return JobReport{}, err
	}
	w := report.WeekTo(d.now().Time())
	if q.Full {
		w = report.LastFullWeek(d.now().Time())
	}
	line, err := d.ReportWeek(ctx, g, w)
	return JobReport{From: w.From, To: w.To, Line: line}, err
}

// ReportWeek is what a week came to for the job of a guard that is known. It reads no more of the
// history than it needs: two weeks or, of a job that ticks rarely, up to 90 days.
func (d *Direct) ReportWeek(ctx context.Context, g guard.Guard, w report.Week) (report.Line, error) {
	tally := report.NewTally(w)
	for e, err := range d.history(ctx, g, schema.MillisOf(tally.Since()), reportPage, "") {
		if err != nil {
			return report.Line{}, err
		}
		if tally.Enough(e.At) {
			break
		}
		tally.Add(tickOf(e))
	}
	j := viewOf(d.Name, g, d.now())
	about := report.Job{Name: j.Job, LastSuccess: j.LastSuccessAt, Paused: j.Paused != nil, Due: dueIn(g, w)}
	if h := j.Holder; h != nil && h.Since.Before(w.To) { // a later one says nothing of the week
		about.Running, about.RunningSince = d.now().Time().Sub(h.Since), h.Since
	}
	return tally.Line(about), nil
}

// dueIn is how many ticks the schedule planned for a week, since it is known, that no longer have
// time to come.
func dueIn(g guard.Guard, w report.Week) int {
	if g.Spec == nil || g.SpecHash == "" {
		return 0
	}
	plan, err := engine.PlannedBy(g)
	if err != nil { // the sweep of the same guard reports it
		return 0
	}
	return plan.Count(max(g.SpecSince, schema.MillisOf(w.From)-1), schema.MillisOf(w.To.Add(-g.Spec.Window())))
}

func tickOf(e Entry) report.Tick {
	return report.Tick{
		At: e.At, From: e.From, Count: e.Count, Kind: e.Kind, Outcome: e.Outcome,
		Paused:  e.Outcome == guard.Skipped && strings.HasPrefix(e.Why, guard.WhyPaused),
		RunTime: time.Duration(e.RunTimeSeconds * float64(time.Second)), Interval: time.Duration(e.IntervalSeconds) * time.Second,
	}
}

package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// LogQuery asks for the lines of a run.
type LogQuery struct {
	Job    string
	Tick   string   // empty: the newest that has a run
	Groups []string // of logs, in the place of those of the job's functions
}

// Logs are what a run's work wrote.
type Logs struct {
	Scheduler string    `json:"scheduler"`
	Job       string    `json:"job"`
	Tick      string    `json:"tick"`
	Run       string    `json:"run"`
	From      time.Time `json:"from"` // the lines are those between these instants
	Until     time.Time `json:"until"`
	Lines     []LogLine `json:"lines"`
	Truncated bool      `json:"truncated"` // there are more lines than MaxLogLines
	Links     []Link    `json:"links"`     // to the console
	Notes     []string  `json:"notes"`     // what there is besides, or is not to be had
}

// LogLine is a line.
type LogLine struct {
	At     time.Time `json:"at"`
	Source string    `json:"source"` // its group of logs, or what wrote it
	Text   string    `json:"text"`
}

// Link leads to a page of the console.
type Link struct {
	What string `json:"what"`
	URL  string `json:"url"`
}

// MaxLogLines bounds the lines of one answer; the links lead to all of them.
const MaxLogLines = 10_000

// logSlack is how long after a run's end its lines may be dated: Lambda writes some of its own.
const logSlack = 5 * time.Second

// Logs implements Operator.
func (d *Direct) Logs(ctx context.Context, q LogQuery) (Logs, error) {
	g, err := d.guardOf(ctx, q.Job)
	if err != nil {
		return Logs{}, err
	}
	row, err := d.withRun(ctx, g, q.Tick)
	if err != nil {
		return Logs{}, err
	}
	l := Logs{
		Scheduler: d.Name, Job: q.Job, Tick: row.Tick, Run: row.Run, Until: d.now().Time(),
		From:  row.ClaimedAt.Add(-time.Second).Time(),
		Lines: []LogLine{}, Links: []Link{}, Notes: []string{},
	}
	if row.EndedAt != 0 {
		l.Until = row.EndedAt.Add(logSlack).Time()
	}
	if row.Shared {
		l.Notes = append(l.Notes, "runs of policy allow go on side by side: lines of others may be among these")
	}
	if row.Attempt > 1 {
		l.Notes = append(l.Notes, fmt.Sprintf("these are the lines of attempt %d", row.Attempt))
	}
	w := Work{Job: q.Job, Run: row.Run, From: l.From, Until: l.Until, Groups: q.Groups}
	if g.Spec != nil {
		w.MachineARN = g.Spec.Machine
	}
	return l, d.Around.Logs(ctx, w, &l)
}

// withRun finds the row of a tick that has a run, or the newest such one.
func (d *Direct) withRun(ctx context.Context, g guard.Guard, tick string) (guard.Row, error) {
	if tick == "" {
		for e, err := range d.history(ctx, g, 0, recent, "") {
			if err != nil {
				return guard.Row{}, err
			}
			if e.Run != "" {
				tick = e.Tick
				break
			}
		}
		if tick == "" {
			return guard.Row{}, fmt.Errorf("job %s has no run on record, so there are no lines", g.Job)
		}
	}
	row, err := d.Engine.Store.Row(ctx, g.Job, tick)
	switch {
	case err != nil:
		return guard.Row{}, fmt.Errorf("read tick %s of %s: %w", tick, g.Job, err)
	case row == nil:
		return guard.Row{}, fmt.Errorf("tick %s of %s has no row, so no run; `cronfence why %s %s` says more", tick, g.Job, g.Job, tick)
	case row.Run == "":
		return guard.Row{}, fmt.Errorf("tick %s of %s is %s and had no run, so there are no lines; `cronfence why %s %s` says more", tick, g.Job, row.Outcome, g.Job, tick)
	}
	return *row, nil
}

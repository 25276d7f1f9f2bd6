package main

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// devAround is what stands around a local cloud's scheduler.
type devAround struct {
	cloud *localcloud.Cloud
	specs []schema.Spec
}

var _ ops.Surroundings = devAround{}

// Deployed implements ops.Surroundings.
func (a devAround) Deployed(context.Context) (ops.Deployed, error) {
	d := ops.Deployed{Ticks: map[string]bool{}}
	for _, s := range a.specs {
		d.Ticks[s.Job] = true
	}
	return d, nil
}

// Examine implements ops.Surroundings.
func (a devAround) Examine(_ context.Context, x *ops.Diagnosis) {
	if letters := a.cloud.DeadLetters(); len(letters) > 0 {
		last := letters[len(letters)-1]
		x.Add(ops.FoundDeadLetters, "", "mend what failed, and start `cronfence dev` again: it keeps them in memory",
			"%d ticks or events were given up, the last one by %s at %s: %s", len(letters), last.From, schema.TickID(last.At), last.Reason)
	}
	for _, what := range []string{"the table's TTL and point-in-time recovery", "alarms", "schedules against the deployed stacks"} {
		x.Skip(what, "a local cloud has none")
	}
}

// Events implements ops.Surroundings.
func (a devAround) Events(context.Context, string) (int64, error) {
	return 0, fmt.Errorf("a local cloud keeps no histories of executions")
}

// Logs implements ops.Surroundings.
func (a devAround) Logs(_ context.Context, w ops.Work, l *ops.Logs) error {
	if len(w.Groups) > 0 {
		l.Notes = append(l.Notes, "a local cloud has no log groups: --log-group changes nothing")
	}
	found := a.cloud.Lines(w.Job, w.Run, w.From, w.Until)
	if more := len(found) - ops.MaxLogLines; more > 0 {
		found, l.Truncated = found[:ops.MaxLogLines], true
	}
	for _, line := range found {
		l.Lines = append(l.Lines, ops.LogLine{At: line.At.UTC(), Source: line.Source, Text: line.Text})
	}
	return nil
}

package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// UnknownJobError says that the scheduler knows no such job. Known names those it knows
// when they are few.
type UnknownJobError struct {
	Scheduler string   `json:"scheduler"`
	Job       string   `json:"job"`
	Known     []string `json:"known"`
}

// maxKnown is how many jobs an error names.
const maxKnown = 10

// Error names the job and, if they are few, the known ones.
func (e *UnknownJobError) Error() string {
	switch {
	case len(e.Known) == 0:
		return fmt.Sprintf("job %q is unknown to scheduler %s, which has seen no job yet", e.Job, e.Scheduler)
	case len(e.Known) > maxKnown:
		return fmt.Sprintf("job %q is unknown to scheduler %s; `cronfence jobs` lists those it knows", e.Job, e.Scheduler)
	}
	return fmt.Sprintf("job %q is unknown to scheduler %s: must be one of %s", e.Job, e.Scheduler, strings.Join(e.Known, ", "))
}

func refusal(format string, args ...any) error {
	return &guard.Refusal{Reason: fmt.Sprintf(format, args...)}
}

func (d *Direct) unknown(ctx context.Context, job string) error {
	page, err := d.Engine.Store.Guards(ctx, "", maxKnown+1)
	if err != nil {
		return fmt.Errorf("job %q is unknown; list jobs: %w", job, err)
	}
	e := &UnknownJobError{Scheduler: d.Name, Job: job}
	for _, g := range page.Guards {
		e.Known = append(e.Known, g.Job)
	}
	return e
}

// explain turns the engine's word on an unknown job into one that names the known ones.
func (d *Direct) explain(ctx context.Context, err error) error {
	var unknown *engine.ErrUnknownJob
	if errors.As(err, &unknown) {
		return d.unknown(ctx, unknown.Job)
	}
	return err
}

// SchedulerError says that the scheduler asked for is not there, or that none was named and
// there is not exactly one.
type SchedulerError struct {
	Name  string // as asked for; empty: none was named
	Known []string
	Where string
}

// Error names what there is.
func (e *SchedulerError) Error() string {
	switch {
	case len(e.Known) == 0:
		return fmt.Sprintf("no scheduler in %s", e.Where)
	case e.Name == "":
		return fmt.Sprintf("%d schedulers in %s: name one with --scheduler: %s", len(e.Known), e.Where, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("scheduler %q is not in %s: must be one of %s", e.Name, e.Where, strings.Join(e.Known, ", "))
}

package sentinel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
)

// What one sweep compares at most, and after how many failures it leaves the rest to the next. A
// process that starts cold knows no schedule and reads each; all of the account share the quota
// of GetSchedule, which is as little as 50 a second.
const (
	maxCompared = 500
	maxFailures = 10
)

// known is a schedule as it was last seen.
type known struct {
	modified time.Time
	hash     string // of its spec
}

// compare makes the guards of jobs that never ticked, and tells guards of specs that were
// deployed since, as many as a sweep may: the others are the next sweep's. It returns the jobs
// that are deployed, and whether they tick; nil when that is not known.
func (h *Handler) compare(ctx context.Context, e *engine.Engine, until time.Time) (map[string]bool, error) {
	asking, cancel := context.WithTimeout(ctx, until.Sub(h.Now())) // throttled, it would take the sweep's time too
	defer cancel()
	list, err := h.Schedules.List(asking)
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	deployed := map[string]bool{}
	for _, s := range list {
		deployed[s.Job] = !s.Disabled
	}
	var failed []error
	if h.known == nil {
		h.known = map[string]known{}
		if h.comparedTo, err = h.resumePoint(ctx, comparedRow); err != nil {
			failed = append(failed, err)
		}
	}
	before, left := h.comparedTo, false
	for i, s := range h.due(list) {
		if left = i == maxCompared || len(failed) >= maxFailures || h.Now().After(until); left {
			break
		}
		if _, known := h.known[s.Job]; !known {
			h.comparedTo = s.Job
		}
		if err := h.compareOne(asking, e, s); err != nil {
			failed = append(failed, fmt.Errorf("schedule %s: %w", s.Name, err))
			delete(h.known, s.Job) // its turn comes with those that are not known: it stands in nobody's way
		}
	}
	if !left {
		h.comparedTo = ""
	}
	return deployed, errors.Join(append(failed, h.setResumePoint(ctx, comparedRow, before, h.comparedTo))...)
}

func (h *Handler) compareOne(ctx context.Context, e *engine.Engine, s Schedule) error {
	spec, err := h.Schedules.Spec(ctx, s.Name)
	if err != nil {
		return err
	}
	if err := spec.Check(); err != nil {
		return err
	}
	if err := e.Introduce(ctx, spec); err != nil {
		return err
	}
	h.known[s.Job] = known{s.Modified, spec.Hash()}
	return nil
}

// due are the schedules to compare: first those that are known to have changed, then those that
// are not known, from where the last sweep stopped, so that each has its turn even if every
// sweep is a new process.
func (h *Handler) due(list []Schedule) []Schedule {
	var changed, unknown []Schedule
	for _, s := range list {
		if k, known := h.known[s.Job]; !known {
			unknown = append(unknown, s)
		} else if s.Modified.After(k.modified) {
			changed = append(changed, s)
		}
	}
	byJob := func(a, b Schedule) int { return strings.Compare(a.Job, b.Job) }
	slices.SortFunc(unknown, byJob)
	next, found := slices.BinarySearchFunc(unknown, Schedule{Job: h.comparedTo}, byJob)
	if found {
		next++
	}
	return slices.Concat(changed, unknown[next:], unknown[:next])
}

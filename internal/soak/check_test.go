package soak

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// seen is what was read while it went on, for it not to change.
type seen struct {
	mu     sync.Mutex
	finals map[string]guard.Outcome // by job and tick
	fences map[string]int64         // of the guards, by job
}

func newSeen() *seen { return &seen{finals: map[string]guard.Outcome{}, fences: map[string]int64{}} }

// keepWatching reads one job after the other.
func (c *cloud) keepWatching(ctx context.Context) {
	jobs := slices.Sorted(maps.Keys(c.specs))
	for i := 0; c.clock.Sleep(ctx, 5*time.Second) == nil; i++ {
		c.watch(jobs[i%len(jobs)])
	}
}

// watch reads a job's records and compares them with what was read before.
func (c *cloud) watch(job string) []guard.Row {
	rows, g := c.rows(job), c.guard(job)
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	for _, r := range rows {
		key := job + " " + r.Tick
		if was := c.seen.finals[key]; was != "" && r.Outcome != was {
			c.t.Errorf("tick %s: was %s, is %s", key, was, r.Outcome)
		}
		if r.Outcome.Final() {
			c.seen.finals[key] = r.Outcome
		}
	}
	if g != nil {
		if g.Fence < c.seen.fences[job] {
			c.t.Errorf("guard of %s: fence fell from %d to %d", job, c.seen.fences[job], g.Fence)
		}
		c.seen.fences[job] = g.Fence
	}
	return rows
}

// rows are all rows of a job.
func (c *cloud) rows(job string) (all []guard.Row) {
	for q := (guard.RowQuery{Job: job}); ; {
		page, err := c.store.Rows(c.t.Context(), q)
		if err != nil {
			c.t.Errorf("read rows of %s: %v", job, err)
			return all
		}
		all = append(all, page.Rows...)
		if q.After = page.Next; q.After == "" {
			return all
		}
	}
}

func (c *cloud) guard(job string) *guard.Guard {
	g, err := c.store.Guard(c.t.Context(), job)
	if err != nil {
		c.t.Errorf("read guard of %s: %v", job, err)
	}
	return g
}

// unsettled lists expected ticks that are not on record with a final outcome, rows that are not
// final, and ticks that are on record twice.
func (c *cloud) unsettled(begin, end time.Time) (wrong []string) {
	for job, spec := range c.specs {
		outcomes := map[string]string{}
		for _, r := range c.watch(job) {
			outcomes[r.Tick] = string(r.Outcome)
			if !r.Outcome.Final() && !r.At.Time().After(end) {
				wrong = append(wrong, job+" "+r.Tick+": "+string(r.Outcome))
			}
		}
		gaps, err := c.store.Gaps(c.t.Context(), job, schema.TickID(begin), schema.TickID(end), 0)
		if err != nil {
			c.t.Errorf("read gaps of %s: %v", job, err)
		}
		plan := schedule.MustParse(spec.Schedule)
		for at, ok := plan.Next(begin); ok && !at.After(end); at, ok = plan.Next(at) {
			inGaps := 0
			for _, g := range gaps {
				if !at.Before(g.From.Time()) && !at.After(g.To.Time()) {
					inGaps++
				}
			}
			outcome := outcomes[schema.TickID(at)]
			if n := min(len(outcome), 1) + inGaps; n != 1 {
				wrong = append(wrong, job+" "+schema.TickID(at)+": on record as "+cmp.Or(outcome, "nothing")+" and in gaps")
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// check is what must hold at the end.
func (c *cloud) check(begin, end time.Time) {
	if wrong := c.unsettled(begin, end); len(wrong) > 0 {
		c.t.Errorf("%d ticks have no one outcome: %v", len(wrong), wrong[:min(len(wrong), 10)])
	}
	ticks, outcomes := 0, map[string]int{}
	for job, spec := range c.specs {
		plan := schedule.MustParse(spec.Schedule)
		ticks += plan.Between(begin.Add(time.Second), end.Add(time.Second))
		for _, r := range c.rows(job) {
			outcomes[string(r.Outcome)]++
		}
		if spec.Overlap != policy.Allow {
			c.neverTwoAtWork(job)
		}
	}
	c.t.Logf("%d ticks of %d jobs; rows by outcome %v; %v", ticks, len(c.specs), outcomes, c.counts)
}

// neverTwoAtWork checks that a job's runs worked one after the other, each under a greater fence.
func (c *cloud) neverTwoAtWork(job string) {
	var runs []*execution
	for _, x := range c.states.executions {
		if x.input.Job == job {
			runs = append(runs, x)
		}
	}
	slices.SortFunc(runs, func(a, b *execution) int { return a.StartedAt.Compare(b.StartedAt) })
	for i, x := range runs[:max(len(runs)-1, 0)] {
		next := runs[i+1]
		if next.input.Fence <= x.input.Fence {
			c.t.Errorf("run %s has fence %d, after run %s with fence %d", next.input.Run, next.input.Fence, x.input.Run, x.input.Fence)
		}
		if x.Status == machine.Running || x.worked.After(next.StartedAt) {
			c.t.Errorf("run %s works from %v to %v (%s), run %s begins at %v", x.input.Run, x.StartedAt, x.worked, x.Status, next.input.Run, next.StartedAt)
		}
	}
}

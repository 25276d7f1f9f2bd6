package web

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// maxEntries bounds how much of a job's history is read and drawn.
const maxEntries = 400

// maxAhead bounds how many ticks to come are drawn.
const maxAhead = 40

// record is what is drawn of a job.
type record struct {
	Entries []ops.Entry // newest first
	More    bool        // older ones of the window were left out
}

// planOf is the job's schedule; the zero schedule where this version cannot read it.
func planOf(j ops.Job) schedule.Schedule {
	var options []schedule.Option
	if j.Timezone != "" {
		options = append(options, schedule.In(j.Timezone))
	}
	s, err := schedule.Parse(j.Schedule, options...)
	if err != nil {
		return schedule.Schedule{}
	}
	return s.Anchored(j.NextTick)
}

// intervalOf is the time between the job's ticks around an instant; 0 where it has none.
func intervalOf(j ops.Job, now time.Time) time.Duration {
	s := planOf(j)
	next, more := s.Next(now)
	if !more {
		return 0
	}
	return s.Interval(next)
}

// ahead are the planned ticks up to an instant.
func ahead(j ops.Job, now, to time.Time) []time.Time {
	var ticks []time.Time
	if j.NextTick.IsZero() { // its schedule has no end of ticks that is known here
		return nil
	}
	s := planOf(j)
	for t, ok := s.Next(now); ok && !t.After(to) && len(ticks) < maxAhead; t, ok = s.Next(t) {
		ticks = append(ticks, t)
	}
	return ticks
}

// read reads what happened to a job in a window. A run that went on when the window began
// belongs to it: it took either less than an interval, so its tick lies within one before the
// window, or it stood in the way of ticks that name it.
func read(ctx context.Context, op ops.Operator, j ops.Job, w window) (record, error) {
	var r record
	oldest := w.From.Add(-intervalOf(j, w.From))
	looked, known := 0, map[string]bool{}
	for e, err := range op.History(ctx, ops.HistoryQuery{Job: j.Job, Since: oldest}) {
		if err != nil {
			return record{}, fmt.Errorf("read history of %s: %w", j.Job, err)
		}
		if looked++; looked > maxEntries {
			r.More = true
			break
		}
		if e.At.Before(w.From) && !ranInto(e, w) {
			continue
		}
		r.Entries, known[e.Tick] = append(r.Entries, e), true
	}
	missing := r.missing(j)
	if missing == "" || known[missing] || r.More {
		return r, nil
	}
	e, err := op.Tick(ctx, j.Job, missing)
	if err != nil {
		return record{}, fmt.Errorf("read tick %s of %s: %w", missing, j.Job, err)
	}
	if e != nil {
		r.Entries = append(r.Entries, *e)
	}
	return r, nil
}

// missing is the tick of a run that went on when the window began, as far as others name it.
func (r record) missing(j ops.Job) string {
	if n := len(r.Entries); n > 0 {
		if h := r.Entries[n-1].Holder; h != nil && !h.Draining {
			return h.Tick
		}
		return ""
	}
	if j.Holder != nil {
		return j.Holder.Tick
	}
	return ""
}

// ranInto tells whether a tick's run, or its waiting, went on when the window began.
func ranInto(e ops.Entry, w window) bool {
	return !e.Final || e.Run != "" && e.EndedAt.After(w.From)
}

// counted is how often an outcome came about.
type counted struct {
	look
	Outcome guard.Outcome
	Count   int
}

// Share is the part of the whole, for a drawing.
func (c counted) Share(of int) string { return percent(float64(c.Count) / float64(max(1, of))) }

// count counts the outcomes of a window, in the order in which ops lists them.
func (r record) count(w window) []counted {
	n := map[guard.Outcome]int{}
	for _, e := range r.Entries {
		if !e.At.Before(w.From) {
			n[e.Outcome] += e.Count
		}
	}
	var all []counted
	for _, o := range ops.Outcomes {
		if n[o] > 0 {
			all = append(all, counted{lookOf(o), o, n[o]})
		}
	}
	return all
}

// oldestFirst is the order in which things are drawn.
func (r record) oldestFirst() []ops.Entry {
	entries := slices.Clone(r.Entries)
	slices.Reverse(entries) // nearly in order already
	slices.SortStableFunc(entries, func(a, b ops.Entry) int { return begin(a).Compare(begin(b)) })
	return entries
}

// begin is when a run began, as far as that is known, or when its tick was decided.
func begin(e ops.Entry) time.Time {
	switch {
	case !e.StartedAt.IsZero():
		return e.StartedAt
	case !e.ClaimedAt.IsZero():
		return e.ClaimedAt
	}
	return e.At
}

// end is when a run ended; now for one that goes on.
func end(e ops.Entry, now time.Time) time.Time {
	if e.Final && !e.EndedAt.IsZero() {
		return e.EndedAt
	}
	return now
}

package ops

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const historyPage = 200

// behindDigits sorts behind every id that begins with a digit, and so with a year.
const behindDigits = ":"

// History implements Operator.
func (d *Direct) History(ctx context.Context, q HistoryQuery) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		g, err := d.guardOf(ctx, q.Job)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		since := schema.MillisOf(q.Since)
		if q.Last > 0 {
			since = max(since, d.now().Add(-q.Last))
		}
		for e, err := range d.history(ctx, g, since, historyPage, q.Kind) {
			if err == nil && q.Outcome != "" && e.Outcome != q.Outcome {
				continue
			}
			if g.Spec != nil {
				e.Schedule, e.Timezone = g.Spec.Schedule, cmp.Or(g.Spec.Timezone, "UTC")
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// history yields everything on record of a job since an instant, newest first by planned
// time. Each kind of tick has ids of its own, ordered by time, so there is one sequence of
// each to merge. Kinds that are not asked for are not read; none given is all.
func (d *Direct) history(ctx context.Context, g guard.Guard, since guard.Millis, page int, kind guard.Kind) iter.Seq2[Entry, error] {
	if kind == "" {
		return d.allKinds(ctx, g.Job, since, page)
	}
	return d.ofKind(ctx, g.Job, kind, since, page, nil)
}

// allKinds merges them. The ids of planned ticks sort before all others, so a page from the end
// of the ledger that reaches one has all there is of the other kinds, as is usual.
func (d *Direct) allKinds(ctx context.Context, job string, since guard.Millis, page int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		rows, err := d.Engine.Store.Rows(ctx, guard.RowQuery{Job: job, From: idSince(guard.Scheduled, since), Newest: true, Limit: page})
		if err != nil {
			yield(Entry{}, fmt.Errorf("query ticks of %s: %w", job, err))
			return
		}
		reached := rows.Next == "" || len(rows.Rows) > 0 && rows.Rows[len(rows.Rows)-1].Kind == guard.Scheduled
		var sequences []iter.Seq2[Entry, error]
		for _, k := range Kinds {
			var first *guard.RowPage
			if reached {
				first = &guard.RowPage{}
				for _, r := range rows.Rows {
					if r.Kind == k {
						first.Rows = append(first.Rows, r)
					}
				}
				if k == guard.Scheduled {
					first.Next = rows.Next
				}
			}
			sequences = append(sequences, d.ofKind(ctx, job, k, since, page, first))
		}
		merged(sequences...)(yield)
	}
}

// ofKind yields ticks of a kind; the first page of them may be known.
func (d *Direct) ofKind(ctx context.Context, job string, k guard.Kind, since guard.Millis, page int, first *guard.RowPage) iter.Seq2[Entry, error] {
	if k == guard.Scheduled {
		return d.scheduled(ctx, job, since, page, first)
	}
	q := guard.RowQuery{Job: job, From: idSince(k, since), To: string(k) + "-" + behindDigits, Newest: true, Limit: page}
	return func(yield func(Entry, error) bool) {
		for rows, err := range d.pages(ctx, q, first) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			var entries []Entry
			for _, r := range rows.Rows {
				entries = append(entries, entryOf(d.Name, r))
			}
			if !yieldSince(entries, since, yield) {
				return
			}
		}
	}
}

// scheduled yields planned ticks and, between them, the gaps. A page of ticks spans a range of
// ids, and the gaps of that range are read with it.
func (d *Direct) scheduled(ctx context.Context, job string, since guard.Millis, page int, first *guard.RowPage) iter.Seq2[Entry, error] {
	from := idSince(guard.Scheduled, since)
	return func(yield func(Entry, error) bool) {
		high := behindDigits
		for rows, err := range d.pages(ctx, guard.RowQuery{Job: job, From: from, To: behindDigits, Newest: true, Limit: page}, first) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			low := from
			if rows.Next != "" {
				low = rows.Rows[len(rows.Rows)-1].Tick
			}
			entries, err := d.withGaps(ctx, job, rows.Rows, low, high)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if high = low; !yieldSince(entries, since, yield) {
				return
			}
		}
	}
}

// withGaps merges ticks with the gaps whose last tick lies in a range of ids, its high end
// excluded: others are shown with another page.
func (d *Direct) withGaps(ctx context.Context, job string, rows []guard.Row, low, high string) ([]Entry, error) {
	gaps, err := d.Engine.Store.Gaps(ctx, job, low, high, 0)
	if err != nil {
		return nil, fmt.Errorf("read gaps of %s: %w", job, err)
	}
	entries := make([]Entry, 0, len(rows)+len(gaps))
	for _, r := range rows {
		entries = append(entries, entryOf(d.Name, r))
	}
	for _, gap := range gaps {
		if e := gapEntry(d.Name, gap); low <= e.Tick && e.Tick < high {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.At.Compare(a.At) })
	return entries, nil
}

// pages yields a query's pages, after the first where that is known; only the last one may be
// without rows.
func (d *Direct) pages(ctx context.Context, q guard.RowQuery, first *guard.RowPage) iter.Seq2[guard.RowPage, error] {
	return func(yield func(guard.RowPage, error) bool) {
		if first != nil {
			if !yield(*first, nil) || first.Next == "" {
				return
			}
			q.After = first.Next
		}
		for {
			page, err := d.Engine.Store.Rows(ctx, q)
			if err != nil {
				yield(page, fmt.Errorf("query ticks of %s: %w", q.Job, err))
				return
			}
			q.After = page.Next
			if len(page.Rows) == 0 && page.Next != "" {
				continue
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

// idSince is the smallest id of a kind that is planned at or after an instant.
func idSince(k guard.Kind, since guard.Millis) string {
	switch {
	case since == 0 && k == guard.Scheduled:
		return "0"
	case since == 0:
		return string(k) + "-"
	case k == guard.Manual:
		return guard.ManualID(since)
	}
	return guard.TickID(k, since) // to the second: yieldSince looks at the milliseconds
}

func yieldSince(entries []Entry, since guard.Millis, yield func(Entry, error) bool) bool {
	first := since.Time()
	for _, e := range entries {
		if (since == 0 || !e.At.Before(first)) && !yield(e, nil) {
			return false
		}
	}
	return true
}

// Outcomes are all outcomes, for --outcome.
var Outcomes = []guard.Outcome{
	guard.Succeeded, guard.Failed, guard.TimedOut, guard.Aborted, guard.Replaced, guard.LeaseLost, guard.Skipped,
	guard.Coalesced, guard.Expired, guard.Missed, guard.Abandoned, guard.Running, guard.Queued,
}

// Kinds are all kinds of ticks, for --kind.
var Kinds = []guard.Kind{guard.Scheduled, guard.Manual, guard.Backfill, guard.CatchUp}

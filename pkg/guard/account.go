package guard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Planned answers what a job's schedule plans. Instants are those of planned ticks.
type Planned interface {
	// Next is the first planned instant after one; 0 when there is none.
	Next(after Millis) Millis
	// Prev is the last planned instant before one; 0 when there is none.
	Prev(before Millis) Millis
	// Count is how many are planned after one instant, up to and including another.
	Count(after, to Millis) int
	// Anchored is the plan as one of its ticks shows it: a rate has its phase from its ticks.
	Anchored(tick Millis) Planned
}

// AccountDue tells whether a planned tick that is not on record may have had its time.
func AccountDue(g Guard, p Planned, now Millis) bool {
	if !g.Ready || g.Spec == nil || g.SpecHash == "" { // not made ready, or its schedule is gone
		return false
	}
	next := p.Next(g.LastTick)
	return next != 0 && next.Add(g.Spec.Window()) < now
}

// Account moves LastTick over what is on record, and records as Missed the planned ticks
// that never came. rows are the job's scheduled rows after LastTick, in order; complete says
// that there are no others. It never passes a tick that may still come, and expects none
// from before the spec last changed. It is false when nothing is to be written.
func Account(g Guard, rows []Row, complete bool, p Planned, token string, now Millis) (Decision, bool) {
	a := accounting{guard: g, planned: p, horizon: now.Add(-g.Spec.Window()), now: now}
	at := g.LastTick
	for _, row := range g.withNamed(rows, complete) {
		if row.Kind != Scheduled || row.At <= at {
			continue
		}
		a.planned = p.Anchored(row.At)
		prev := a.planned.Prev(row.At)
		reached := a.pass(at, prev)
		if reached < prev || len(a.gaps) == maxGaps {
			return a.decision(reached, token)
		}
		at = row.At
	}
	if at < g.SpecSince { // no tick of this spec has shown its phase
		a.planned = p
	}
	if complete {
		at = max(at, a.pass(at, a.horizon))
	}
	return a.decision(at, token)
}

// withNamed adds to the rows those of the ticks that hold the guard and wait for it, where somebody
// deleted them: the guard still speaks for both.
func (g Guard) withNamed(rows []Row, complete bool) []Row {
	var named []Row
	if g.Run != nil {
		kind, _ := KindOf(g.Run.Tick)
		named = append(named, Row{Kind: kind, At: g.Run.Planned})
	}
	if w := g.Waiting; w != nil {
		named = append(named, Row{Kind: w.Kind, At: w.Planned})
	}
	for _, row := range named {
		i, _ := slices.BinarySearchFunc(rows, row.At, func(r Row, at Millis) int { return cmp.Compare(r.At, at) })
		if complete || i < len(rows) { // else there are ticks before it that were not read
			rows = slices.Insert(slices.Clone(rows), i, row)
		}
	}
	return rows
}

// maxGaps bounds the gaps of one commit: with the guard they fit one transaction, which takes a
// hundred rows.
const maxGaps = 90

type accounting struct {
	guard        Guard
	planned      Planned
	horizon, now Millis
	gaps         []Gap
}

// pass walks over planned ticks without a row, after one instant up to another, as far as
// their time is over, and returns how far it came.
func (a *accounting) pass(after, to Millis) Millis {
	last := a.planned.Prev(min(to+1, a.horizon))
	if last <= after {
		return after
	}
	from := max(after, a.guard.SpecSince-1)
	if n := a.planned.Count(from, last); n > 0 {
		a.gaps = append(a.gaps, Gap{
			Job: a.guard.Job, From: a.planned.Next(from), To: last, Count: n, At: a.now, TTL: rowTTL(a.now),
		})
	}
	return last
}

func (a *accounting) decision(reached Millis, token string) (Decision, bool) {
	if reached <= a.guard.LastTick {
		return Decision{}, false
	}
	want := a.guard
	want.LastTick = reached
	var writes []Write
	for _, gap := range a.gaps {
		w, ref := a.write(want.LastGap, gap)
		writes, want.LastGap = append(writes, w), &ref
	}
	want.Backlog = a.backlog()
	c := exact(token, a.guard, want, writes...)
	return Decision{Verdict: Done, Commit: c, Guard: a.guard.Apply(c.Writes[0].Patch), Gaps: a.gaps}, true
}

// backlog queues missed ticks to be caught up with, as the job's policy says. A backfill
// under way is not mixed with them: it keeps its place, and the missed stay missed.
func (a *accounting) backlog() *Backlog {
	b, spec := a.guard.Backlog, a.guard.Spec
	if b != nil && b.Kind != CatchUp {
		return b
	}
	for _, gap := range a.gaps {
		n := spec.CatchUp.Missed(gap.Count, spec.CatchUpMax)
		if n == 0 {
			continue
		}
		from, planned := gap.To, a.planned.Anchored(gap.To)
		for range n - 1 {
			from = planned.Prev(from)
		}
		next := Backlog{Kind: CatchUp, Next: from, To: gap.To, Left: n, Until: a.now.Add(spec.CatchUpWindow())}
		if b != nil && spec.CatchUp == policy.CatchUpAll { // behind what is left of the ones before
			if keep := min(b.Left, spec.CatchUpMax-n); keep > 0 { // the newest run: the oldest give way
				next.Next, next.Left, next.GiveWay = b.Next, keep+n, b.GiveWay+b.Left-keep
			}
		}
		b = &next
	}
	return b
}

// write returns the write that records a gap: a row of its own, or what makes the last one
// longer if the two adjoin.
func (a *accounting) write(last *GapRef, gap Gap) (Write, GapRef) {
	ref, w := GapRef{gap.From, gap.To, gap.Count}, Write{Absent: true}
	if last != nil && a.planned.Anchored(gap.From).Prev(gap.From) == last.To {
		ref.From, ref.Count = last.From, last.Count+gap.Count
		w = Write{OrAbsent: true, If: []Cond{{"to", Is, last.To}}} // it may have been deleted
	}
	w.SK = schema.GapSK(schema.TickID(ref.From.Time()))
	w.Patch = Patch{Set: Fields{
		{"from", ref.From},
		{"to", ref.To},
		{"count", ref.Count},
		{"at", gap.At},
		{"ttl", gap.TTL},
	}}
	return w, ref
}

// String says which ticks are missing.
func (gap Gap) String() string {
	if gap.Count == 1 {
		return fmt.Sprintf("tick %s never came", gap.To)
	}
	return fmt.Sprintf("%d ticks from %s to %s never came", gap.Count, gap.From, gap.To)
}

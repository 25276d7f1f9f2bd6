package guard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// TickID returns the id of a tick of a kind that stands for a planned instant.
func TickID(k Kind, planned Millis) string {
	id := schema.TickID(planned.Time())
	if k == Scheduled {
		return id
	}
	return string(k) + "-" + id
}

// ManualID returns the id of a manual run asked for at an instant, to the millisecond.
func ManualID(at Millis) string {
	return string(Manual) + "-" + at.Time().Format("2006-01-02T15:04:05.000Z")
}

// AgainID returns the id of a planned instant's tick that a kind of backlog had before, so many
// times: the second one's ends with -2.
func AgainID(k Kind, planned Millis, before int) string {
	id := TickID(k, planned)
	if before == 0 {
		return id
	}
	return id + "-" + strconv.Itoa(before+1)
}

// KindOf reads a tick's id: its kind, and the planned instant or that of the asking.
func KindOf(tick string) (Kind, Millis) {
	for _, k := range []Kind{Manual, Backfill, CatchUp} {
		if id, ok := strings.CutPrefix(tick, string(k)+"-"); ok {
			if k == Backfill {
				id, _ = cutAgain(id)
			}
			return k, instantOf(id)
		}
	}
	return Scheduled, instantOf(tick)
}

// cutAgain takes off an id what AgainID added, and says the how manieth it is.
func cutAgain(id string) (first string, n int) {
	first, number, again := strings.Cut(id, "Z-")
	if n, err := strconv.Atoi(number); again && err == nil && n > 1 && strconv.Itoa(n) == number {
		return first + "Z", n
	}
	return id, 1
}

func instantOf(id string) Millis {
	t, err := time.Parse(time.RFC3339, id)
	if err != nil {
		return 0
	}
	return schema.MillisOf(t)
}

// BacklogTick is the next tick of a guard's backlog, found with the job's schedule.
type BacklogTick struct {
	At       Millis // 0: there is none left
	Interval int64  // seconds
	Next     Millis // the planned tick after it; 0 when there is none
	Before   int    // how often it was run before, in vain
	Done     bool   // there is nothing to be run of it and those before it: pass over them
	Passed   int    // of those before it, and it if Done, how many are on record and not run again
	GaveWay  int    // and how many would have been to be run
	// Due and Coming are the planned ticks around now: the last one, and the first to come. 0: there
	// is none.
	Due, Coming Millis
}

// over tells whether a row of the backlog's kind means that its tick is not to be run. A backfill
// runs again what no backfill before it brought to a success. One that is still running is not beside
// itself.
func (b Backlog) over(row Row) bool {
	return b.Kind == CatchUp || row.Outcome == Succeeded || !row.Outcome.Final()
}

// from is the first tick of the backlog at or after an instant; 0 when there is none. What is to be
// caught up with lies in gaps.
func (b Backlog) from(at Millis, p Planned, gaps []Gap) Millis {
	if b.Kind != CatchUp {
		return p.Next(at - 1)
	}
	for _, gap := range gaps {
		if gap.To >= at {
			return p.Anchored(gap.To).Next(max(at, gap.From) - 1)
		}
	}
	return 0
}

// Find finds the backlog's next tick. rows are those on record of its kind and its ticks, all of
// them up to an instant; gaps, for a catch-up, are those of its ticks. Where all ticks up to that
// instant are to be passed over, the last one is returned, as Done.
func (b Backlog) Find(p Planned, rows []Row, gaps []Gap, known Millis) BacklogTick {
	over, before := map[Millis]bool{}, map[Millis]int{}
	for _, row := range rows {
		over[row.At] = over[row.At] || b.over(row)
		_, n := cutAgain(row.Tick) // the rows of some before may be gone
		before[row.At] = max(before[row.At], n)
	}
	t := BacklogTick{Next: b.from(b.Next, p, gaps)}
	for t.Next != 0 && t.Next <= min(b.To, known) {
		t.At, t.Next, t.Before = t.Next, b.from(t.Next+1, p, gaps), before[t.Next]
		switch t.Done = true; {
		case over[t.At]:
			t.Passed++
		case t.GaveWay < b.GiveWay:
			t.GaveWay++
		default:
			t.Done = false
			return t
		}
	}
	if t.Next == 0 || t.Next > b.To { // all of it is over
		return BacklogTick{Next: b.To + 1}
	}
	t.Done = true
	return t
}

// startBacklog starts the backlog's next tick on a guard that is free, or passes over it.
func (g Guard) startBacklog(t BacklogTick, token string, now Millis) handOver {
	b := g.Backlog
	if b == nil || t == (BacklogTick{}) { // the caller did not look: the sentinel will
		return handOver{guard: g}
	}
	over := t.At == 0 && !t.Done || t.At > b.To || b.Kind == CatchUp && b.Left <= 0
	switch {
	case !over && now > b.Until: // whatever keeps it waiting
		return handOver{guard: g.endBacklog(Itself, EndOutOfTime, now)}
	case g.Waiting != nil || g.busy(now) || g.paused(now):
		return handOver{guard: g}
	case over:
		g.Backlog = nil
		return handOver{guard: g}
	}
	left := *b
	left.Next, left.GiveWay = t.Next, b.GiveWay-t.GaveWay
	if b.Kind == Backfill {
		left.Left = max(0, left.Left-t.Passed)
	}
	if t.Next == 0 {
		left.Next = b.To + 1
	}
	if t.Done {
		g.Backlog = &left
		return handOver{guard: g}
	}
	if b.Kind == CatchUp && g.SpecHash == "" || !g.spares(t, now) {
		return handOver{guard: g}
	}
	left.Left = max(0, left.Left-1)
	g.Backlog = &left
	row := Row{
		Job: g.Job, Tick: AgainID(b.Kind, t.At, t.Before), At: t.At, Kind: b.Kind, Token: token,
		Attempt: 1, ClaimedAt: now, Interval: t.Interval, Delay: max(0, int64(now-t.At)),
		Why: fmt.Sprintf("%s, %d more to come at the most", b.Kind, left.Left),
	}
	g, row = g.acquire(row, 0, now)
	return handOver{guard: g, writes: []Write{newRow(row)}, next: &row}
}

// busy tells whether no run of the backlog may begin. Under policy Allow one begins beside the
// planned runs and what lingers of them, as any tick does, though never beside another of the
// backlog.
func (g Guard) busy(now Millis) bool {
	if g.allows() {
		g.Live, g.DrainUntil = 0, 0
		if g.Last != nil && ofBacklog(g.Last.Tick) {
			g.DrainUntil = g.Last.DrainUntil
		}
	}
	return g.occupied(now)
}

func (g Guard) allows() bool { return g.Spec != nil && g.Spec.Overlap == policy.Allow }

// spares tells whether the backlog may have the guard now. After a run of the job's own it may;
// after one of the backlog only if another like it is over before the next planned tick, so that
// the two take turns where there is not time for both. A planned tick that had a minute to come
// and did not take the guard is not waited for. One of policy Allow needs no guard.
func (g Guard) spares(t BacklogTick, now Millis) bool {
	if g.Last == nil || t.Coming == 0 || !ofBacklog(g.Last.Tick) || g.allows() {
		return true
	}
	over := now.Add(Margin) + Millis(g.Last.RunTime)
	return over < t.Coming || t.Due > g.Last.EndedAt && now >= t.Due.Add(time.Minute)
}

// ofBacklog tells whether a tick is one of a backlog, by its id.
func ofBacklog(tick string) bool {
	kind, _ := KindOf(tick)
	return kind == Backfill || kind == CatchUp
}

// ahead tells whether a tick that has just ended is one that the backlog has yet to come to: it was
// asked for again while a run of an earlier backlog went on.
func (b *Backlog) ahead(tick string) bool {
	if b == nil {
		return false
	}
	kind, at := KindOf(tick)
	return kind == b.Kind && at >= b.Next && at <= b.To
}

// Itself is in whose name a backlog ends that nobody ended.
const Itself = "cronfence"

// Why a backlog ended by itself.
const (
	EndOutOfTime = "its time was over"
	EndEdited    = "the job's schedule was edited: its ticks are no longer those that were asked for"
	EndRefused   = "it could not be started"
)

// endBacklog ends a backlog on the record. One that ends by itself and has nothing left is over as any
// other is; a person's reason is kept as it was given.
func (g Guard) endBacklog(by, why string, now Millis) Guard {
	b := g.Backlog
	if b == nil {
		return g
	}
	g.Backlog = nil
	if by == Itself {
		if b.Next > b.To || b.Kind == CatchUp && b.Left <= 0 {
			return g
		}
		why = cut(why, maxWhy)
	}
	g.BacklogEnd = &BacklogEnd{Kind: b.Kind, Next: b.Next, To: b.To, Left: b.Left, By: by, Why: why, At: now}
	return g
}

// AdvanceBacklog starts the backlog's next tick on a free guard. It is false when there is
// nothing to do.
func AdvanceBacklog(g Guard, t BacklogTick, token string, now Millis) (Decision, bool) {
	if !g.Ready || g.Backlog == nil {
		return Decision{}, false
	}
	h := g.startBacklog(t, token, now)
	if diffGuards(&g, &h.guard).Empty() {
		return Decision{}, false
	}
	c := exact(token, g, h.guard, h.writes...)
	return Decision{Verdict: Done, Commit: c, Guard: g.Apply(c.Writes[0].Patch), Next: h.next}, true
}

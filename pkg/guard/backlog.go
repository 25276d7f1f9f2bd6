package guard

import (
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
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

// KindOf reads a tick's id: its kind, and the planned instant or that of the asking.
func KindOf(tick string) (Kind, Millis) {
	for _, k := range []Kind{Manual, Backfill, CatchUp} {
		if id, ok := strings.CutPrefix(tick, string(k)+"-"); ok {
			return k, instantOf(id)
		}
	}
	return Scheduled, instantOf(tick)
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
	Done     bool   // it is on record already, or was not missed: pass over it
	// Due and Coming are the planned ticks around now: the last one, and the first to come. 0: there
	// is none.
	Due, Coming Millis
}

// startBacklog starts the backlog's next tick on a guard that is free, or passes over it.
func (g Guard) startBacklog(t BacklogTick, token string, now Millis) handOver {
	b := g.Backlog
	if b == nil || g.Waiting != nil || g.occupied(now) || g.paused(now) {
		return handOver{guard: g}
	}
	if t == (BacklogTick{}) { // the caller did not look: the sentinel will
		return handOver{guard: g}
	}
	switch {
	case t.At == 0 || t.At > b.To || b.Left <= 0:
		g.Backlog = nil
		return handOver{guard: g}
	case now > b.Until:
		return handOver{guard: g.endBacklog(Itself, EndOutOfTime, now)}
	}
	left := *b
	left.Next = t.Next
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
	left.Left--
	g.Backlog = &left
	row := Row{
		Job: g.Job, Tick: TickID(b.Kind, t.At), At: t.At, Kind: b.Kind, Token: token,
		Attempt: 1, ClaimedAt: now, Interval: t.Interval, Delay: max(0, int64(now-t.At)),
		Why: fmt.Sprintf("%s, %d more to come at the most", b.Kind, left.Left),
	}
	g, row = g.acquire(row, 0, now)
	return handOver{guard: g, writes: []Write{newRow(row)}, next: &row}
}

// spares tells whether the backlog may have the guard now. After a run of the job's own it may;
// after one of the backlog only if another like it is over before the next planned tick, so that
// the two take turns where there is not time for both. A planned tick that had a minute to come
// and did not take the guard is not waited for.
func (g Guard) spares(t BacklogTick, now Millis) bool {
	if g.Last == nil || t.Coming == 0 {
		return true
	}
	if !ofBacklog(g.Last.Tick) {
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

// Itself is in whose name a backlog ends that nobody ended.
const Itself = "cronfence"

// Why a backlog ended by itself.
const (
	EndOutOfTime = "its time was over"
	EndEdited    = "the job's schedule was edited: its ticks are no longer those that were asked for"
	EndRefused   = "it could not be started"
)

// endBacklog ends a backlog on the record.
func (g Guard) endBacklog(by, why string, now Millis) Guard {
	b := g.Backlog
	if b == nil {
		return g
	}
	g.Backlog = nil
	g.BacklogEnd = &BacklogEnd{Kind: b.Kind, Next: b.Next, To: b.To, Left: b.Left, By: by, Why: cut(why, maxWhy), At: now}
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

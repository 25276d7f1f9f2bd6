package guardtest

import (
	"slices"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// minutes is the plan of a minutely job.
type minutes struct{}

const minute = guard.Millis(60_000)

func (minutes) Next(after guard.Millis) guard.Millis { return (after/minute + 1) * minute }

func (minutes) Prev(before guard.Millis) guard.Millis { return (before - 1) / minute * minute }

func (minutes) Count(after, to guard.Millis) int { return max(0, int(to/minute-after/minute)) }

func (m minutes) Anchored(guard.Millis) guard.Planned { return m }

// step decides on one random transition from the records as they are.
func (w *walker) step() (name string, dec guard.Decision) {
	if len(w.kept) > 0 && w.maybe(30) {
		c := w.kept[0]
		w.kept = w.kept[1:]
		return "late", guard.Decision{Commit: c}
	}
	g := w.guard()
	switch n := w.rng.IntN(100); {
	case g != nil && !g.Ready:
		return "unblock", w.unblock(*g)
	case n < 40:
		return w.delivered()
	case n < 62:
		return "settle", w.settle()
	case n < 68:
		return "beat", w.beat()
	case n < 76:
		return "account", w.account(*g)
	case n < 80:
		dec, _ = guard.AdvanceBacklog(*g, w.backlogTick(*g), w.newToken(), w.now)
		return "backlog", dec
	case n < 84:
		dec, _ = guard.Advance(*g, w.newToken(), w.now)
		return "advance", dec
	case n < 90 && g.Run != nil:
		return "take over", w.takeOver(*g)
	default:
		return w.operate(*g)
	}
}

// operate is what people do.
func (w *walker) operate(g guard.Guard) (string, guard.Decision) {
	switch n := w.rng.IntN(100); {
	case n < 12:
		until := pick(w, 0, w.now.Add(time.Minute))
		return "pause", guard.PauseJob(g, guard.Pause{By: "me", Why: "a<b&c", At: w.now, Until: until}, w.newToken())
	case n < 45:
		dec, _ := guard.ResumeJob(g, w.newToken(), w.now)
		return "resume", dec
	case n < 70:
		dec, _ := guard.ReleaseJob(g, "", "me", "stuck", w.newToken(), w.now)
		return "release", dec
	case n < 74:
		dec, _ := guard.EndBacklog(g, "me", "wrong range", w.newToken(), w.now)
		return "end backlog", dec
	case n < 90:
		to := minutes{}.Prev(w.now)
		dec, _ := guard.BackfillJob(g, to-2*minute, to, 3, w.rng.IntN(2), w.newToken(), w.now)
		return "backfill", dec
	default:
		w.spec.MaxRunSeconds++
		dec, _ := guard.Expect(w.spec, &g, 0, w.newToken(), w.now)
		return "expect", dec
	}
}

func (w *walker) guard() *guard.Guard {
	g, _ := w.mem.Guard(w.ctx, w.job)
	return g
}

func (w *walker) row(tick string) *guard.Row {
	row, _ := w.mem.Row(w.ctx, w.job, tick)
	return row
}

func (w *walker) delivery() guard.Delivery {
	at := w.now/minute*minute - pick(w, 0, 0, 0, 0, minute, minute, 2*minute, 4*minute, -minute) // in time, late, early
	d := guard.Delivery{
		Spec: w.spec, Kind: guard.Scheduled, Tick: guard.TickID(guard.Scheduled, at), At: at, Prev: at - minute,
		Interval: 60, Token: w.newToken(),
	}
	if w.maybe(10) {
		d.Kind, d.At, d.Prev, d.Tick, d.By = guard.Manual, w.now, 0, guard.ManualID(w.now), "me: because"
		if w.maybe(50) {
			overlap := policy.Overlap(w.rng.IntN(3))
			d.Overlap = &overlap
		}
	}
	return d
}

func (w *walker) deliver() guard.Decision {
	d := w.delivery()
	return guard.Deliver(d, w.guard(), w.row(d.Tick), w.now)
}

// delivered delivers a tick, blindly or on the records, and does what that asks for first.
func (w *walker) delivered() (string, guard.Decision) {
	d := w.delivery()
	if w.maybe(40) {
		dec, _ := guard.BlindClaim(d, w.now)
		return "blind claim", dec
	}
	g := w.guard()
	dec := guard.Deliver(d, g, w.row(d.Tick), w.now)
	switch dec.Verdict {
	case guard.Look:
		return "take over", w.takeOver(*g)
	case guard.HandOver:
		dec, _ = guard.Advance(*g, w.newToken(), w.now)
		return "advance", dec
	default:
		return "deliver", dec
	}
}

func (w *walker) unblock(g guard.Guard) guard.Decision {
	page, _ := w.mem.Rows(w.ctx, guard.RowQuery{Job: w.job, OpenOnly: true})
	if w.maybe(30) {
		return guard.BlockUntil(g, page.Rows, w.newToken(), w.now)
	}
	var closings []guard.Closing
	for _, row := range page.Rows {
		c := guard.Closing{Row: row}
		if row.Outcome == guard.Running {
			c.Sight = w.sight()
			c.Sight.Ended = true
		}
		closings = append(closings, c)
	}
	return guard.Unblocked(g, closings, w.newToken(), w.now)
}

func (w *walker) settle() guard.Decision {
	if len(w.runs) == 0 {
		return guard.Decision{}
	}
	run := w.anyRun()
	s := w.sight()
	e := guard.End{
		Job: w.job, Tick: run.Tick, Run: run.Run, Fence: run.Fence, Attempt: run.Attempt, Interval: run.Interval,
		Outcome: s.Outcome, Error: s.Error, Cause: s.Cause, StartedAt: s.StartedAt, EndedAt: s.EndedAt,
		MayLinger: s.MayLinger, Token: w.newToken(),
	}
	if dec, ok := guard.BlindSettle(e, w.now); ok && w.maybe(50) {
		return dec
	}
	g := w.guard()
	if g != nil {
		e.Backlog = w.backlogTick(*g)
	}
	return guard.Settle(e, g, w.row(run.Tick), w.now)
}

// anyRun is one that was started, mostly the last.
func (w *walker) anyRun() guard.Row {
	if w.maybe(70) {
		return w.runs[len(w.runs)-1]
	}
	return pick(w, w.runs...)
}

func (w *walker) sight() guard.Sight {
	s := guard.Sight{
		At: w.now, Known: w.maybe(80), Ended: w.maybe(70), StartedAt: w.now - 7_000, EndedAt: w.now - 3,
		Outcome: pick(w, guard.Succeeded, guard.Succeeded, guard.Failed, guard.TimedOut, guard.Aborted, guard.Replaced, guard.LeaseLost, guard.Abandoned),
	}
	s.MayLinger = s.Outcome != guard.Succeeded && w.maybe(60)
	if s.Outcome == guard.Failed {
		s.Error, s.Cause = "Boom", "a<b&c ü"
	}
	return s
}

func (w *walker) beat() guard.Decision {
	if len(w.runs) == 0 {
		return guard.Decision{}
	}
	run := w.anyRun()
	c := guard.BlindBeat(guard.Beat{Job: w.job, Tick: run.Tick, Run: run.Run, Fence: run.Fence, Lease: w.spec.Lease()}, w.now)
	return guard.Decision{Commit: &c}
}

func (w *walker) takeOver(g guard.Guard) guard.Decision {
	s := w.sight()
	s.Stopped = w.maybe(50)
	return guard.TakeOver(g, w.row(g.Run.Tick), s, "sweep", w.backlogTick(g), w.newToken(), w.now)
}

func (w *walker) account(g guard.Guard) guard.Decision {
	page, _ := w.mem.Rows(w.ctx, guard.RowQuery{Job: w.job, From: schema.TickID(g.LastTick.Time()), To: ":"})
	if g.Spec == nil || g.LastTick == 0 {
		return guard.Decision{}
	}
	dec, _ := guard.Account(g, page.Rows, true, minutes{}, w.newToken(), w.now)
	return dec
}

func (w *walker) backlogTick(g guard.Guard) guard.BacklogTick {
	b := g.Backlog
	if b == nil {
		return guard.BacklogTick{}
	}
	page, _ := w.mem.Rows(w.ctx, guard.RowQuery{Job: w.job})
	rows := slices.DeleteFunc(page.Rows, func(row guard.Row) bool { return row.Kind != b.Kind })
	gaps, _ := w.mem.Gaps(w.ctx, w.job, schema.TickID(b.Next.Time()), schema.TickID(b.To.Time()), 0)
	t := b.Find(minutes{}, rows, gaps, b.To)
	t.Interval = 60
	return t
}

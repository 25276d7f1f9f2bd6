package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

// backfilled has a backfill of three ticks of the hour before tick 0.
func backfilled(t *testing.T) (b *bench, from Millis) {
	t.Helper()
	b = newBench(t, jobOf(policy.Skip))
	from = t0.Add(-time.Hour)
	d, err := BackfillJob(b.guard(), from, from.Add(2*time.Minute), 3, 0, b.token(), b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	return b, from
}

// next is the backlog's next tick by a minutely plan, as the engine finds it.
func (b *bench) next() BacklogTick {
	p := every(time.Minute)
	bl := b.guard().Backlog
	if bl == nil {
		return BacklogTick{}
	}
	at := p.Next(bl.Next - 1)
	if at > bl.To {
		return BacklogTick{At: at, Next: bl.To + 1}
	}
	return BacklogTick{At: at, Interval: 60, Next: p.Next(at)}
}

func (b *bench) advanceBacklog(tick BacklogTick) (Decision, bool) {
	b.t.Helper()
	d, ok := AdvanceBacklog(b.guard(), tick, b.token(), b.now)
	return b.do(d), ok
}

func TestBackfillRunsItsTicksOneByOneOldestFirst(t *testing.T) {
	b, from := backfilled(t)
	d, ok := b.advanceBacklog(b.next())
	if !ok || d.Next == nil {
		t.Fatalf("%+v: want the first tick started", d)
	}
	for i := range 3 {
		run := *d.Next
		at := from.Add(time.Duration(i) * time.Minute)
		if run.Kind != Backfill || run.Tick != TickID(Backfill, at) || run.At != at || run.Attempt != 1 || run.Interval != 60 || run.Delay != int64(b.now-at) {
			t.Fatalf("run %d: %+v", i, run)
		}
		if row := b.rowOf(run.Tick); row == nil || *row != run || b.guard().Run.ID != run.Run || b.guard().Backlog.Left != 2-i {
			t.Fatalf("row %+v, backlog %+v", row, b.guard().Backlog)
		}
		if _, ok := b.advanceBacklog(b.next()); ok {
			t.Error("a held guard's backlog moved")
		}
		b.at(60 * (i + 1))
		e := b.endOf(run, Succeeded)
		e.Backlog = b.next()
		d = b.settle(e)
	}
	if g := b.guard(); g.Backlog != nil || g.Run != nil || d.Next != nil || g.TTL == 0 {
		t.Errorf("guard %+v: want the backlog done", g)
	}
}

func TestBacklogPassesOverWhatIsOnRecord(t *testing.T) {
	b, from := backfilled(t)
	next := b.next()
	next.Done, next.Passed = true, 1
	d, ok := b.advanceBacklog(next)
	if bl := b.guard().Backlog; !ok || d.Next != nil || bl.Next != from.Add(time.Minute) || bl.Left != 2 {
		t.Errorf("%+v, backlog %+v: want the cursor moved, nothing started", d, bl)
	}
	last := BacklogTick{At: from.Add(2 * time.Minute), Done: true} // nothing planned behind it
	b.advanceBacklog(last)
	if bl := b.guard().Backlog; bl.Next <= bl.To {
		t.Errorf("backlog %+v: want the cursor past its end", bl)
	}
}

func TestBacklogEnds(t *testing.T) {
	_, from := backfilled(t)
	to := from.Add(2 * time.Minute)
	until := t0.Add(BackfillWindow)
	for name, c := range map[string]struct {
		kind  Kind
		tick  BacklogTick
		left  int
		now   Millis
		ended bool
	}{
		"no tick left":               {Backfill, BacklogTick{Next: to + 1}, 1, t0, true},
		"last tick":                  {Backfill, BacklogTick{At: to}, 1, t0, false},
		"tick past it":               {Backfill, BacklogTick{At: to + 1}, 1, t0, true},
		"as many as a policy allows": {CatchUp, BacklogTick{At: from}, 0, t0, true},
		"more than were counted":     {Backfill, BacklogTick{At: from}, 0, t0, false},
		"last of its time":           {Backfill, BacklogTick{At: from}, 1, until, false},
		"over and out of time":       {Backfill, BacklogTick{Next: to + 1}, 1, until + 1, true},
	} {
		b, _ := backfilled(t)
		g := b.guard()
		g.Backlog.Kind, g.Backlog.Left = c.kind, c.left
		d, ok := AdvanceBacklog(g, c.tick, "x", c.now)
		if !ok || (d.Guard.Backlog == nil) != c.ended || (d.Next == nil) != c.ended {
			t.Errorf("%s: %+v: ended, want %v", name, d, c.ended)
		}
		if d.Guard.BacklogEnd != nil {
			t.Errorf("%s: %+v: nothing was left of it", name, d.Guard.BacklogEnd)
		}
	}
}

func TestBacklogThatIsCutShortIsEndedOnTheRecord(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*bench)
		want string
		left int
	}{
		"out of time": {func(b *bench) {
			b.now = t0.Add(BackfillWindow) + 1
			b.advanceBacklog(b.next())
		}, EndOutOfTime, 3},
		"its schedule is edited": {func(b *bench) {
			b.spec.Schedule = everyOther
			b.do(mustExpect(b.t, b))
		}, EndEdited, 3},
		"its zone is edited": {func(b *bench) {
			b.spec.Timezone = "Europe/Berlin"
			b.do(mustExpect(b.t, b))
		}, EndEdited, 3},
		"its start is refused": {func(b *bench) {
			d, _ := b.advanceBacklog(b.next())
			e := b.endOf(*d.Next, Failed)
			e.Refused, e.Cause, e.Backlog = true, "no such machine", b.next()
			b.settle(e)
		}, EndRefused + ": backfill-2026-09-07T01:00:00Z: no such machine", 2},
	} {
		b, from := backfilled(t)
		c.end(b)
		next := from.Add(time.Duration(3-c.left) * time.Minute)
		want := BacklogEnd{Kind: Backfill, Next: next, To: from.Add(2 * time.Minute), Left: c.left, By: Itself, Why: c.want, At: b.now}
		if g := b.guard(); g.Backlog != nil || g.Run != nil || g.BacklogEnd == nil || *g.BacklogEnd != want {
			t.Errorf("%s: backlog %+v, end %+v: want it ended with %+v", name, g.Backlog, g.BacklogEnd, want)
		}
	}
}

func TestBacklogWhoseTimeIsOverEndsWhateverKeepsItWaiting(t *testing.T) {
	for name, change := range map[string]func(*Guard){
		"held":         func(g *Guard) { g.Run = &RunRef{} },
		"draining":     func(g *Guard) { g.DrainUntil = t0.Add(2 * BackfillWindow) },
		"paused":       func(g *Guard) { g.Paused = &Pause{} },
		"a tick waits": func(g *Guard) { g.Waiting = &Waiting{} },
	} {
		b, from := backfilled(t)
		g := b.guard()
		change(&g)
		d, _ := AdvanceBacklog(g, BacklogTick{At: from}, "x", t0.Add(BackfillWindow)+1)
		if d.Guard.Backlog != nil || d.Guard.BacklogEnd == nil || d.Guard.BacklogEnd.Why != EndOutOfTime {
			t.Errorf("%s: backlog %+v, end %+v: want it ended", name, d.Guard.Backlog, d.Guard.BacklogEnd)
		}
	}
}

// Nothing of it was not run: the row says what became of its last tick.
func TestBacklogWhoseLastStartIsRefusedIsOver(t *testing.T) {
	b, from := backfilled(t)
	d, _ := b.advanceBacklog(BacklogTick{At: from.Add(2 * time.Minute), Next: from.Add(3 * time.Minute), Passed: 2})
	e := b.endOf(*d.Next, Failed)
	e.Refused, e.Cause = true, "no such machine"
	b.settle(e)
	if g := b.guard(); g.Backlog != nil || g.BacklogEnd != nil {
		t.Errorf("backlog %+v, end %+v: want it over, with nothing left to speak of", g.Backlog, g.BacklogEnd)
	}
}

func TestTheReasonOfWhoEndsABacklogIsKeptWhole(t *testing.T) {
	b, _ := backfilled(t)
	why := strings.Repeat("ä", 160)
	d, err := EndBacklog(b.guard(), "me", why, "x", b.now)
	if err != nil || d.Guard.BacklogEnd.Why != why {
		t.Errorf("%+v, %v", d.Guard.BacklogEnd, err)
	}
}

func TestBacklogOutlivesWhatSaysNothingOfItsTicks(t *testing.T) {
	for name, meet := range map[string]func(*bench){
		"another spec of the same schedule": func(b *bench) {
			b.spec.MaxRunSeconds++
			b.do(mustExpect(b.t, b))
		},
		"a planned tick's start is refused": func(b *bench) {
			e := b.endOf(b.started(0), Failed)
			e.Refused = true
			b.settle(e)
		},
	} {
		b, _ := backfilled(t)
		meet(b)
		if g := b.guard(); g.Backlog == nil || g.Backlog.Left != 3 || g.BacklogEnd != nil || g.Run != nil {
			t.Errorf("%s: guard %+v: want the backlog left as it was", name, g)
		}
	}
}

func TestBacklogWaitsForEverythingElse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Guard)
		tick   BacklogTick
	}{
		"held":             {func(g *Guard) { g.Run = &RunRef{} }, BacklogTick{At: 5}},
		"draining":         {func(g *Guard) { g.DrainUntil = t0 }, BacklogTick{At: 5}},
		"paused":           {func(g *Guard) { g.Paused = &Pause{} }, BacklogTick{At: 5}},
		"a tick waits":     {func(g *Guard) { g.Waiting = &Waiting{} }, BacklogTick{At: 5}},
		"not ready":        {func(g *Guard) { g.Ready = false }, BacklogTick{At: 5}},
		"none":             {func(g *Guard) { g.Backlog = nil }, BacklogTick{At: 5}},
		"nobody looked":    {func(*Guard) {}, BacklogTick{}},
		"live runs beside": {func(g *Guard) { g.Live = 1 }, BacklogTick{At: 5}},
	} {
		b, _ := backfilled(t)
		g := b.guard()
		c.change(&g)
		if d, ok := AdvanceBacklog(g, c.tick, "x", t0); ok {
			t.Errorf("%s: %+v: want the backlog left alone", name, d)
		}
	}
}

// Work that lingers of planned runs is beside them as they are beside each other.
func TestBacklogUnderAllowWaitsForNoDrainButItsOwn(t *testing.T) {
	const backlogRun, otherRun = "backfill-2026-09-07T00:59:00Z", "2026-09-07T01:58:00Z"
	for name, c := range map[string]struct {
		last *LastRun
		want bool
	}{
		"of a shared run":            {nil, true},
		"of a run before the edit":   {&LastRun{Tick: otherRun, DrainUntil: t0}, true},
		"of its own":                 {&LastRun{Tick: backlogRun, DrainUntil: t0}, false},
		"of one behind its own":      {&LastRun{Tick: backlogRun}, true},
		"of one, its own being over": {&LastRun{Tick: backlogRun, DrainUntil: t0.Add(-time.Hour)}, true},
	} {
		b, from := backfilled(t)
		g := b.guard()
		g.Spec.Overlap, g.Last, g.DrainUntil = policy.Allow, c.last, t0.Add(time.Hour)
		if d, _ := AdvanceBacklog(g, BacklogTick{At: from}, "x", t0); (d.Next != nil) != c.want {
			t.Errorf("%s: started %+v, want %v", name, d.Next, c.want)
		}
	}
	b := newBench(t, jobOf(policy.Skip, drains))
	if b.settle(b.lingering(b.started(0), TimedOut)); b.guard().Last.DrainUntil != b.guard().DrainUntil || b.guard().DrainUntil == 0 {
		t.Errorf("last %+v, drain until %s: want the run's own drain kept", b.guard().Last, b.guard().DrainUntil)
	}
}

func TestWaitingTickGoesBeforeTheBacklog(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	run := b.started(0)
	b.at(60).tick(1)
	d, err := BackfillJob(b.guard(), t0.Add(-time.Hour), t0.Add(-59*time.Minute), 2, 0, "x", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	e := b.endOf(run, Succeeded)
	e.Backlog = b.next()
	if d := b.settle(e); d.Next == nil || d.Next.Tick != b.row(1).Tick || b.guard().Backlog.Left != 2 {
		t.Errorf("next %+v: want the tick that waits", d.Next)
	}
}

func TestPlannedTickGoesBeforeTheBacklog(t *testing.T) {
	b, _ := backfilled(t)
	if row := b.started(0); row.Kind != Scheduled || b.guard().Backlog.Left != 3 {
		t.Errorf("row %+v", row)
	}
}

func TestBacklogTakesTurnsWithPlannedTicksWhereThereIsNoTimeForBoth(t *testing.T) {
	const coming = Millis(120_000)
	for name, c := range map[string]struct {
		last    *LastRun
		tick    BacklogTick
		seconds int // after t0
		want    bool
	}{
		"nothing ran before":              {nil, BacklogTick{Coming: coming}, 0, true},
		"a planned run was last":          {&LastRun{Tick: "2026-09-07T02:00:00Z", RunTime: 300_000}, BacklogTick{Coming: coming}, 0, true},
		"its own, and there is time":      {&LastRun{Tick: "backfill-2026-09-07T01:00:00Z", RunTime: 109_999}, BacklogTick{Coming: coming}, 0, true},
		"its own, and there is not":       {&LastRun{Tick: "catchup-2026-09-07T01:00:00Z", RunTime: 110_000}, BacklogTick{Coming: coming}, 0, false},
		"the planned tick may come still": {&LastRun{Tick: "backfill-2026-09-07T01:00:00Z", RunTime: 300_000, EndedAt: -1}, BacklogTick{Coming: coming, Due: 1}, 59, false},
		"the planned tick did not come":   {&LastRun{Tick: "backfill-2026-09-07T01:00:00Z", RunTime: 300_000, EndedAt: -1}, BacklogTick{Coming: coming, Due: 1}, 61, true},
		"it had come before that run":     {&LastRun{Tick: "backfill-2026-09-07T01:00:00Z", RunTime: 300_000, EndedAt: 2}, BacklogTick{Coming: coming, Due: 1}, 61, false},
		"nothing is planned":              {&LastRun{Tick: "backfill-2026-09-07T01:00:00Z", RunTime: 300_000}, BacklogTick{}, 0, true},
	} {
		last := c.last
		if last != nil {
			at := *last
			at.EndedAt += t0
			last = &at
		}
		tick := c.tick
		if tick.Coming != 0 {
			tick.Coming += t0
		}
		if tick.Due != 0 {
			tick.Due += t0
		}
		if got := (Guard{Last: last}).spares(tick, t0.Add(time.Duration(c.seconds)*time.Second)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

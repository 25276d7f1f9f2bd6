package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var runs = Sight{Known: true}

func TestHolderIsTakenOverOnlyOnceItIsDue(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.now = t0.Add(2*time.Minute + Margin)
	if d := b.takeOver(Sight{Known: true, Ended: true, Outcome: Succeeded}); d.Verdict != Stale || d.Commit != nil {
		t.Errorf("%+v: the lease is not over by every clock", d)
	}
	b.now++
	d := b.takeOver(Sight{Known: true, Ended: true, Outcome: Succeeded, StartedAt: t0, EndedAt: t0 + 9_000})
	if d.Verdict != Done || b.row(0).Outcome != Succeeded || b.row(0).RunTime != 9_000 || b.guard().Run != nil {
		t.Errorf("%+v: want %s settled with its true outcome", d, run.Run)
	}
}

func TestHolderThatRunsIsMarkedThenStoppedThenTakenOver(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.started(0)
	b.at(131)
	d := b.takeOver(runs)
	g := b.guard()
	if d.Verdict != Look || g.Mark == nil || *g.Mark != (Mark{Why: MarkTakeOver, By: "sweep", At: b.now}) || g.Run == nil || d.Guard.Version != g.Version {
		t.Fatalf("%+v, mark %+v: want it marked first", d, g.Mark)
	}
	if d := b.takeOver(runs); d.Verdict != Look || d.Commit != nil {
		t.Errorf("%+v: one mark is enough", d)
	}
	stopped := runs
	stopped.Stopped = true
	if d := b.takeOver(stopped); d.Verdict != Look || d.Commit != nil {
		t.Errorf("%+v: only an ended execution is taken over", d)
	}
	b.takeOver(Sight{Known: true, Ended: true, Outcome: Aborted, MayLinger: true, EndedAt: b.now})
	if row := b.row(0); row.Outcome != LeaseLost || row.Why != "the lease ran out; stopped for sweep" || row.Interval != 60 {
		t.Errorf("row %+v", row)
	}
}

func TestMarkedHolderNeedNotBeDueByItsLease(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.started(0)
	g, err := ReleaseJob(b.guard(), "", "me", "stuck", "r", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(g)
	b.takeOver(Sight{Known: true, Ended: true, Outcome: Aborted})
	if row := b.row(0); row.Outcome != Aborted || row.Why != "released by me: stuck" {
		t.Errorf("row %+v", row)
	}
}

func TestFencedHolderIsNotAwaitedOnceItIsMarkedAndOutOfItsLease(t *testing.T) {
	for name, c := range map[string]struct {
		fenced, stopped, leaseOver bool
		want                       Verdict
	}{
		"fenced":        {true, true, true, Done},
		"not fenced":    {false, true, true, Look},
		"no stop sent":  {true, false, true, Look},
		"lease not out": {true, true, false, Look},
	} {
		b := newBench(t, jobOf(policy.Replace, func(s *schema.Spec) { s.Fenced, s.DrainSeconds = c.fenced, 300 }))
		b.started(0)
		b.at(60).tick(1)
		b.change(func(g *Guard) { g.Mark = &Mark{Why: MarkReplace, By: "tick 1"} })
		if b.at(120); c.leaseOver {
			b.at(131)
		}
		d := b.takeOver(Sight{Known: true, Stopped: c.stopped})
		if d.Verdict != c.want {
			t.Errorf("%s: verdict %v, want %v", name, d.Verdict, c.want)
		}
		if c.want == Done && (b.row(0).Outcome != Replaced || b.row(0).EndedAt != b.now || b.row(1).Outcome != Running || b.guard().DrainUntil != 0) {
			t.Errorf("%s: rows %+v and %+v: want the waiting tick in its place", name, b.row(0), b.row(1))
		}
	}
}

func TestExecutionNobodyKnowsIsBelievedMissingOnlyAfterItsStart(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.change(func(g *Guard) { g.Mark = &Mark{} })
	b.now = run.StartBy.Add(Margin)
	if d := b.takeOver(Sight{}); d.Verdict != Stale || d.Commit != nil || d.Guard.Run == nil {
		t.Errorf("%+v: it may just not be visible yet", d)
	}
	b.now++
	b.takeOver(Sight{})
	if row := b.row(0); row.Outcome != Abandoned || row.Error != "" || b.guard().Run != nil {
		t.Errorf("row %+v", row)
	}
}

func TestRunThatNeverStartedIsAbandonedOrAbortedByForce(t *testing.T) {
	for mark, want := range map[MarkReason]Outcome{"": Abandoned, MarkTakeOver: Abandoned, MarkRelease: Aborted} {
		b := newBench(t, jobOf(policy.Skip))
		b.started(0)
		if mark != "" {
			b.change(func(g *Guard) { g.Mark = &Mark{Why: mark, By: "x"} })
		}
		b.at(131).takeOver(Sight{})
		row := b.row(0)
		if row.Outcome != want || row.StartedAt != 0 || row.RunTime != 0 || b.guard().DrainUntil != 0 {
			t.Errorf("mark %q: row %+v, want %s", mark, row, want)
		}
		if want == Abandoned && row.Why != "claimed but never started" {
			t.Errorf("why %q", row.Why)
		}
	}
}

func TestStopRequestIsOverdueAfterGraceBeatAndMargin(t *testing.T) {
	for name, c := range map[string]struct {
		beats bool
		due   time.Duration // after the stop deadline
	}{"with beats": {true, 40 * time.Second}, "without beats": {false, 10 * time.Second}} {
		spec := jobOf(policy.Replace, func(s *schema.Spec) { s.Beats = c.beats })
		b := newBench(t, spec)
		b.started(0)
		b.at(60).tick(1)
		b.change(func(g *Guard) { g.LeaseUntil = t0.Add(time.Hour) }) // it beats and does not heed
		b.now = b.guard().StopDeadline.Add(c.due)
		if HolderDue(b.guard(), b.now) {
			t.Errorf("%s: due at %v after the deadline", name, c.due)
		}
		b.now++
		if d := b.takeOver(runs); d.Verdict != Look || b.guard().Mark == nil || b.guard().Mark.Why != MarkReplace {
			t.Errorf("%s: %+v, mark %+v: want it marked for the tick that replaces it", name, d, b.guard().Mark)
		}
		b.takeOver(Sight{Known: true, Ended: true, Outcome: Aborted, EndedAt: b.now})
		if b.row(0).Outcome != Replaced || b.row(1).Outcome != Running {
			t.Errorf("%s: rows %s and %s", name, b.row(0).Outcome, b.row(1).Outcome)
		}
	}
}

func TestUrgentIsWhatASweepCanClear(t *testing.T) {
	ready := Guard{Ready: true, Spec: ptr(jobOf(policy.Skip))}
	held := ready
	held.Run, held.LeaseUntil = &RunRef{}, t0.Add(-Margin)-1
	for name, c := range map[string]struct {
		g      Guard
		change func(*Guard)
		want   bool
	}{
		"free":                        {ready, func(*Guard) {}, false},
		"lease over":                  {held, func(*Guard) {}, true},
		"lease not over":              {held, func(g *Guard) { g.LeaseUntil++ }, false},
		"due, not ready":              {held, func(g *Guard) { g.Ready, g.ReadyAt = false, t0 }, false},
		"marked":                      {held, func(g *Guard) { g.LeaseUntil, g.Mark = t0, &Mark{} }, true},
		"blocked long enough":         {ready, func(g *Guard) { g.Ready, g.ReadyAt = false, t0.Add(-Margin)-1 }, true},
		"blocked":                     {ready, func(g *Guard) { g.Ready, g.ReadyAt = false, t0.Add(-Margin) }, false},
		"waits for nobody":            {ready, func(g *Guard) { g.Waiting = &Waiting{} }, true},
		"waits, guard not ready":      {ready, func(g *Guard) { g.Ready, g.ReadyAt, g.Waiting = false, t0, &Waiting{} }, false},
		"waits for a drain":           {ready, func(g *Guard) { g.Waiting, g.DrainUntil = &Waiting{}, t0 }, false},
		"a stop request for no run":   {ready, func(g *Guard) { g.Stop, g.StopDeadline = &StopRequest{}, 1 }, false},
		"a run without stop request":  {held, func(g *Guard) { g.LeaseUntil, g.StopDeadline = t0, 1 }, false},
		"a run with its stop overdue": {held, func(g *Guard) { g.LeaseUntil, g.Stop, g.StopDeadline = t0, &StopRequest{}, 1 }, true},
	} {
		g := c.g
		c.change(&g)
		if got := Urgent(g, t0); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestHolderWhoseRowWasDeletedIsTakenOverAllTheSame(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.m.Delete(b.spec.Job, schema.TickSK(run.Tick))
	b.at(131).takeOver(Sight{Known: true, Ended: true, Outcome: TimedOut, EndedAt: b.now})
	if row := b.row(0); row.Outcome != TimedOut || row.Run != run.Run || b.guard().Run != nil {
		t.Errorf("row %+v: want it back, and the guard free", row)
	}
}

func TestGuardOfARareJobIsKeptWhoeverSettlesItsRun(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	d := b.delivery(0)
	d.Interval = 366 * 86_400
	b.deliver(d)
	b.at(131).takeOver(Sight{Known: true, Ended: true, Outcome: TimedOut, EndedAt: b.now})
	if want := b.now.Add(3 * 366 * 24 * time.Hour).Time().Unix(); b.guard().TTL != want {
		t.Errorf("ttl %d, want %d: three intervals", b.guard().TTL, want)
	}
}

func TestRunIsStartedOnceMoreWhenItsSenderIsGoneAndNoBeatWasHeard(t *testing.T) {
	for name, c := range map[string]struct {
		seconds int
		change  func(*Guard)
		want    bool
	}{
		"its sender may be at it":      {14, nil, false},
		"its sender is gone":           {15, nil, true},
		"a beat was heard":             {45, func(g *Guard) { g.LeaseUntil++ }, false},
		"the lease is of another spec": {45, func(g *Guard) { g.LeaseUntil++; g.SpecSince = t0 + 1 }, true},
		"being stopped":                {45, func(g *Guard) { g.Mark = &Mark{} }, false},
		"without beats":                {45, func(g *Guard) { s := *g.Spec; s.Beats = false; g.Spec = &s; g.LeaseUntil++ }, true},
		"nobody holds it":              {45, func(g *Guard) { g.Run = nil }, false},
		"a retry that waits":           {45, func(g *Guard) { g.StartBy, g.LeaseUntil = g.StartBy+60_000, g.LeaseUntil+60_000 }, true},
	} {
		b := newBench(t, jobOf(policy.Skip))
		b.started(0)
		if c.change != nil {
			b.change(c.change)
		}
		if got := StartDue(b.guard(), t0.Add(time.Duration(c.seconds)*time.Second)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

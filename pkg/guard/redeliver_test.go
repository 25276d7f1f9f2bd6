package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

// A run that nobody gave up is started again: the same name and input make one execution.
func TestRedeliveryStartsAgainWhileTheStartIsInTime(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	row := b.started(0)
	for name, c := range map[string]struct {
		now  Millis
		want Verdict
	}{
		"at once":      {t0, Start},
		"last instant": {row.StartBy - 1, Start},
		"given up":     {row.StartBy, Duplicate},
	} {
		b.now = c.now
		if d := b.tick(0); d.Verdict != c.want || d.Commit != nil || d.Row != row {
			t.Errorf("%s: %+v, want %v without a write", name, d, c.want)
		}
	}
}

func TestRedeliveryDoesNotStartWhatIsNotToRun(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	row := b.started(0)
	for name, c := range map[string]struct {
		guard func(*Guard)
		row   func(*Row)
	}{
		"marked":             {guard: func(g *Guard) { g.Mark = &Mark{} }},
		"not ready":          {guard: func(g *Guard) { g.Ready = false }},
		"released":           {guard: func(g *Guard) { g.Run = nil }},
		"another's fence":    {guard: func(g *Guard) { g.Fence++ }},
		"another's guard":    {guard: func(g *Guard) { g.Run = &RunRef{ID: "another"} }},
		"not before its day": {row: func(r *Row) { r.NotBefore = t0 + 1 }},
	} {
		g, r := b.guard(), row
		if c.guard != nil {
			c.guard(&g)
		}
		if c.row != nil {
			c.row(&r)
		}
		if d := Deliver(b.delivery(0), &g, &r, t0); d.Verdict != Duplicate || d.Commit != nil {
			t.Errorf("%s: %+v, want a duplicate", name, d)
		}
	}
	g, r := b.guard(), row
	if r.NotBefore = t0; Deliver(b.delivery(0), &g, &r, t0).Verdict != Start {
		t.Error("from notBefore on the retry is started")
	}
}

func TestGuardSpeaksForATickWhoseRowWasDeleted(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.started(0)
	b.at(60).tick(1)
	b.change(func(g *Guard) { g.LastTick = t0.Add(-time.Minute) })
	for minute, want := range map[int]Verdict{0: Duplicate, 1: Duplicate, 2: Done} {
		g := b.guard()
		if d := Deliver(b.delivery(minute), &g, nil, b.now); d.Verdict != want {
			t.Errorf("tick %d: %+v, want %v", minute, d, want)
		}
	}
	g := b.guard()
	g.Waiting = nil
	if d := Deliver(b.delivery(1), &g, nil, b.now); d.Verdict != Done {
		t.Errorf("%+v: the guard knows nothing of it", d)
	}
}

func TestRedeliveryOfASharedRunNeedsNoHolder(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow))
	row := b.started(0)
	if d := b.tick(0); d.Verdict != Start || d.Row != row {
		t.Errorf("%+v: want the start sent again", d)
	}
}

func TestRedeliveryOfAWaitingTickMovesItOn(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	run := b.started(0)
	b.at(60).tick(1)
	if d := b.tick(1); d.Verdict != Duplicate || d.Row.Outcome != Queued {
		t.Errorf("%+v: the guard is held, nothing is to be done", d)
	}
	b.at(131)
	if d := b.tick(1); d.Verdict != Look {
		t.Errorf("%+v: want a look at the holder that is due", d)
	}
	stays := b.delivery(1)
	stays.Stays = run.Run
	if d := b.deliver(stays); d.Verdict != Duplicate {
		t.Errorf("%+v: the holder stays", d)
	}
	b.change(func(g *Guard) { g.Run = nil })
	if d := b.tick(1); d.Verdict != HandOver {
		t.Errorf("%+v: want the free guard handed over", d)
	}
	if d := b.tick(2); d.Verdict != HandOver {
		t.Errorf("%+v: another tick hands it over first, too", d)
	}
	b.change(func(g *Guard) { g.DrainUntil = b.now })
	if d := b.tick(1); d.Verdict != Duplicate {
		t.Errorf("%+v: a draining guard is not handed over", d)
	}
	b.change(func(g *Guard) { g.DrainUntil, g.Waiting = 0, nil })
	if d := b.tick(1); d.Verdict != Duplicate {
		t.Errorf("%+v: the guard knows nothing of it", d)
	}
}

func TestDrainingGuardCountsAsHeldUntilTheMarginIsOver(t *testing.T) {
	spec := jobOf(policy.Skip, drains)
	b := newBench(t, spec)
	run := b.started(0)
	b.at(30).settle(b.lingering(run, TimedOut))
	until := b.now.Add(5 * time.Minute)
	b.now = until.Add(Margin)
	d := b.tick(5)
	want := Holder{Run: run.Run, Tick: run.Tick, HeldFor: int64(b.now - t0.Add(30*time.Second)), Until: until, Draining: true}
	if d.Row.Outcome != Skipped || d.Row.Why != WhyDraining || d.Row.Holder == nil || *d.Row.Holder != want {
		t.Errorf("%+v, holder %+v; want %+v", d.Row, d.Row.Holder, want)
	}
	b.now++
	b.started(6)
}

func TestDrainOfALostGuardHasNoRunToName(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip)).change(func(g *Guard) { g.DrainUntil = t0 })
	if d := b.tick(0); d.Row.Holder == nil || d.Row.Holder.Run != "" || !d.Row.Holder.Draining {
		t.Errorf("%+v", d.Row.Holder)
	}
}

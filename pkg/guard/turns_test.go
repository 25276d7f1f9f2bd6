package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

// After a run of the backlog the next one has the guard only if a planned tick loses nothing by it.
func TestBacklogHasTheGuardAgainOnlyWherePlannedTicksLoseNothing(t *testing.T) {
	spec := testSpec(policy.Skip, true)
	const took = Millis(60_000)
	last := LastRun{Tick: TickID(Backfill, t0.Add(-time.Hour)), EndedAt: t0, RunTime: int64(took)}
	coming := t0.Add(Margin) + took // a run that begins at t0 may be over just then
	for name, c := range map[string]struct {
		change func(g *Guard, bt *BacklogTick)
		now    Millis
		want   bool
	}{
		"over when it comes":               {func(_ *Guard, bt *BacklogTick) { bt.Coming = coming }, t0, false},
		"over before it comes":             {func(_ *Guard, bt *BacklogTick) { bt.Coming = coming + 1 }, t0, true},
		"none is to come":                  {func(_ *Guard, bt *BacklogTick) { bt.Coming = 0 }, t0, true},
		"nothing ran before":               {func(g *Guard, _ *BacklogTick) { g.Last = nil }, t0, true},
		"a planned run was the last":       {func(g *Guard, _ *BacklogTick) { g.Last.Tick = TickID(Scheduled, t0) }, t0, true},
		"the due one has its minute":       {func(_ *Guard, bt *BacklogTick) { bt.Due = t0 + 1 }, t0 + 1 + 59_999, false},
		"it had a minute and did not":      {func(_ *Guard, bt *BacklogTick) { bt.Due = t0 + 1 }, t0 + 1 + 60_000, true},
		"it was due before that run's end": {func(_ *Guard, bt *BacklogTick) { bt.Due = t0 }, t0 + 1 + 60_000, false},
		"policy Allow":                     {func(g *Guard, _ *BacklogTick) { g.Spec.Overlap = policy.Allow }, t0, true},
	} {
		s, l := spec, last
		g, bt := Guard{Spec: &s, Last: &l}, BacklogTick{Coming: t0 + 1}
		c.change(&g, &bt)
		if got := g.spares(bt, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestBacklogKnowsWhichTicksItHasYetToComeTo(t *testing.T) {
	b := &Backlog{Kind: Backfill, Next: minute(1), To: minute(3)}
	for id, want := range map[string]bool{
		TickID(Backfill, minute(0)): false, TickID(Backfill, minute(1)): true, TickID(Backfill, minute(3)): true, TickID(Backfill, minute(4)): false,
		AgainID(Backfill, minute(2), 1): true, TickID(CatchUp, minute(2)): false, TickID(Scheduled, minute(2)): false,
	} {
		if got := b.ahead(id); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
	if (*Backlog)(nil).ahead(TickID(Backfill, minute(2))) {
		t.Error("no backlog has a tick ahead")
	}
}

func TestBacklogWithNothingLeftEndsWithoutARecordUnlessAPersonEndsIt(t *testing.T) {
	for name, c := range map[string]struct {
		b     Backlog
		by    string
		wrote bool
	}{
		"a tick is left":          {Backlog{Kind: Backfill, Next: 5, To: 5, Left: 1}, Itself, true},
		"none is":                 {Backlog{Kind: Backfill, Next: 6, To: 5, Left: 1}, Itself, false},
		"a backfill counts to To": {Backlog{Kind: Backfill, Next: 5, To: 5}, Itself, true},
		"a catch-up has one":      {Backlog{Kind: CatchUp, Next: 5, To: 5, Left: 1}, Itself, true},
		"a catch-up counts down":  {Backlog{Kind: CatchUp, Next: 5, To: 5}, Itself, false},
		"a person ends it":        {Backlog{Kind: CatchUp, Next: 6, To: 5}, "ada", true},
	} {
		g := Guard{Backlog: &c.b}.endBacklog(c.by, "why", t0)
		if g.Backlog != nil || (g.BacklogEnd != nil) != c.wrote {
			t.Errorf("%s: %+v, %+v", name, g.Backlog, g.BacklogEnd)
		}
	}
}

func TestBacklogFindsTheFirstTickThatIsToBeRun(t *testing.T) {
	b := Backlog{Kind: Backfill, Next: minute(0), To: minute(3), Left: 4}
	row := func(n int, o Outcome) Row {
		return Row{Tick: TickID(Backfill, minute(n)), At: minute(n), Kind: Backfill, Outcome: o}
	}
	for name, c := range map[string]struct {
		rows  []Row
		known Millis
		want  BacklogTick
	}{
		"nothing on record":   {nil, minute(3), BacklogTick{At: minute(0), Next: minute(1)}},
		"two succeeded":       {[]Row{row(0, Succeeded), row(1, Succeeded)}, minute(3), BacklogTick{At: minute(2), Next: minute(3), Passed: 2}},
		"one failed":          {[]Row{row(0, Failed)}, minute(3), BacklogTick{At: minute(0), Next: minute(1), Before: 1}},
		"no more is known":    {[]Row{row(0, Succeeded), row(1, Succeeded)}, minute(1), BacklogTick{At: minute(1), Next: minute(2), Before: 1, Passed: 2, Done: true}},
		"all of it succeeded": {[]Row{row(0, Succeeded), row(1, Succeeded), row(2, Succeeded), row(3, Succeeded)}, minute(3), BacklogTick{Next: minute(3) + 1}},
	} {
		if got := b.Find(minutely, c.rows, nil, c.known); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestBacklogOfAJobWhoseScheduleIsGone(t *testing.T) {
	for k, starts := range map[Kind]bool{CatchUp: false, Backfill: true} { // what was missed is missed; what a person asked for is not
		spec := testSpec(policy.Skip, true)
		g := Guard{
			Job: spec.Job, Version: 1, Ready: true, Spec: &spec,
			Backlog: &Backlog{Kind: k, Next: minute(-60), To: minute(-60), Left: 1, Until: minute(60)},
		}
		dec, ok := AdvanceBacklog(g, BacklogTick{At: minute(-60), Interval: 60}, "token", t0)
		if ok && dec.Next != nil != starts || !ok && starts {
			t.Errorf("%s: %v, %+v; want it started: %v", k, ok, dec.Next, starts)
		}
		g.SpecHash = spec.Hash()
		if dec, ok = AdvanceBacklog(g, BacklogTick{At: minute(-60), Interval: 60}, "token", t0); !ok || dec.Next == nil {
			t.Errorf("%s of a job that is there: nothing started", k)
		}
	}
}

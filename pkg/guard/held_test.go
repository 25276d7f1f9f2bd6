package guard

import (
	"slices"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// heldGuard is a guard whose run acquired it at t0; a beat has renewed its lease after a minute.
func heldGuard(beats bool) Guard {
	spec := testSpec(policy.Skip, beats)
	g := Guard{Job: spec.Job, Ready: true, Spec: &spec, SpecHash: spec.Hash(), Run: &RunRef{ID: "r", At: t0}}
	g.LeaseUntil, g.StartBy = lease(spec, t0)
	return g
}

func TestAgeOfALeaseCountsFromWhenItBeganOrWasRenewed(t *testing.T) {
	later := 5 * time.Minute // another attempt may begin so long after the guard was acquired
	for name, c := range map[string]struct {
		beats  bool
		change func(*Guard)
		from   Millis
		age    time.Duration
	}{
		"with beats":             {true, func(*Guard) {}, t0, 10 * time.Minute},
		"renewed":                {true, func(g *Guard) { g.LeaseUntil = g.LeaseUntil.Add(9 * time.Minute) }, t0, time.Minute},
		"without":                {false, func(*Guard) {}, t0, 10 * time.Minute},
		"another attempt, beats": {true, func(g *Guard) { g.StartBy, g.LeaseUntil = g.StartBy.Add(later), g.LeaseUntil.Add(later) }, t0.Add(later), later},
		"another attempt":        {false, func(g *Guard) { g.StartBy = g.StartBy.Add(later) }, t0.Add(later), later},
		"nobody":                 {true, func(g *Guard) { g.Run = nil }, 0, 10 * time.Minute},
		"no spec":                {true, func(g *Guard) { g.Spec = nil }, 0, t0.Add(10 * time.Minute).Sub(0)},
	} {
		g := heldGuard(c.beats)
		c.change(&g)
		if got := g.RunsFrom(); got != c.from {
			t.Errorf("%s: runs from %s, want %s", name, got, c.from)
		}
		if got := g.LeaseAge(t0.Add(10 * time.Minute)); got != c.age {
			t.Errorf("%s: lease is %v old, want %v", name, got, c.age)
		}
	}
}

func TestStartIsDueOnceItsSenderIsGoneAndNoBeatCame(t *testing.T) {
	gone := t0.Add(schema.DispatcherTimeout)
	for name, c := range map[string]struct {
		change func(*Guard)
		now    Millis
		want   bool
	}{
		"its sender may live":          {func(*Guard) {}, gone - 1, false},
		"gone":                         {func(*Guard) {}, gone, true},
		"nobody holds it":              {func(g *Guard) { g.Run = nil }, gone, false},
		"it is marked":                 {func(g *Guard) { g.Mark = &Mark{} }, gone, false},
		"a beat came":                  {func(g *Guard) { g.LeaseUntil++ }, gone, false},
		"of a spec of before":          {func(g *Guard) { g.LeaseUntil++; g.SpecSince = t0 + 1 }, gone, true},
		"its spec is seen as it began": {func(g *Guard) { g.LeaseUntil++; g.SpecSince = t0 }, gone, false},
	} {
		g := heldGuard(true)
		c.change(&g)
		if got := StartDue(g, c.now); got != c.want {
			t.Errorf("%s: due %v, want %v", name, got, c.want)
		}
	}
}

func TestGuardKeepsHowLongItsLastRunTook(t *testing.T) {
	for name, c := range map[string]struct {
		end  End
		want LastRun
	}{
		"both known":      {End{StartedAt: t0, EndedAt: t0 + 90_000}, LastRun{EndedAt: t0 + 90_000, RunTime: 90_000}},
		"no start":        {End{EndedAt: t0 + 90_000}, LastRun{EndedAt: t0 + 90_000}},
		"no end":          {End{StartedAt: t0}, LastRun{EndedAt: t0 + 120_000, RunTime: 120_000}},
		"as it began":     {End{StartedAt: t0 + 90_000, EndedAt: t0 + 90_000}, LastRun{EndedAt: t0 + 90_000}},
		"clocks disagree": {End{StartedAt: t0 + 90_000, EndedAt: t0}, LastRun{EndedAt: t0}},
	} {
		held := heldGuard(true)
		g := held.release(c.end, 0, t0+120_000)
		if *g.Last != c.want || g.Version != held.Version+1 {
			t.Errorf("%s: %+v at version %d, want %+v at %d", name, *g.Last, g.Version, c.want, held.Version+1)
		}
	}
}

func TestFieldsAreSetAndTakenOutWhereverTheyStand(t *testing.T) {
	all := Fields{{"a", 1}, {"b", 2}, {"c", 3}}
	for i, f := range all {
		if got := all.Get(f.Name); got != f.Value {
			t.Errorf("%s is %v", f.Name, got)
		}
		with := slices.Clone(all)
		with[i].Value = 9
		if got := all.With(f.Name, 9); !slices.Equal(got, with) {
			t.Errorf("with %s: %v", f.Name, got)
		}
		if got, want := all.Without(f.Name), slices.Concat(all[:i], all[i+1:]); !slices.Equal(got, want) {
			t.Errorf("without %s: %v", f.Name, got)
		}
	}
	if got := all.With("d", 4); !slices.Equal(got, append(slices.Clone(all), Field{"d", 4})) {
		t.Errorf("with another: %v", got)
	}
	if got := all.Without("d"); !slices.Equal(got, all) || all.Get("d") != nil {
		t.Errorf("without what is not there: %v", got)
	}
	if want := (Fields{{"a", 1}, {"b", 2}, {"c", 3}}); !slices.Equal(all, want) {
		t.Errorf("the caller's own became %v", all)
	}
}

func TestWritesAreFencedIfTheRunsOwnSpecAndTheOneThatStandsSaySo(t *testing.T) {
	spec := testSpec(policy.Skip, true)
	for _, c := range []struct{ run, stands, want bool }{{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false}} {
		spec.Fenced = c.stands
		g := Guard{Spec: &spec, Run: &RunRef{Terms: Terms{Fenced: c.run}}}
		if got := FencedHolder(g); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if g.Run = nil; FencedHolder(g) {
			t.Error("nobody's writes are fenced")
		}
	}
}

func TestOnlyABackfillsRepetitionIsNumbered(t *testing.T) {
	const first = "backfill-2026-09-07T02:00:00Z"
	for id, want := range map[string]bool{
		first: true, first + "-2": true, first + "-13": true,
		first + "-1": false, first + "-0": false, first + "-02": false, first + "-": false, first + "-x": false, first + "--2": false,
		"catchup-2026-09-07T02:00:00Z-2": false, "manual-2026-09-07T02:00:00.000Z-2": false,
	} {
		if _, at := KindOf(id); at != 0 != want {
			t.Errorf("%s: instant %s, want one %v", id, at, want)
		}
	}
}

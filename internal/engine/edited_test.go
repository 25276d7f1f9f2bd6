package engine_test

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// What a deployment in the middle of things must not change, and what it must.

func TestDrainOfARunIsThatOfItsSpecOrALongerOne(t *testing.T) {
	for name, c := range map[string]struct {
		before, after int64
		fenced        bool // afterwards
		want          time.Duration
	}{
		"shorter by now": {900, 60, false, 15 * time.Minute},
		"fenced by now":  {900, 900, true, 15 * time.Minute},
		"longer by now":  {60, 900, false, 15 * time.Minute},
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		spec.DrainSeconds = c.before
		w.Established(spec, "01:59")
		w.At("02:00:00")
		run := w.Tick(spec, "02:00")
		w.At("02:00:30")
		spec.DrainSeconds, spec.Fenced = c.after, c.fenced
		must(t)(nil, w.Engine().Introduce(t.Context(), spec))
		w.At("02:00:40")
		w.Runs.End(run.Run, machine.Aborted, "")
		must(t)(w.Settle(w.StatusEvent(run.Run)))
		if g := w.Guard("cleanup"); g.DrainUntil != schema.MillisOf(w.Clock.Add(c.want)) {
			t.Errorf("%s: aborted at %v, drains until %v, want %v", name, w.Clock, g.DrainUntil, c.want)
		}
	}
}

func TestHolderThatWasNotFencedIsAwaitedAlthoughTheJobIsByNow(t *testing.T) {
	for _, fenced := range []bool{false, true} { // when the run began
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		spec.Fenced = fenced
		w.Established(spec, "01:59")
		w.At("02:00:00")
		old := w.Tick(spec, "02:00")
		spec.Fenced, spec.MaxRunSeconds = true, spec.MaxRunSeconds+1
		w.At("02:01:00")
		w.Tick(spec, "02:01")
		w.Runs.Deaf = true
		w.At("02:03:00")
		w.Tick(spec, "02:03")
		if g := w.Guard("cleanup"); (g.Run != nil && g.Run.ID == old.Run) == fenced {
			t.Errorf("fenced when it began %v: guard held by %+v", fenced, g.Run)
		}
	}
}

// Runs of policy Allow may go on for as long as their own spec let them.
func TestRunsOfAllowHoldUntilTheyEndHoweverLongAgoThePolicyWas(t *testing.T) {
	w, allow := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 * * * ? *)")
	allow.Overlap, allow.Beats, allow.RenewalSeconds = policy.Allow, false, 0
	allow.MaxRunSeconds, allow.MachineTimeoutSeconds = 10*86400, 10*86400+30
	w.Established(allow, "01:00")
	w.At("02:00:00")
	run := w.Tick(allow, "02:00")
	skip := testworld.Spec("cleanup", "cron(0 * * * ? *)")
	w.At("02:30:00")
	must(t)(nil, w.Engine().Introduce(t.Context(), skip))
	n := w.Runs.Started
	for w.Clock.Before(testworld.Midnight.Add(72 * time.Hour)) {
		w.Clock = w.Clock.Add(30 * time.Minute)
		w.Sweep("cleanup")
		if w.Clock.Minute() == 0 {
			must(t)(w.Deliver(skip, schema.TickID(w.Clock)))
		}
		if w.Runs.Started > n {
			t.Fatalf("at %v a run was started, live %d, beside %s", w.Clock, w.Guard("cleanup").Live, run.Run)
		}
	}
	w.Runs.End(run.Run, machine.Succeeded, "")
	must(t)(w.Settle(w.StatusEvent(run.Run)))
	if g := w.Guard("cleanup"); g.Live != 0 {
		t.Errorf("guard %+v: want nothing live", g)
	}
}

func TestLateTickOfAnOldAllowSpecStartsNothingBesideAHolder(t *testing.T) {
	w, allow := testworld.New(t, nil), testworld.Minutely("cleanup")
	allow.Overlap, allow.Beats, allow.RenewalSeconds = policy.Allow, false, 0
	w.Established(allow, "01:59")
	skip := allow
	skip.Overlap = policy.Skip
	w.At("02:00:30")
	must(t)(nil, w.Engine().Introduce(t.Context(), skip))
	w.At("02:01:00")
	holder := w.Tick(skip, "02:01")
	w.At("02:01:20")
	if late := w.Tick(allow, "02:00"); !holder.Started || late.Result != "Skipped" {
		t.Errorf("%+v beside %+v: want it skipped", late, holder)
	}
}

func TestTickOnItsWayThroughARollBackIsDecided(t *testing.T) {
	w, a := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.Established(a, "01:59")
	b := a
	b.Schedule = "cron(2 * * * ? *)"
	w.At("02:00:50")
	must(t)(nil, w.Engine().Introduce(t.Context(), b))
	w.At("02:02:00")
	must(t)(w.Succeed(w.Tick(b, "02:02")))
	w.At("02:03:00")
	must(t)(nil, w.Engine().Introduce(t.Context(), a))
	w.At("02:04:00")
	w.Tick(a, "02:00")
	if row := w.RowOf("cleanup", "2026-09-07T02:00:00Z"); row == nil || row.Outcome != guard.Running {
		t.Errorf("row %+v: want the tick decided", row)
	}
}

// What is missed under one schedule is caught up with under that one or not at all.
func TestCatchUpEndsWithItsSchedule(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*schema.Spec)
		left   bool
	}{
		"another schedule":  {func(s *schema.Spec) { s.Schedule = "cron(* * * * ? *)" }, false},
		"another zone":      {func(s *schema.Spec) { s.Timezone = "Europe/Berlin" }, false},
		"another time only": {func(s *schema.Spec) { s.MaxRunSeconds++ }, true},
	} {
		w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 * * * ? *)")
		spec.CatchUp, spec.CatchUpMax = policy.CatchUpAll, 10
		w.Established(spec, "01:00")
		w.At("06:25:00") // nothing came from 02:00 on
		w.Sweep("cleanup")
		if g := w.Guard("cleanup"); g.Backlog == nil {
			t.Fatal("nothing to be caught up with")
		}
		c.change(&spec)
		must(t)(nil, w.Engine().Introduce(t.Context(), spec))
		if g := w.Guard("cleanup"); (g.Backlog != nil) != c.left {
			t.Errorf("%s: backlog %+v", name, g.Backlog)
		}
	}
}

func TestCatchUpOfAJobWhoseScheduleIsGoneRests(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 * * * ? *)")
	spec.CatchUp, spec.CatchUpMax = policy.CatchUpAll, 10
	w.Established(spec, "01:00")
	w.At("06:25:00")
	w.Sweep("cleanup")
	must(t)(w.Engine().Forget(t.Context(), w.Guard("cleanup")))
	n := w.Runs.Started
	for range 3 {
		w.Clock = w.Clock.Add(time.Minute)
		if g := w.Guard("cleanup"); g.Run != nil {
			must(t)(w.Succeed(runOf(*w.RowOf("cleanup", g.Run.Tick))))
		}
		w.Sweep("cleanup")
	}
	if w.Runs.Started > n {
		t.Errorf("%d more runs", w.Runs.Started-n)
	}
}

// The simulation found what this shows: with its row deleted nothing told of a run of Allow.
func TestRunOfAllowWhoseRowWasDeletedHoldsUntilItCanNoLongerGoOn(t *testing.T) {
	w, allow := testworld.New(t, nil), testworld.Minutely("cleanup")
	allow.Overlap, allow.Beats, allow.RenewalSeconds = policy.Allow, false, 0
	allow.MaxRunSeconds, allow.MachineTimeoutSeconds = 600, 630
	w.Established(allow, "01:59")
	w.At("02:00:00")
	w.Tick(allow, "02:00")
	w.Store.Store.(*guard.Memory).Delete("cleanup", schema.TickSK("2026-09-07T02:00:00Z"))
	skip := allow
	skip.Overlap = policy.Skip
	w.At("02:00:30")
	must(t)(nil, w.Engine().Introduce(t.Context(), skip))
	for _, c := range []struct {
		clock string
		live  int64
	}{{"02:12:04", 1}, {"02:12:06", 0}} { // 75 s to start, 630 to run, the margin twice
		w.At(c.clock)
		w.Sweep("cleanup")
		if g := w.Guard("cleanup"); g.Live != c.live {
			t.Errorf("at %s: %d live, want %d", c.clock, g.Live, c.live)
		}
	}
}

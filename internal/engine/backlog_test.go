package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// tenMinutely is a job of every ten minutes that was well at 12:00, half a minute ago.
func tenMinutely(t *testing.T, changes ...func(*schema.Spec)) (*testworld.World, schema.Spec) {
	t.Helper()
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	for _, change := range changes {
		change(&spec)
	}
	w.Established(spec, "12:00")
	w.At("12:00:30")
	return w, spec
}

// backfill asks for the ticks from midnight on, for as long as is given.
func backfill(t *testing.T, w *testworld.World, to time.Duration) {
	t.Helper()
	_, _, err := w.Engine().Backfill(t.Context(), "cleanup", schema.MillisOf(testworld.Midnight), schema.MillisOf(testworld.Midnight.Add(to)))
	must(t)(nil, err)
}

// backfilled counts the outcomes of the job's backfilled ticks.
func backfilled(t *testing.T, w *testworld.World) map[guard.Outcome]int {
	t.Helper()
	page, err := w.Store.Store.Rows(t.Context(), guard.RowQuery{Job: "cleanup", From: "backfill-"})
	must(t)(nil, err)
	counts := map[guard.Outcome]int{}
	for _, row := range page.Rows {
		counts[row.Outcome]++
	}
	return counts
}

func TestARefusedStartEndsTheBacklogOnTheRecordAndBurnsNoMoreTicks(t *testing.T) {
	refusal := fmt.Errorf("%w: AccessDeniedException", machine.ErrPermanent)
	for name, refused := range map[string]func(w *testworld.World){
		"of its first tick": func(w *testworld.World) {
			w.Runs.FailStart = refusal
			backfill(t, w, 11*time.Hour)
		},
		"at the end of another run": func(w *testworld.World) {
			backfill(t, w, 11*time.Hour)
			w.Runs.FailStart = refusal
			must(t)(w.Succeed(runOf(*w.RowOf("cleanup", w.Guard("cleanup").Run.Tick))))
		},
	} {
		w, _ := tenMinutely(t)
		refused(w)
		for range 3 {
			w.Clock = w.Clock.Add(time.Minute)
			w.Sweep("cleanup")
		}
		g := w.Guard("cleanup")
		if n := backfilled(t, w)[guard.Failed]; n != 1 {
			t.Errorf("%s: %d ticks Failed, want the one that was refused", name, n)
		}
		if g.Backlog != nil || g.Run != nil || g.BacklogEnd == nil || !strings.Contains(g.BacklogEnd.Why, "AccessDeniedException") {
			t.Errorf("%s: backlog %+v, end %+v: want it ended with the reason", name, g.Backlog, g.BacklogEnd)
		}
		if n := told(w, "backlog ended"); n != 1 {
			t.Errorf("%s: told %d times of its end, want once", name, n)
		}
	}
}

// told counts what was told of, to the world or in the log.
func told(w *testworld.World, what string) int {
	n := w.Lines(what)
	for _, x := range w.Told {
		if x.What == what {
			n++
		}
	}
	return n
}

func TestABackfillThatAPersonEndsIsNoneToWarnOf(t *testing.T) {
	w, _ := tenMinutely(t)
	backfill(t, w, time.Hour)
	must(t)(w.Engine().EndBacklog(t.Context(), "cleanup", "me", "hasty"))
	if told(w, "backlog ended") != 0 {
		t.Errorf("told %+v", w.Told)
	}
}

func TestARefusedPlannedStartBurnsNoTickOfTheBacklog(t *testing.T) {
	w, spec := tenMinutely(t)
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x"}))
	backfill(t, w, time.Hour)
	must(t)(w.Engine().Resume(t.Context(), "cleanup"))
	w.Runs.FailStart = fmt.Errorf("%w: AccessDeniedException", machine.ErrPermanent)
	w.At("12:10:00")
	w.Tick(spec, "12:10")
	w.Runs.FailStart = nil
	if g := w.Guard("cleanup"); len(backfilled(t, w)) != 0 || g.Backlog == nil || g.Backlog.Left != 7 {
		t.Errorf("%v, backlog %+v: want it left as it was", backfilled(t, w), g.Backlog)
	}
	w.Sweep("cleanup")
	if n := backfilled(t, w)[guard.Running]; n != 1 {
		t.Errorf("%d run: want the sweep to go on", n)
	}
}

// A name that is taken is the tick's own affair, but the names of all behind it may be taken too.
func TestTakenNamesBurnOneTickOfTheBacklogASweep(t *testing.T) {
	w, spec := tenMinutely(t)
	for n := range 7 {
		tick := guard.TickID(guard.Backfill, schema.MillisOf(testworld.Midnight.Add(time.Duration(n)*10*time.Minute)))
		run := schema.RunID("cleanup", tick, 1)
		must(t)(nil, w.Runs.Start(t.Context(), spec.Machine, run, `{"fence":7}`))
		w.Runs.End(run, machine.Succeeded, "")
	}
	backfill(t, w, time.Hour)
	if g := w.Guard("cleanup"); backfilled(t, w)[guard.Failed] != 1 || g.Backlog == nil || g.Backlog.Left != 6 {
		t.Errorf("%v, backlog %+v: want one tick Failed", backfilled(t, w), g.Backlog)
	}
}

func TestABackfillWhoseTimeIsOverIsEndedOnTheRecord(t *testing.T) {
	w, _ := tenMinutely(t)
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x"}))
	backfill(t, w, time.Hour)
	w.Clock = w.Clock.Add(31 * 24 * time.Hour)
	must(t)(w.Engine().Resume(t.Context(), "cleanup"))
	w.Sweep("cleanup")
	if g := w.Guard("cleanup"); g.Backlog != nil || g.BacklogEnd == nil || g.BacklogEnd.Left != 7 || g.BacklogEnd.Why != guard.EndOutOfTime {
		t.Errorf("backlog %+v, end %+v: want what is left on record", g.Backlog, g.BacklogEnd)
	}
}

// Under another schedule the cursor would stand for other ticks than those that were asked for.
func TestABackfillEndsOnTheRecordWithItsSchedule(t *testing.T) {
	w, spec := tenMinutely(t)
	backfill(t, w, time.Hour)
	spec.Schedule = "cron(0/20 * * * ? *)"
	must(t)(nil, w.Engine().Introduce(t.Context(), spec))
	g := w.Guard("cleanup")
	if g.Backlog != nil || g.BacklogEnd == nil || g.BacklogEnd.Left != 6 || g.BacklogEnd.Why != guard.EndEdited || g.Run == nil {
		t.Fatalf("backlog %+v, end %+v, run %+v: want it ended and its run left alone", g.Backlog, g.BacklogEnd, g.Run)
	}
	must(t)(w.Succeed(runOf(*w.RowOf("cleanup", g.Run.Tick))))
	w.Sweep("cleanup")
	if got := backfilled(t, w); len(got) != 1 || got[guard.Succeeded] != 1 {
		t.Errorf("%v: want no more of its ticks run", got)
	}
}

// finish ends every run of the backlog as it comes, sweeping in between, and returns how many sweeps
// it took.
func finish(t *testing.T, w *testworld.World, end func(row guard.Row)) (sweeps int) {
	t.Helper()
	for ; w.Guard("cleanup").Backlog != nil || w.Guard("cleanup").Run != nil; sweeps++ {
		if sweeps > 100 {
			t.Fatal("the backlog is never over")
		}
		for g := w.Guard("cleanup"); g.Run != nil; g = w.Guard("cleanup") {
			w.Clock = w.Clock.Add(time.Second)
			end(*w.RowOf("cleanup", g.Run.Tick))
		}
		w.Sweep("cleanup")
	}
	return sweeps
}

// The tick of 12:10 is on its way: a backfill up to now must not run it beside itself.
func TestABackfillUpToNowLeavesOutTicksThatMayStillCome(t *testing.T) {
	w, spec := tenMinutely(t)
	now := schema.MillisOf(w.At("12:10:20"))
	_, b, err := w.Engine().Backfill(t.Context(), "cleanup", now.Add(-30*time.Minute), now)
	if err != nil || b.Planned != 2 || b.To != schema.MillisOf(testworld.Midnight.Add(12*time.Hour)) {
		t.Errorf("%+v, %v: want the two ticks up to 12:00, which are on record", b, err)
	}
	finish(t, w, func(row guard.Row) { must(t)(w.Succeed(runOf(row))) })
	n := w.Runs.Started
	must(t)(w.Succeed(w.Tick(spec, "12:10")))
	finish(t, w, nil)
	if w.Runs.Started != n+1 || w.RowOf("cleanup", "backfill-2026-09-07T12:10:00Z") != nil {
		t.Errorf("%d executions of 12:10", w.Runs.Started-n)
	}
}

// A planned tick of Replace waits for a backfill's run: where those outlast the interval none would
// come to its end.
func TestABackfillUnderReplaceTakesTurnsWithPlannedTicks(t *testing.T) {
	w, spec := tenMinutely(t, func(s *schema.Spec) { s.Overlap, s.GraceSeconds = policy.Replace, 30 })
	backfill(t, w, 30*time.Minute)
	planned := map[guard.Outcome]int{}
	for range 100 { // of a minute
		for range 2 {
			w.Clock = w.Clock.Add(30 * time.Second)
			g := w.Guard("cleanup")
			if g.Run == nil {
				continue
			}
			row, took := *w.RowOf("cleanup", g.Run.Tick), time.Minute
			if row.Kind == guard.Backfill {
				took = 12 * time.Minute
			}
			if w.Clock.Sub(g.Run.At.Time()) < took {
				must(t)(nil, w.Beat(runOf(row)))
				continue
			}
			must(t)(w.Succeed(runOf(row)))
			if row.Kind == guard.Scheduled {
				planned[guard.Succeeded]++
			}
		}
		if clock := w.Clock.Add(-30 * time.Second); clock.Minute()%10 == 0 {
			w.Tick(spec, clock.Format("15:04"))
		}
		w.Sweep("cleanup")
	}
	if got := backfilled(t, w); got[guard.Succeeded] != 4 || len(got) != 1 || planned[guard.Succeeded] < 5 {
		t.Errorf("backfilled %v, %d planned: want all four, and planned ticks in between", got, planned[guard.Succeeded])
	}
}

func TestABackfillUnderAllowWaitsForNoWorkThatLingersOfPlannedRuns(t *testing.T) {
	w, spec := tenMinutely(t, func(s *schema.Spec) {
		s.Overlap, s.Beats, s.RenewalSeconds, s.DrainSeconds = policy.Allow, false, 0, 900
	})
	w.At("12:10:00")
	must(t)(w.Fail(w.Tick(spec, "12:10"), "States.Timeout", ""))
	backfill(t, w, 20*time.Minute)
	if got := backfilled(t, w); got[guard.Running] != 1 {
		t.Errorf("%v, draining until %s: want the backfill under way", got, w.Guard("cleanup").DrainUntil)
	}
}

// A job of Allow may never be without a run.
func TestABackfillUnderAllowRunsBesidePlannedRunsOneAtATime(t *testing.T) {
	w, spec := tenMinutely(t, func(s *schema.Spec) { s.Overlap, s.Beats, s.RenewalSeconds = policy.Allow, false, 0 })
	w.At("12:10:00")
	live := w.Tick(spec, "12:10")
	w.At("12:10:30")
	backfill(t, w, 20*time.Minute)
	w.Sweep("cleanup")
	if got := backfilled(t, w); got[guard.Running] != 1 || len(got) != 1 {
		t.Fatalf("%v: want one run of the backfill beside the planned one", got)
	}
	w.At("12:20:00")
	if r := w.Tick(spec, "12:20"); !r.Started {
		t.Errorf("%+v: want the planned tick started beside the backfill's", r)
	}
	sweeps := finish(t, w, func(row guard.Row) {
		w.Clock = w.Clock.Add(time.Hour) // planned ticks do not want the guard: there are no turns to be taken
		must(t)(w.Succeed(runOf(row)))
	})
	if got := backfilled(t, w); got[guard.Succeeded] != 3 || sweeps > 1 {
		t.Errorf("%v after %d sweeps: want all three, one after the other", got, sweeps)
	}
	must(t)(w.Succeed(live))
	if row := w.Row("cleanup", "12:10"); row.Outcome != guard.Succeeded {
		t.Errorf("row %+v", row)
	}
}

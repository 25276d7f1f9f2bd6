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

// backfill asks for the ticks between two clocks of the day.
func backfill(t *testing.T, w *testworld.World, from, to time.Duration) {
	t.Helper()
	_, _, err := w.Engine().Backfill(t.Context(), "cleanup", schema.MillisOf(testworld.Midnight.Add(from)), schema.MillisOf(testworld.Midnight.Add(to)))
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
			backfill(t, w, 0, 11*time.Hour)
		},
		"at the end of another run": func(w *testworld.World) {
			backfill(t, w, 0, 11*time.Hour)
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
	}
}

func TestARefusedPlannedStartBurnsNoTickOfTheBacklog(t *testing.T) {
	w, spec := tenMinutely(t)
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x"}))
	backfill(t, w, 0, time.Hour)
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
	backfill(t, w, 0, time.Hour)
	if g := w.Guard("cleanup"); backfilled(t, w)[guard.Failed] != 1 || g.Backlog == nil || g.Backlog.Left != 6 {
		t.Errorf("%v, backlog %+v: want one tick Failed", backfilled(t, w), g.Backlog)
	}
}

func TestABackfillWhoseTimeIsOverIsEndedOnTheRecord(t *testing.T) {
	w, _ := tenMinutely(t)
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x"}))
	backfill(t, w, 0, time.Hour)
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
	backfill(t, w, 0, time.Hour)
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

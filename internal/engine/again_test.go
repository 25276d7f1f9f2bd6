package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestARepeatedBackfillRunsWhatDidNotSucceedBefore(t *testing.T) {
	w, _ := tenMinutely(t)
	succeed := func(row guard.Row) { must(t)(w.Succeed(runOf(row))) }
	backfill(t, w, 30*time.Minute)
	finish(t, w, func(row guard.Row) {
		if row.At.Time().Minute() == 10 {
			succeed(row)
			return
		}
		must(t)(w.Fail(runOf(row), "OutOfStock", ""))
	})
	from, to := schema.MillisOf(testworld.Midnight), schema.MillisOf(testworld.Midnight.Add(50*time.Minute))
	n := w.Runs.Started
	_, b, err := w.Engine().Backfill(t.Context(), "cleanup", from, to)
	if err != nil || b.Planned != 6 || b.Passed != 1 {
		t.Errorf("%+v, %v: want six ticks, one of them passed over", b, err)
	}
	var ran []string
	finish(t, w, func(row guard.Row) {
		ran = append(ran, row.Tick)
		succeed(row)
	})
	want := []string{
		"backfill-2026-09-07T00:00:00Z-2", "backfill-2026-09-07T00:20:00Z-2", "backfill-2026-09-07T00:30:00Z-2",
		"backfill-2026-09-07T00:40:00Z", "backfill-2026-09-07T00:50:00Z",
	}
	if diff := cmp.Diff(want, ran); diff != "" || w.Runs.Started != n+5 {
		t.Errorf("%d executions, ran (-want +got):\n%s", w.Runs.Started-n, diff)
	}
	var refused *guard.Refusal
	if _, _, err := w.Engine().Backfill(t.Context(), "cleanup", from, to); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "succeeded in an earlier backfill") {
		t.Errorf("error %v: want it refused, since nothing is left to be run", err)
	}
}

// A run of the backfill before is still on record as Running when its own end is settled.
func TestABackfillAskedForAgainWhileOneRunsGoesByWhatBecomesOfIt(t *testing.T) {
	for _, fails := range []bool{true, false} {
		w, _ := tenMinutely(t)
		backfill(t, w, 20*time.Minute)
		row := *w.RowOf("cleanup", w.Guard("cleanup").Run.Tick)
		must(t)(w.Engine().EndBacklog(t.Context(), "cleanup", "me", "a bug"))
		backfill(t, w, 20*time.Minute)
		want := map[guard.Outcome]int{guard.Succeeded: 3}
		if fails {
			must(t)(w.Fail(runOf(row), "Bug", ""))
			want[guard.Failed] = 1
		}
		finish(t, w, func(row guard.Row) { must(t)(w.Succeed(runOf(row))) })
		if diff := cmp.Diff(want, backfilled(t, w)); diff != "" {
			t.Errorf("it fails: %v (-want +got):\n%s", fails, diff)
		}
	}
}

// The record of what succeeded is deleted while the backfill is under way.
func TestABackfillComesToItsLastTickWhateverIsStillOnRecord(t *testing.T) {
	w, _ := tenMinutely(t)
	backfill(t, w, 50*time.Minute)
	finish(t, w, func(row guard.Row) {
		if row.At.Time().Minute() < 30 {
			must(t)(w.Succeed(runOf(row)))
			return
		}
		must(t)(w.Fail(runOf(row), "Bug", ""))
	})
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x"}))
	backfill(t, w, 50*time.Minute)
	for minute := range 3 {
		tick := guard.TickID(guard.Backfill, schema.MillisOf(testworld.Midnight.Add(time.Duration(minute)*10*time.Minute)))
		w.Store.Store.(*guard.Memory).Delete("cleanup", schema.TickSK(tick))
	}
	must(t)(w.Engine().Resume(t.Context(), "cleanup"))
	finish(t, w, func(row guard.Row) { must(t)(w.Succeed(runOf(row))) })
	if got := backfilled(t, w); got[guard.Succeeded] != 6 || got[guard.Failed] != 3 {
		t.Errorf("%v: want all six run, the three that failed too", got)
	}
}

func TestPassingOverTicksThatSucceededTakesNoSweepEach(t *testing.T) {
	w, _ := tenMinutely(t)
	at := func(n int) guard.Millis {
		return schema.MillisOf(testworld.Midnight.Add(time.Duration(n-1000) * 10 * time.Minute))
	}
	for n := range 500 { // each was tried twice
		for again, outcome := range []guard.Outcome{guard.Failed, guard.Succeeded} {
			tick := guard.AgainID(guard.Backfill, at(n), again)
			must(t)(nil, w.Store.Store.Commit(t.Context(), guard.Commit{Job: "cleanup", Writes: []guard.Write{{
				SK: schema.TickSK(tick), Absent: true,
				Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}, {Name: "at", Value: at(n)}, {Name: "kind", Value: guard.Backfill}, {Name: "outcome", Value: outcome}}},
			}}}))
		}
	}
	reads := w.Store.Reads
	must(t)(nil, w.Engine().CountPassed(t.Context(), w.Guard("cleanup"), &engine.Backfilling{From: at(0), To: at(501)}))
	if n := w.Store.Reads - reads; n != 1 {
		t.Errorf("%d queries to count them, want pages as large as the store's", n)
	}
	_, b, err := w.Engine().Backfill(t.Context(), "cleanup", at(0), at(501))
	if err != nil || b.Planned != 502 || b.Passed != 500 {
		t.Fatalf("%+v, %v: want 500 of 502 ticks passed over", b, err)
	}
	if g := w.Guard("cleanup"); g.Run == nil || g.Run.Tick != guard.TickID(guard.Backfill, at(500)) || g.Backlog.Left != 1 {
		t.Errorf("run %+v, backlog %+v: want the first tick that did not succeed", g.Run, g.Backlog)
	}
}

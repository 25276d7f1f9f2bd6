package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestManualRunIsSeenByPlannedTicksAndEatsNone(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/15 * * * ? *)")
	w.Established(spec, "10:00")
	w.At("10:05:00")
	run := w.Run("cleanup", nil)
	if run.Verdict != guard.Start || !run.Sent || run.Row.Kind != guard.Manual || run.Row.By != "me: because" {
		t.Fatalf("%+v: want the manual run started", run)
	}
	for _, clock := range []string{"10:15", "10:30"} {
		w.At(clock + ":00")
		must(t)(nil, w.Beat(runOf(run.Row)))
		if r := w.Tick(spec, clock); r.Result != "Skipped" || r.Holder.Tick != run.Row.Tick {
			t.Errorf("%s: %+v: want it skipped for the manual run", clock, r)
		}
	}
	w.At("10:35:00")
	must(t)(w.Succeed(runOf(run.Row)))
	w.At("10:45:00")
	if r := w.Tick(spec, "10:45"); !r.Started {
		t.Errorf("%+v: want the next planned tick started", r)
	}
	if row := w.RowOf("cleanup", run.Row.Tick); row.Outcome != guard.Succeeded || row.Interval != 900 {
		t.Errorf("row %+v", row)
	}
}

func TestManualRunThatFindsTheGuardHeldIsRefusedOnTheRecord(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.At("02:00:00")
	held := w.Tick(spec, "02:00")
	w.At("02:00:50")
	r := w.Run("cleanup", nil)
	if r.Row.Outcome != guard.Skipped || r.Row.Holder == nil || r.Row.Holder.Run != held.Run || r.Row.Holder.HeldFor != 50_000 {
		t.Errorf("%+v, holder %+v: want it refused, the holder and its age named", r.Row, r.Row.Holder)
	}
	queue := policy.QueueOne
	w.At("02:00:51")
	if r := w.Run("cleanup", func(d *guard.Delivery) { d.Overlap = &queue }); r.Row.Outcome != guard.Queued {
		t.Errorf("%+v: want the override to let it wait", r.Row)
	}
	must(t)(w.Succeed(held))
	if g := w.Guard("cleanup"); g.Run == nil || g.Run.Tick != "manual-2026-09-07T02:00:51.000Z" {
		t.Errorf("guard %+v: want the manual run next", g)
	}
	var unknown *engine.ErrUnknownJob
	if _, err := w.Engine().Run(t.Context(), "other", "", nil); !errors.As(err, &unknown) {
		t.Errorf("error %v: want the job unknown", err)
	}
}

func TestPausedJobStartsNothingAndResumingStartsNothingByItself(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.QueueOne)
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "upgrade"}))
	w.At("02:01:30")
	must(t)(nil, w.Beat(run)) // the run is left alone
	must(t)(w.Succeed(run))
	if row := w.Row("cleanup", "02:01"); row.Outcome != guard.Skipped || row.Why != "paused: upgrade" {
		t.Errorf("row %+v: want the waiting tick skipped at the hand-over", row)
	}
	w.At("02:02:00")
	if r := w.Tick(spec, "02:02"); r.Result != "Skipped" || r.Why != "paused: upgrade" {
		t.Errorf("%+v", r)
	}
	must(t)(w.Engine().Resume(t.Context(), "cleanup"))
	w.Sweep("cleanup")
	if w.Runs.Started != 1 {
		t.Errorf("%d executions: resuming started one", w.Runs.Started)
	}
	var refused *guard.Refusal
	if _, err := w.Engine().Resume(t.Context(), "cleanup"); !errors.As(err, &refused) {
		t.Errorf("error %v: want a refusal", err)
	}
	w.At("02:03:00")
	if r := w.Tick(spec, "02:03"); !r.Started {
		t.Errorf("%+v: want the next tick started", r)
	}
}

func TestPauseEndsByItself(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.Established(spec, "02:00")
	until := schema.MillisOf(w.Clock.Add(90 * time.Second))
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x", Until: until}))
	w.At("02:01:00")
	if r := w.Tick(spec, "02:01"); r.Result != "Skipped" {
		t.Errorf("%+v", r)
	}
	w.At("02:02:00")
	if r := w.Tick(spec, "02:02"); !r.Started || w.Guard("cleanup").Paused != nil {
		t.Errorf("%+v: want it started and the pause forgotten", r)
	}
}

func TestSweepAsksTheHolderAgainAfterAPauseThatRanOut(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace)
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	until := schema.MillisOf(w.Clock.Add(30 * time.Second))
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "x", Until: until}))
	w.At("02:01:31")
	must(t)(nil, w.Beat(run))
	w.Sweep("cleanup")
	w.At("02:02:01")
	if err := w.Beat(run); err == nil {
		t.Fatal("the run goes on, although a tick waits to replace it and the pause is over")
	}
	w.Runs.End(run.Run, machine.Failed, schema.ErrorStop)
	must(t)(w.Settle(w.StatusEvent(run.Run)))
	wantOutcomes(t, w, []guard.Outcome{guard.Replaced, guard.Running}, "02:00", "02:01")
}

func TestForcedReleaseStopsTheHolderAndTheWaitingTickFollows(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.QueueOne)
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:00:59")
	w.Tick(spec, "02:01")
	g, free, err := w.Engine().Release(t.Context(), "cleanup", "", "me", "stuck")
	if err != nil || !free || g.Run == nil || g.Run.Tick != "2026-09-07T02:01:00Z" {
		t.Fatalf("guard %+v, free %v, %v: want it handed over", g, free, err)
	}
	row := w.Row("cleanup", "02:00")
	x, _ := w.Runs.Execution(run.Run)
	if row.Outcome != guard.Aborted || row.Why != "released by me: stuck" || x.Status != machine.Aborted || g.Fence <= run.Fence {
		t.Errorf("row %+v, execution %+v: want it aborted on the record", row, x)
	}
}

// A release without a name is of the run that it reads first: the guard may be handed over before
// it is marked.
func TestForcedReleaseGoesOnToNoOtherRun(t *testing.T) {
	store := &overtaken{Memory: guard.NewMemory(), sets: []string{"mark"}}
	w, spec := testworld.New(t, store), minutely(policy.QueueOne)
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:00")
	next := w.Tick(spec, "02:01")
	store.other = func() { must(t)(w.Succeed(run)) }
	g, _, err := w.Engine().Release(t.Context(), "cleanup", "", "me", "stuck")
	var refused *guard.Refusal
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), run.Run) || !strings.Contains(err.Error(), g.Run.ID) {
		t.Errorf("error %v: want a refusal that names both runs", err)
	}
	if g := w.Guard("cleanup"); g.Run == nil || g.Run.Tick != next.Tick || g.Mark != nil || w.Runs.Stops != 0 {
		t.Errorf("guard %+v, %d stops: want the next run left alone", g, w.Runs.Stops)
	}
}

func TestForcedReleaseOfAHolderThatGoesOnIsCompletedBySweeps(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.Runs.Deaf = true
	_, free, err := w.Engine().Release(t.Context(), "cleanup", "", "me", "stuck")
	if err != nil || free {
		t.Fatalf("free %v, %v: it still runs", free, err)
	}
	if err := w.Beat(run); err == nil {
		t.Error("a released run renewed its lease")
	}
	w.Runs.Deaf = false
	w.Sweep("cleanup")
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Aborted || w.Guard("cleanup").Run != nil {
		t.Errorf("row %+v", row)
	}
}

func TestForcedReleaseOfARunThatNeverStartedWaitsUntilItCannotStart(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.At("02:00:00")
	w.Runs.FailStart = errors.New("throttled")
	_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z")
	w.Runs.FailStart = nil
	w.At("02:00:20")
	if _, free, err := w.Engine().Release(t.Context(), "cleanup", "", "me", "stuck"); err != nil || free {
		t.Fatalf("free %v, %v: its start may be on its way", free, err)
	}
	w.At("02:00:40")
	w.Sweep("cleanup")
	if r := w.Tick(spec, "02:00"); r.Started || w.Runs.Started != 0 {
		t.Errorf("%+v: a released run was started", r)
	}
	w.At("02:01:30") // startBy and margin
	w.Sweep("cleanup")
	if w.Guard("cleanup").Run == nil {
		t.Error("free before its start had to have arrived")
	}
	w.Clock = w.Clock.Add(time.Millisecond)
	w.Sweep("cleanup")
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Aborted || w.Guard("cleanup").Run != nil {
		t.Errorf("row %+v", row)
	}
}

func TestNothingIsReleasedOfAFreeGuard(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.Established(spec, "02:00")
	var refused *guard.Refusal
	if _, _, err := w.Engine().Release(t.Context(), "cleanup", "", "me", "x"); !errors.As(err, &refused) {
		t.Errorf("error %v: want a refusal", err)
	}
	var unknown *engine.ErrUnknownJob
	if _, _, err := w.Engine().Release(t.Context(), "other", "", "me", "x"); !errors.As(err, &unknown) {
		t.Errorf("error %v: want the job unknown", err)
	}
}

func TestBackfillRunsPastTicksOneByOnePlannedOnesFirst(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	w.Established(spec, "02:00")
	from, to := schema.MillisOf(w.At("01:00:00")), schema.MillisOf(w.At("01:25:00"))
	w.At("02:05:00")
	_, count, err := w.Engine().Backfill(t.Context(), "cleanup", from, to)
	if err != nil || count.Planned != 3 || w.Runs.Started != 2 {
		t.Fatalf("%d ticks, %d executions, %v: want three, the first started", count, w.Runs.Started, err)
	}
	var refused *guard.Refusal
	if _, _, err := w.Engine().Backfill(t.Context(), "cleanup", from, to); !errors.As(err, &refused) {
		t.Errorf("error %v: want one backfill at a time", err)
	}
	first := w.RowOf("cleanup", "backfill-2026-09-07T01:00:00Z")
	must(t)(w.Succeed(runOf(*first)))
	second := w.RowOf("cleanup", "backfill-2026-09-07T01:10:00Z")
	if second == nil || second.Outcome != guard.Running {
		t.Fatalf("row %+v: want the second at the end of the first", second)
	}
	w.At("02:06:00")
	must(t)(w.Fail(runOf(*second), "Boom", "")) // the guard goes to the third
	third := w.RowOf("cleanup", "backfill-2026-09-07T01:20:00Z")
	w.At("02:07:00")
	must(t)(w.Succeed(runOf(*third)))
	if g := w.Guard("cleanup"); g.Backlog != nil || g.Run != nil {
		t.Errorf("guard %+v: want the backfill over", g)
	}
	w.At("02:10:00")
	if r := w.Tick(spec, "02:10"); !r.Started {
		t.Errorf("%+v: a backfill ate a planned tick", r)
	}
}

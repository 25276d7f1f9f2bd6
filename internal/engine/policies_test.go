package engine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func minutely(o policy.Overlap, changes ...func(*schema.Spec)) schema.Spec {
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = o, 30
	for _, change := range changes {
		change(&spec)
	}
	return spec
}

// must wants no error of an end or a beat.
func must(t *testing.T) func(any, error) any {
	return func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func outcomes(w *testworld.World, clocks ...string) (got []guard.Outcome) {
	for _, clock := range clocks {
		got = append(got, w.Row("cleanup", clock).Outcome)
	}
	return got
}

func wantOutcomes(t *testing.T, w *testworld.World, want []guard.Outcome, clocks ...string) {
	t.Helper()
	if diff := cmp.Diff(want, outcomes(w, clocks...)); diff != "" {
		t.Errorf("outcomes of %v (-want +got):\n%s", clocks, diff)
	}
}

func TestNewestQueuedTickRunsNextWithItsOwnInstant(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.QueueOne)
	w.At("14:28:00")
	run := w.Tick(spec, "14:28")
	for _, clock := range []string{"14:29", "14:30", "14:31"} {
		w.At(clock + ":00")
		if r := w.Tick(spec, clock); r.Result != "Queued" {
			t.Fatalf("%s: %+v", clock, r)
		}
		must(t)(nil, w.Beat(run))
	}
	w.At("14:31:30")
	must(t)(w.Succeed(run))
	wantOutcomes(t, w, []guard.Outcome{guard.Succeeded, guard.Coalesced, guard.Coalesced, guard.Running}, "14:28", "14:29", "14:30", "14:31")
	row := w.Row("cleanup", "14:31")
	x, there := w.Runs.Execution(row.Run)
	if !there || row.Tick != "2026-09-07T14:31:00Z" || row.Delay != 30_000 || w.Runs.Running() != 2 {
		t.Errorf("row %+v, execution %+v: want the newest tick started by the end of the other", row, x)
	}
	if why := w.Row("cleanup", "14:29").Why; why != guard.WhyNewer+": 2026-09-07T14:30:00Z" {
		t.Errorf("why %q: want the tick named that stands for it", why)
	}
}

func TestFirstQueuedTickKeepsItsPlace(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.QueueOne, func(s *schema.Spec) { s.KeepFirst = true })
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.At("02:01:50")
	w.Tick(spec, "02:02")
	must(t)(w.Succeed(run))
	wantOutcomes(t, w, []guard.Outcome{guard.Running, guard.Coalesced}, "02:01", "02:02")
}

func TestQueuedTickExpiresAtItsDeadlineHoweverOftenItIsTried(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.QueueOne, func(s *schema.Spec) { s.StartDeadlineSeconds = 60 })
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:10")
	w.Tick(spec, "02:01")
	w.At("02:02:01")
	must(t)(w.Succeed(run))
	wantOutcomes(t, w, []guard.Outcome{guard.Succeeded, guard.Expired}, "02:00", "02:01")
	if g := w.Guard("cleanup"); g.Run != nil || g.Waiting != nil || w.Runs.Started != 1 {
		t.Errorf("guard %+v after %d starts", g, w.Runs.Started)
	}
}

// The end of one run is no failure because the next cannot be started; the sentinel starts it,
// and nobody does once it has been given up.
func TestHandedOverRunIsStartedBySweepsInTimeOrNever(t *testing.T) {
	for name, c := range map[string]struct {
		recovers string
		want     guard.Outcome
	}{
		"passing": {"02:01:50", guard.Running},
		"lasting": {"02:04:00", guard.Abandoned},
	} {
		w, spec := testworld.New(t, nil), minutely(policy.QueueOne)
		w.At("02:00:00")
		run := w.Tick(spec, "02:00")
		w.At("02:01:00")
		w.Tick(spec, "02:01")
		w.Runs.FailStart = errors.New("throttled")
		w.At("02:01:20")
		must(t)(w.Succeed(run))
		w.At("02:01:36")
		w.Sweep("cleanup")
		w.At(c.recovers)
		w.Runs.FailStart = nil
		w.Sweep("cleanup")
		started := 2
		if c.want == guard.Abandoned {
			started = 1
		}
		if row := w.Row("cleanup", "02:01"); row.Outcome != c.want || w.Runs.Started != started {
			t.Errorf("%s: row %+v, %d executions: want %s", name, row, w.Runs.Started, c.want)
		}
	}
}

func TestReplacedRunEndsInItsGraceTimeAndTheNewestTakesItsPlace(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace)
	w.At("02:00:00")
	old := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.At("02:01:29")
	must(t)(nil, w.Beat(old)) // it may go on until the grace time is over
	w.At("02:01:30")
	if err := w.Beat(old); err == nil {
		t.Error("a beat after the grace time went through")
	}
	must(t)(w.Fail(old, schema.ErrorStop, ""))
	wantOutcomes(t, w, []guard.Outcome{guard.Replaced, guard.Running}, "02:00", "02:01")
	if next := w.Row("cleanup", "02:01"); next.Fence <= old.Fence || w.Runs.Stops != 0 {
		t.Errorf("row %+v after %d stops: want a new fence, and nobody stopped", next, w.Runs.Stops)
	}
	if w.Lines(`"Failed":1`) != 0 || w.Lines(`"Succeeded":1`) != 0 {
		t.Error("a replaced run counts as neither failed nor succeeded")
	}
}

func TestRunThatDoesNotHeedIsStoppedForOneWaitingTick(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace)
	w.At("02:00:00")
	old := w.Tick(spec, "02:00")
	w.At("02:00:30")
	must(t)(nil, w.Beat(old))
	for _, clock := range []string{"02:01", "02:02"} {
		w.At(clock + ":00")
		w.Tick(spec, clock)
		w.Sweep("cleanup")
	}
	if w.Runs.Stops != 0 {
		t.Fatalf("%d stops in its grace time and a beat's", w.Runs.Stops)
	}
	w.At("02:02:11") // grace, a beat and the margin are over
	w.Sweep("cleanup")
	x, _ := w.Runs.Execution(old.Run)
	if x.Status != machine.Aborted || w.Runs.Stops != 1 {
		t.Errorf("execution %+v after %d stops: want the holder's, once", x, w.Runs.Stops)
	}
	wantOutcomes(t, w, []guard.Outcome{guard.Replaced, guard.Coalesced, guard.Running}, "02:00", "02:01", "02:02")
}

func TestReplacedWorkIsAwaitedUntilItCanNoLongerGoOn(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace, func(s *schema.Spec) { s.DrainSeconds = 60 })
	w.At("02:00:00")
	old := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.At("02:01:30")
	must(t)(w.Fail(old, schema.ErrorStop, ""))
	w.At("02:02:40")
	w.Sweep("cleanup")
	wantOutcomes(t, w, []guard.Outcome{guard.Replaced, guard.Queued}, "02:00", "02:01")
	w.At("02:02:41")
	w.Sweep("cleanup")
	wantOutcomes(t, w, []guard.Outcome{guard.Running}, "02:01")
	if w.Runs.Started != 2 {
		t.Errorf("%d executions", w.Runs.Started)
	}
}

func TestDeniedStopLeavesTheOldRunInItsPlace(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace)
	w.At("02:00:00")
	old := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.Runs.FailStop = errors.New("AccessDeniedException")
	for _, clock := range []string{"02:02:30", "02:10:00"} {
		w.At(clock)
		w.Sweep("cleanup")
	}
	wantOutcomes(t, w, []guard.Outcome{guard.Running, guard.Queued}, "02:00", "02:01")
	if g := w.Guard("cleanup"); g.Run.ID != old.Run || w.Runs.Started != 1 {
		t.Errorf("guard %+v, %d executions: want the old run in its place", g, w.Runs.Started)
	}
	denied := 0
	for _, told := range w.Told {
		if told.What == "stop denied" && told.Row.Run == old.Run {
			denied++
		}
	}
	if denied != 2 {
		t.Errorf("%d denied stops told, want one a sweep", denied)
	}
}

func TestRunThatCannotBeStoppedIsReplacedOnlyIfItsWritesAreFenced(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		w, spec := testworld.New(t, nil), minutely(policy.Replace, func(s *schema.Spec) { s.Fenced = fenced })
		w.At("02:00:00")
		old := w.Tick(spec, "02:00")
		w.At("02:01:00")
		w.Tick(spec, "02:01")
		w.Runs.Deaf = true
		w.At("02:02:12") // the lease is out
		w.Sweep("cleanup")
		g := w.Guard("cleanup")
		if replaced := g.Run.ID != old.Run; replaced != fenced || w.Runs.Stops != 1 {
			t.Errorf("fenced %v: replaced %v after %d stops", fenced, replaced, w.Runs.Stops)
		}
		if err := w.Beat(old); err == nil {
			t.Errorf("fenced %v: the old run renewed its lease", fenced)
		}
		if !fenced {
			continue
		}
		wantOutcomes(t, w, []guard.Outcome{guard.LeaseLost, guard.Running}, "02:00", "02:01")
		if late := must(t)(w.Succeed(old)); w.Row("cleanup", "02:00").Outcome != guard.LeaseLost || w.Guard("cleanup").Version != g.Version {
			t.Errorf("%+v: the old run's late end changed something", late)
		}
	}
}

func TestLateAndNewTickThatComeTogetherStartOneRun(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/15 * * * ? *)")
	w.Established(spec, "01:45")
	w.At("02:15:00")
	both := []dispatch.Reply{w.Tick(spec, "02:15"), w.Tick(spec, "02:00")}
	if !both[0].Started || both[1].Result != "Skipped" && both[1].Result != "Duplicate" || w.Runs.Started != 2 {
		t.Errorf("%+v: want exactly one to run", both)
	}
}

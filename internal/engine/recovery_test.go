package engine_test

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func triedAgain(s *schema.Spec) { s.Retries, s.RetrySeconds = 1, 3600 }

// runOf is the run that a row names, as its own states know it.
func runOf(row guard.Row) dispatch.Reply {
	return dispatch.Reply{Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence}
}

func TestLostRunIsTriedAgainUnderANewNameAndFence(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip, triedAgain)
	w.At("02:00:00")
	first := w.Tick(spec, "02:00")
	w.At("02:02:11")
	w.Sweep("cleanup") // it never beat: stopped and tried again
	row := w.Row("cleanup", "02:00")
	x, there := w.Runs.Execution(row.Run)
	if row.Outcome != guard.Running || row.Attempt != 2 || row.Run == first.Run || row.Fence <= first.Fence || !there || x.Status != machine.Running {
		t.Fatalf("row %+v, execution %+v: want the second attempt running", row, x)
	}
	if len(w.Told) != 1 || w.Told[0].What != "lost" || w.Told[0].Row.Run != first.Run {
		t.Errorf("told %+v: want the lost attempt, once", w.Told)
	}
	if err := w.Beat(first); err == nil {
		t.Error("the first attempt renewed its lease")
	}
	if late := must(t)(w.Succeed(first)); w.Row("cleanup", "02:00").Outcome != guard.Running {
		t.Errorf("%+v: the first attempt's late end settled the second", late)
	}
	w.At("02:02:40")
	must(t)(nil, w.Beat(runOf(row)))
	w.At("02:03:00")
	must(t)(w.Succeed(runOf(row)))
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Succeeded || row.Attempt != 2 {
		t.Errorf("row %+v", row)
	}
}

func TestRetryIsStartedOnlyWhenTheLostWorkIsOver(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip, triedAgain, func(s *schema.Spec) { s.DrainSeconds = 60 })
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	w.At("02:02:11")
	w.Sweep("cleanup")
	if w.Runs.Started != 1 {
		t.Fatalf("%d executions: the lost work may be going on", w.Runs.Started)
	}
	for _, c := range []struct {
		clock   string
		started int
	}{{"02:03:20", 1}, {"02:03:21", 2}, {"02:03:40", 2}} {
		w.At(c.clock)
		w.Sweep("cleanup")
		if w.Runs.Started != c.started {
			t.Errorf("%s: %d executions, want %d", c.clock, w.Runs.Started, c.started)
		}
	}
}

func TestRunThatDiedWithoutARetryFreesItsJobBySweeps(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.At("10:00:10")
	run := w.Tick(spec, "10:00")
	w.Runs.End(run.Run, machine.Failed, "States.Runtime") // and no event tells
	w.At("10:01:00")
	if skip := w.Tick(spec, "10:01"); skip.Result != "Skipped" || skip.Holder.Run != run.Run || skip.Holder.Until == 0 {
		t.Errorf("%+v: want the holder and its lease named", skip)
	}
	w.At("10:02:20")
	w.Sweep("cleanup")
	if w.Guard("cleanup").Run == nil {
		t.Error("freed before the margin was over")
	}
	w.At("10:02:21")
	w.Sweep("cleanup")
	if row := w.Row("cleanup", "10:00"); row.Outcome != guard.Failed || row.Error != "States.Runtime" || w.Guard("cleanup").Run != nil {
		t.Errorf("row %+v: want the run's true end", row)
	}
	if r := w.Tick(spec, "10:02"); !r.Started {
		t.Errorf("%+v: want the job going on", r)
	}
}

func TestClaimWhoseStarterDiedIsStartedByTheSweep(t *testing.T) {
	for _, c := range []struct {
		clock   string
		started int
	}{
		{"02:00:14", 0}, // its sender may be at it
		{"02:00:15", 1},
		{"02:01:04", 1}, // the sweep's own time ends before startBy
		{"02:01:05", 0},
		{"02:01:31", 0},
	} {
		w, spec := testworld.New(t, nil), minutely(policy.Skip)
		w.At("02:00:00")
		w.Runs.FailStart = machine.ErrNotFound // whatever: it is gone with its process
		_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z")
		w.Runs.FailStart = nil
		w.At(c.clock)
		w.Sweep("cleanup")
		if w.Runs.Started != c.started {
			t.Errorf("swept at %s: %d executions, want %d", c.clock, w.Runs.Started, c.started)
		}
	}
}

func TestDeletedGuardCostsAPauseAndItsRunNeverAnOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		ends machine.Status
		want guard.Outcome
	}{
		"it runs":      {"", guard.LeaseLost},
		"it succeeded": {machine.Succeeded, guard.Succeeded},
	} {
		store := guard.NewMemory()
		w, spec := testworld.New(t, store), minutely(policy.Skip)
		w.At("02:00:00")
		run := w.Tick(spec, "02:00")
		store.Delete("cleanup", schema.GuardSK)
		w.At("02:01:00")
		if r := w.Tick(spec, "02:01"); r.Result != "Skipped" || r.Why != guard.WhyBlocked {
			t.Fatalf("%s: %+v: want it skipped, blocked", name, r)
		}
		if r := w.Tick(spec, "02:00"); r.Result != "Duplicate" {
			t.Errorf("%s: %+v: want the open tick a duplicate", name, r)
		}
		if err := w.Beat(run); err == nil {
			t.Errorf("%s: the run renewed a lease on a guard that is not its own", name)
		}
		if c.ends != "" {
			w.Runs.End(run.Run, c.ends, "")
		}
		w.At("02:03:10") // the longest lease and the margin, from 02:01
		w.Sweep("cleanup")
		if w.Guard("cleanup").Ready {
			t.Errorf("%s: ready while the lost run may be trusted", name)
		}
		w.At("02:03:11")
		w.Sweep("cleanup")
		if row := w.Row("cleanup", "02:00"); row.Outcome != c.want || w.Runs.Running() != 0 || !w.Guard("cleanup").Ready {
			t.Errorf("%s: row %+v, %d running: want it closed and the guard ready", name, row, w.Runs.Running())
		}
		w.At("02:04:00")
		if r := w.Tick(spec, "02:04"); !r.Started || r.Fence <= run.Fence {
			t.Errorf("%s: %+v: want the job going on under a higher fence", name, r)
		}
	}
}

func TestLostRunThatCannotBeStoppedKeepsTheGuardBlocked(t *testing.T) {
	store := guard.NewMemory()
	w, spec := testworld.New(t, store), minutely(policy.Skip)
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	store.Delete("cleanup", schema.GuardSK)
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.Runs.FailStop = machine.ErrPermanent
	w.At("02:10:00")
	w.Sweep("cleanup")
	if r := w.Tick(spec, "02:10"); r.Why != guard.WhyBlocked || w.Runs.Started != 1 {
		t.Errorf("%+v, %d executions: want it blocked while the old run goes on", r, w.Runs.Started)
	}
}

func TestSharedRunsThatEndedUnseenAreSettledBySweeps(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Allow, func(s *schema.Spec) { s.Beats = false })
	w.At("02:00:00")
	ended := w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01") // goes on
	w.At("02:02:00")
	w.Runs.FailStart = machine.ErrNotFound
	_, _ = w.Deliver(spec, "2026-09-07T02:02:00Z") // never starts
	w.Runs.End(ended.Run, machine.TimedOut, "")
	w.At("02:03:25")
	w.Sweep("cleanup")
	wantOutcomes(t, w, []guard.Outcome{guard.TimedOut, guard.Running, guard.Running}, "02:00", "02:01", "02:02")
	w.At("02:03:26") // start allowance and margin are over
	w.Sweep("cleanup")
	wantOutcomes(t, w, []guard.Outcome{guard.TimedOut, guard.Running, guard.Abandoned}, "02:00", "02:01", "02:02")
	if g := w.Guard("cleanup"); g.Live != 1 {
		t.Errorf("live %d, want 1", g.Live)
	}
}

func TestSharedRunIsSettledAlthoughNobodySweptForDays(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Allow)
	spec.Beats, spec.RenewalSeconds = false, 0
	w.Established(spec, "01:59")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.Runs.End(run.Run, machine.Succeeded, "") // what it said of it was lost
	w.Clock = w.Clock.Add(6 * 24 * time.Hour)
	for range 3 {
		w.Clock = w.Clock.Add(time.Minute)
		w.Sweep("cleanup")
	}
	if row := w.RowOf("cleanup", "2026-09-07T02:00:00Z"); row.Outcome != guard.Succeeded || w.Guard("cleanup").Live != 0 {
		t.Errorf("row %s, %d live: want Succeeded and none", row.Outcome, w.Guard("cleanup").Live)
	}
}

package sentinel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// What an outsider found.

// stalling does something else once, inside the next reading of a row.
type stalling struct {
	guard.Store
	do func()
}

func (s *stalling) Row(ctx context.Context, job, tick string) (*guard.Row, error) {
	row, err := s.Store.Row(ctx, job, tick)
	if do := s.do; do != nil && job[0] != '#' {
		s.do = nil
		do()
	}
	return row, err
}

func TestSweepThatStalledSendsNoStartPastItsOwnDeadline(t *testing.T) {
	store := &stalling{Store: guard.NewMemory()}
	spec := testworld.Minutely("cleanup")
	spec.Beats = false
	r := newRigOver(t, store, deploy(spec))
	r.Established(spec, "01:59")
	r.At("02:00:00")
	r.Runs.FailStart = errors.New("the process dies here")
	_, _ = r.Deliver(spec, "2026-09-07T02:00:00Z")
	r.Runs.FailStart = nil
	started := r.Runs.Started
	r.At("02:00:58")
	store.do = func() { // half a minute passes; meanwhile the run is given up and another begins
		r.At("02:01:05")
		_, _, _ = r.Engine().Release(t.Context(), "cleanup", "", "me", "stuck")
		r.At("02:01:28")
		r.Sweep("cleanup")
		if next := r.Tick(spec, "02:01"); !next.Started {
			t.Errorf("%+v: want the next tick started", next)
		}
	}
	_, _ = r.h.Handle(t.Context(), nil)
	if n := r.Runs.Started - started; n != 1 {
		t.Errorf("%d executions, want 1: the sweep's own start came too late", n)
	}
}

func TestLateTickOfAnOlderSpecDoesNotPutItBack(t *testing.T) {
	before, after := testworld.Minutely("report"), testworld.Spec("report", "cron(0 0 * * ? *)")
	d := deploy(before)
	r := newRig(t, d)
	r.Established(before, "01:01")
	d.specs[schema.ScheduleName(testworld.Scheduler, "report")], d.modified = after, r.At("01:02:05")
	r.sweep("01:02:30")
	r.At("01:03:00")
	if late := r.Tick(before, "01:02"); !late.Started {
		t.Errorf("%+v: want the tick itself run", late)
	}
	if g := r.Guard("report"); g.Spec.Schedule != after.Schedule {
		t.Errorf("schedule %q: want the deployed one", g.Spec.Schedule)
	}
}

func TestRunOfPolicyAllowWhoseRowWasDeletedDoesNotCountForEver(t *testing.T) {
	store := guard.NewMemory()
	spec := testworld.Minutely("probe")
	spec.Overlap, spec.Beats = policy.Allow, false
	r := newRigOver(t, store, deploy(spec))
	r.sweep("01:00:30")
	r.At("01:01:01")
	run := r.Tick(spec, "01:01")
	store.Delete("probe", schema.TickSK(run.Tick))
	r.At("01:01:30")
	if _, err := r.Succeed(run); err != nil {
		t.Fatal(err)
	}
	r.Clock = r.Clock.Add(30 * time.Hour)
	if _, err := r.h.Handle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if g := r.Guard("probe"); g.Live != 0 {
		t.Errorf("live %d, want 0", g.Live)
	}
}

// slowRuns takes its time to describe a run.
type slowRuns struct {
	*testworld.Runs
	w *testworld.World
}

func (s slowRuns) Describe(ctx context.Context, arn string) (machine.Execution, error) {
	s.w.Clock = s.w.Clock.Add(700 * time.Millisecond)
	return s.Runs.Describe(ctx, arn)
}

func TestSweepTakesUpNoGuardPastItsTime(t *testing.T) {
	r := newRig(t, deploy())
	r.h.Schedules = &deployed{fail: errors.New("not asked here")}
	for i := range 150 {
		r.At("02:00:00")
		r.Runs.End(r.Tick(testworld.Minutely(fmt.Sprintf("job%03d", i)), "02:00").Run, machine.Succeeded, "")
	}
	r.h.Machines = slowRuns{r.Runs, r.World}
	total, sweeps := 0, 0
	for done := false; !done; sweeps++ {
		began := r.At("02:10:00")
		reply, _ := r.h.Handle(t.Context(), nil)
		total += reply.(sentinel.Reply).Guards
		done = reply.(sentinel.Reply).Complete
		if took := r.Clock.Sub(began); took >= schema.SentinelTimeout {
			t.Errorf("a sweep took %v of %v", took, schema.SentinelTimeout)
		}
	}
	if total != 150 || sweeps < 2 {
		t.Errorf("%d guards in %d sweeps, want 150 in more than one", total, sweeps)
	}
}

func TestExpiredHolderComesBeforeTheHealthyGuardsOfItsPage(t *testing.T) {
	r := newRig(t, deploy())
	r.h.Schedules = &deployed{fail: errors.New("not asked here")}
	r.At("02:00:00")
	for _, job := range []string{"a", "b"} {
		run := r.Tick(testworld.Minutely(job), "02:00")
		if _, err := r.Succeed(run); err != nil {
			t.Fatal(err)
		}
	}
	stuck := r.Tick(testworld.Minutely("z"), "02:00")
	r.Runs.End(stuck.Run, machine.Aborted, "")
	r.h.Machines = slowRuns{r.Runs, r.World} // one look takes the sweep's time
	r.At("02:30:00")
	r.h.Now = func() time.Time {
		if g := r.Guard("z"); g.Run == nil {
			return r.Now().Add(schema.SentinelTimeout)
		}
		return r.Now()
	}
	reply, _ := r.h.Handle(t.Context(), nil)
	if got := reply.(sentinel.Reply); got.Guards != 1 || r.Guard("z").Run != nil {
		t.Errorf("reply %+v, guard of z %+v: want z's guard alone seen to", got, r.Guard("z"))
	}
}

// disabledOnes lists schedules as disabled.
type disabledOnes struct{ *deployed }

func (d disabledOnes) List(ctx context.Context) ([]sentinel.Schedule, error) {
	list, err := d.deployed.List(ctx)
	for i := range list {
		list[i].Disabled = true
	}
	return list, err
}

func TestDisabledJobCanBeRunByHandAndMissesNothing(t *testing.T) {
	r := newRig(t, deploy())
	d := deploy(testworld.Minutely("cleanup"))
	r.h.Schedules = disabledOnes{d}
	r.sweep("01:00:00")
	r.sweep("02:00:00")
	version := r.Guard("cleanup").Version
	r.sweep("03:00:00")
	if g := r.Guard("cleanup"); g.LastGap != nil || g.SpecHash != "" || g.Version != version {
		t.Errorf("guard %+v: want nothing expected, and nothing written by every sweep", g)
	}
	if res, err := r.Engine().Run(t.Context(), "cleanup", "me", nil); err != nil || !res.Sent {
		t.Errorf("%+v, %v: want it run", res, err)
	}
}

func TestPauseWithdrawsAStopRequestThatIsNotDue(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 60
	r := newRig(t, deploy(spec))
	r.Established(spec, "01:59")
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	r.At("02:01:00")
	r.Tick(spec, "02:01")
	if _, err := r.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "deploy"}); err != nil {
		t.Fatal(err)
	}
	for _, clock := range []string{"02:01:20", "02:02:20", "02:03:20"} {
		r.At(clock)
		if err := r.Beat(run); err != nil {
			t.Fatalf("beat at %s: %v: nothing would run in its place", clock, err)
		}
	}
}

// hiding is a store in which somebody broke a guard by hand.
type hiding struct {
	guard.Store
	job string
}

func (h hiding) Guards(ctx context.Context, after string, limit int) (guard.GuardPage, error) {
	page, err := h.Store.Guards(ctx, after, limit)
	page.Guards = slices.DeleteFunc(page.Guards, func(g guard.Guard) bool { return g.Job == h.job })
	page.Unreadable = []error{fmt.Errorf("read guard of %q: version is no number", h.job)}
	return page, err
}

func TestGuardThatCannotBeReadStopsNoOtherJobsSweep(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRigOver(t, hiding{guard.NewMemory(), "broken"}, deploy(spec))
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	r.Runs.End(run.Run, machine.Succeeded, "")
	r.At("02:03:00")
	reply, err := r.h.Handle(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v: want the broken guard reported", err)
	}
	if got := reply.(sentinel.Reply); got.Guards != 1 || got.Failed != 1 || !got.Complete {
		t.Errorf("reply %+v: want one guard swept, one that failed, and the round whole", got)
	}
	if g := r.Guard("cleanup"); g.Run != nil {
		t.Errorf("guard %+v: want it swept", g)
	}
}

func TestOlderSpecThatALateTickPutBackIsReplacedByTheDeployedOne(t *testing.T) {
	before, after := testworld.Minutely("report"), testworld.Spec("report", "cron(0 0 * * ? *)")
	d := deploy(before)
	r := newRig(t, d)
	r.Established(before, "01:01")
	d.specs[schema.ScheduleName(testworld.Scheduler, "report")], d.modified = after, r.At("01:02:40")
	r.sweep("01:02:55") // really 01:03:05: its clock is 10 s behind, as may be; the schedule was changed at 01:03:02
	r.At("01:03:10")    // the last tick of the old spec, planned 01:03:00, delivered 10 s late
	if _, err := r.Succeed(r.Tick(before, "01:03")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"01:03:30", "01:10:30", "01:30:30", "02:00:30"} {
		r.sweep(c)
	}
	gaps, _ := r.Store.Store.Gaps(t.Context(), "report", "", ":", 10)
	if g := r.Guard("report"); g.Spec.Schedule != after.Schedule {
		t.Errorf("an hour later: schedule %q, deployed is %q; gaps %v", g.Spec.Schedule, after.Schedule, gaps)
	}
}

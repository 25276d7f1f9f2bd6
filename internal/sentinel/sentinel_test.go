package sentinel_test

import (
	"context"
	"errors"
	"fmt"
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

// deployed is a group of schedules.
type deployed struct {
	specs    map[string]schema.Spec // by schedule name
	modified time.Time
	fetched  []string // names of schedules
	fail     error
}

func deploy(specs ...schema.Spec) *deployed {
	d := &deployed{specs: map[string]schema.Spec{}}
	for _, s := range specs {
		d.specs[schema.ScheduleName(testworld.Scheduler, s.Job)] = s
	}
	return d
}

func (d *deployed) List(context.Context) (list []sentinel.Schedule, err error) {
	for name, s := range d.specs {
		list = append(list, sentinel.Schedule{Name: name, Job: s.Job, Modified: d.modified})
	}
	return list, d.fail
}

func (d *deployed) Spec(_ context.Context, name string) (schema.Spec, error) {
	d.fetched = append(d.fetched, name)
	return d.specs[name], nil
}

type rig struct {
	*testworld.World
	t *testing.T
	h *sentinel.Handler
}

func newRig(t *testing.T, d *deployed) *rig { return newRigOver(t, guard.NewMemory(), d) }

func newRigOver(t *testing.T, store guard.Store, d *deployed) *rig {
	w := testworld.New(t, store)
	n := 0
	return &rig{World: w, t: t, h: &sentinel.Handler{
		Scheduler: testworld.Scheduler, Store: w.Store, Machines: w.Runs, Schedules: d, Now: w.Now, Out: &w.Out,
		NewToken: func() string { n++; return fmt.Sprintf("sweep%d", n) },
	}}
}

func (r *rig) sweep(clock string) {
	r.t.Helper()
	r.At(clock)
	if _, err := r.h.Handle(r.t.Context(), nil); err != nil {
		r.t.Fatalf("sweep at %s: %v", clock, err)
	}
}

func TestDeadHolderFreesItsJobWithinLeaseMarginAndOneSweep(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRig(t, deploy(spec))
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	r.Runs.End(run.Run, machine.Aborted, "")
	r.sweep("02:02:00")
	if g := r.Guard("cleanup"); g.Run == nil {
		t.Fatal("taken over before lease and margin were out")
	}
	r.sweep("02:02:11")
	if g := r.Guard("cleanup"); g.Run != nil {
		t.Errorf("guard %+v: want it free", g)
	}
	if row := r.Row("cleanup", "02:00"); row.Outcome != guard.Aborted {
		t.Errorf("row %+v: want its true outcome", row)
	}
}

func TestRunThatNobodyStartedIsStartedByTheSweep(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRig(t, deploy(spec))
	r.At("02:00:00")
	r.Runs.FailStart = errors.New("the dispatcher dies here")
	_, _ = r.Deliver(spec, "2026-09-07T02:00:00Z")
	r.Runs.FailStart = nil
	r.sweep("02:01:00")
	r.sweep("02:01:01")
	if r.Runs.Started != 1 {
		t.Errorf("%d executions, want 1", r.Runs.Started)
	}
}

func TestWaitingTickIsStartedOnceTheDrainIsOver(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.DrainSeconds = policy.QueueOne, 60
	r := newRig(t, deploy(spec))
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	r.At("02:01:00")
	if q := r.Tick(spec, "02:01"); q.Result != "Queued" {
		t.Fatalf("%+v: want it to wait", q)
	}
	r.At("02:01:10")
	if _, err := r.Fail(run, "States.Timeout", ""); err != nil {
		t.Fatal(err)
	}
	r.sweep("02:02:00")
	if r.Runs.Started != 1 {
		t.Fatal("started while the old work may still be going on")
	}
	r.sweep("02:02:30")
	if row := r.Row("cleanup", "02:01"); r.Runs.Started != 2 || row.Outcome != guard.Running {
		t.Errorf("%d executions, row %+v: want the waiting tick running", r.Runs.Started, row)
	}
}

func TestTicksThatNeverCameAreMissedOnceTheirTimeIsOver(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRig(t, deploy(spec))
	r.Established(spec, "02:00")
	for _, clock := range []string{"02:19:30", "02:21:30", "03:00:30", "04:20:30"} {
		r.sweep(clock)
	}
	gaps, err := r.Store.Gaps(t.Context(), "cleanup", "2026", "2027", 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, gap := range gaps {
		count += gap.Count
	}
	if len(gaps) != 1 || count != 120 || r.Guard("cleanup").LastTick != schema.MillisOf(testworld.Midnight.Add(4*time.Hour)) {
		t.Errorf("%d missed in %d gaps up to %v: want 120 in one, up to 04:00", count, len(gaps), r.Guard("cleanup").LastTick)
	}
	r.At("04:20:40")
	if late := r.Tick(spec, "03:59"); late.Result != "Duplicate" {
		t.Errorf("%+v: a tick inside a gap was decided", late)
	}
}

func TestJobThatNeverFiredIsMissedFromItsDeploymentOn(t *testing.T) {
	spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
	r := newRig(t, deploy(spec))
	r.sweep("02:30:00")
	r.sweep("03:10:00")
	r.sweep("03:20:01")
	gaps, _ := r.Store.Gaps(t.Context(), "hourly", "2026", "2027", 0)
	if len(gaps) != 1 || gaps[0].Count != 1 || gaps[0].To != schema.MillisOf(testworld.Midnight.Add(3*time.Hour)) {
		t.Errorf("gaps %+v: want 03:00 alone, nothing from before the deployment", gaps)
	}
}

func TestEditedScheduleMakesNothingRetroactive(t *testing.T) {
	night := testworld.Spec("mail", "cron(0 23 * * ? *)")
	d := deploy(night)
	r := newRig(t, d)
	r.sweep("01:00:00")
	morning := testworld.Spec("mail", "cron(0 5 * * ? *)")
	d.specs[schema.ScheduleName(testworld.Scheduler, "mail")] = morning
	d.modified = r.At("12:00:00")
	for _, clock := range []string{"12:01:00", "15:00:00", "23:30:00"} {
		r.sweep(clock)
	}
	gaps, _ := r.Store.Gaps(t.Context(), "mail", "2026", "2027", 0)
	if len(gaps) != 0 || r.Runs.Starts != 0 {
		t.Errorf("gaps %+v, %d starts: want neither 05:00 of today nor 23:00 missed or run", gaps, r.Runs.Starts)
	}
}

func TestRemovedJobIsExpectedOfNothingUntilItIsAddedAgain(t *testing.T) {
	spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
	d := deploy(spec)
	r := newRig(t, d)
	r.Established(spec, "02:00")
	r.sweep("02:10:00")
	clear(d.specs)
	r.sweep("02:30:00")
	r.sweep("09:30:00")
	d.specs[schema.ScheduleName(testworld.Scheduler, "hourly")], d.modified = spec, r.At("10:15:00")
	r.sweep("10:16:00")
	r.sweep("10:59:00")
	gaps, _ := r.Store.Gaps(t.Context(), "hourly", "2026", "2027", 0)
	if len(gaps) != 0 {
		t.Errorf("gaps %+v: want none while the job was away", gaps)
	}
	before := r.Guard("hourly").Fence
	r.At("11:00:00")
	if run := r.Tick(spec, "11:00"); !run.Started || run.Fence <= before {
		t.Errorf("%+v: want it started with a fence above %d", run, before)
	}
}

func TestSchedulesThatCannotBeListedDoNotStopTheSweep(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	d := deploy(spec)
	r := newRig(t, d)
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	r.Runs.End(run.Run, machine.Succeeded, "")
	d.fail = errors.New("AccessDenied")
	r.At("02:03:00")
	if _, err := r.h.Handle(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("error %v: want the refusal reported", err)
	}
	if g := r.Guard("cleanup"); g.Run != nil || g.SpecHash == "" {
		t.Errorf("guard %+v: want it swept, and its job not taken for removed", g)
	}
}

func TestSweepThatRunsOutOfTimeGoesOnWhereItEnded(t *testing.T) {
	r := newRig(t, deploy())
	r.h.Schedules = &deployed{fail: errors.New("not asked here")}
	for i := range 250 {
		spec := testworld.Minutely(fmt.Sprintf("job%03d", i))
		r.At("02:00:00")
		r.Runs.End(r.Tick(spec, "02:00").Run, machine.Succeeded, "")
	}
	r.At("02:10:00")
	slow := r.Now
	calls := 0
	r.h.Now = func() time.Time { calls++; return slow().Add(time.Duration(calls) * 100 * time.Millisecond) }
	total, sweeps := 0, 0
	for done := false; !done; sweeps++ {
		reply, _ := r.h.Handle(t.Context(), nil)
		total += reply.(sentinel.Reply).Guards
		done = reply.(sentinel.Reply).Complete
	}
	if total != 250 || sweeps < 2 {
		t.Errorf("%d guards in %d sweeps, want 250 in more than one", total, sweeps)
	}
	for i := range 250 {
		if g := r.Guard(fmt.Sprintf("job%03d", i)); g.Run != nil {
			t.Fatalf("guard of job %d is still held", i)
		}
	}
}

func TestGuardThatSomebodyDeletedIsMadeAnewBeforeItsNextTick(t *testing.T) {
	store := guard.NewMemory()
	spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
	r := newRigOver(t, store, deploy(spec))
	r.sweep("02:10:00")
	store.Delete("hourly", schema.GuardSK)
	r.sweep("02:11:00") // finds it gone
	r.sweep("02:12:00")
	if g := r.Guard("hourly"); g.SpecHash == "" || !g.Ready {
		t.Errorf("guard %+v: want it there and, with no row to look after, ready", g)
	}
}

func TestSweepRepeatedChangesNothing(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRig(t, deploy(spec))
	r.At("02:00:00")
	r.Runs.End(r.Tick(spec, "02:00").Run, machine.Succeeded, "")
	r.sweep("02:05:00")
	before := r.Guard("cleanup")
	lines := r.Lines("\n")
	for range 3 {
		r.sweep("02:05:00")
	}
	if g := r.Guard("cleanup"); g.Version != before.Version || r.Lines("\n") != lines+6 {
		t.Errorf("version %d after %d, lines %d after %d: want nothing but the sweep's line and the job's gauge", g.Version, before.Version, r.Lines("\n"), lines)
	}
}

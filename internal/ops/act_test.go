package ops_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// B04: a run that a person asked for is seen by the overlap rule, and one that is refused
// names the holder and since when.
func TestAManualRunAndPlannedTicksNeverOverlap(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Spec("sync", "cron(0/15 * * * ? *)")
	d.Established(spec, "10:00")
	d.At("10:05:00")
	res := d.run("sync")
	if res.Refused || res.Outcome != guard.Running || d.running() != 1 {
		t.Fatalf("got %+v with %d running", res, d.running())
	}
	beat := func(from, to string) {
		for at := d.At(from + ":00"); !at.After(d.At(to + ":00")); at = at.Add(time.Minute) {
			d.Clock = at
			must(0, d.Beat(reply(res)))
		}
	}
	beat("10:06", "10:15")
	if got := d.Tick(spec, "10:15"); got.Result != "Skipped" {
		t.Errorf("10:15: got %+v", got)
	}
	beat("10:16", "10:30")
	if got := d.Tick(spec, "10:30"); got.Result != "Skipped" || got.Holder.Run != res.Run {
		t.Errorf("10:30: got %+v", got)
	}
	d.At("10:35:00")
	must(d.Succeed(reply(res)))
	d.At("10:45:00")
	run := d.Tick(spec, "10:45")
	if run.Result != "Running" {
		t.Errorf("10:45: got %+v", run)
	}
	d.At("10:46:30")
	refused := d.run("sync")
	want := "job sync was not run: run sync-20260907T104500Z-1 holds the guard since 2026-09-07T10:45:00Z, for 1m30s, " +
		"with a lease until 2026-09-07T10:47:00Z; run it again after its end, or wait for that with --overlap queue-one"
	if !refused.Refused || refused.Message != want {
		t.Errorf("got %s\nwant %s", refused.Message, want)
	}
	if h := refused.Holder; h == nil || h.Run != run.Run || h.HeldForSeconds != 90 {
		t.Errorf("holder: got %+v", h)
	}
}

func TestAManualRunIsOnRecordWithWhoAndWhyAndEatsNoTick(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:30")
	before := d.Guard("cleanup").LastTick
	overlap := policy.QueueOne
	res := must(d.op.Run(t.Context(), ops.RunRequest{Job: "cleanup", By: "alice@laptop", Reason: "after the restore", Overlap: &overlap}))
	e := must(d.op.Tick(t.Context(), "cleanup", res.Tick))
	if want := "asked for by alice@laptop: after the restore; overlap queue-one in the place of skip"; e.By != want || e.Kind != guard.Manual {
		t.Errorf("got %s %q, want %q", e.Kind, e.By, want)
	}
	if got := d.Guard("cleanup").LastTick; got != before {
		t.Errorf("last tick moved from %s to %s", before, got)
	}
}

func TestAManualRunWaitsWhereThePolicySaysSo(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	holder := d.Tick(spec, "02:00")
	d.At("02:00:30")
	overlap := policy.QueueOne
	res := must(d.op.Run(t.Context(), ops.RunRequest{Job: "cleanup", By: "alice@laptop", Overlap: &overlap}))
	want := "manual-2026-09-07T02:00:30.000Z waits for the guard: run cleanup-20260907T020000Z-1 holds the guard since 2026-09-07T02:00:00Z, " +
		"for 30s, with a lease until 2026-09-07T02:02:00Z; it starts when the guard comes free, until 2026-09-07T02:15:30Z at the latest"
	if res.Refused || res.Message != want {
		t.Errorf("got %s\nwant %s", res.Message, want)
	}
	must(d.Succeed(holder))
	if e := must(d.op.Tick(t.Context(), "cleanup", res.Tick)); e.Outcome != guard.Running {
		t.Errorf("after the holder's end: %+v", e)
	}
}

func TestAllowBesideALeaseIsRefused(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	allow := policy.Allow
	_, err := d.op.Run(t.Context(), ops.RunRequest{Job: "cleanup", Overlap: &allow})
	var refused *guard.Refusal
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "overlap allow") {
		t.Errorf("got %v", err)
	}
}

func TestARunThatStepFunctionsRefusesIsNoSuccess(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	d.At("02:00:30")
	d.Runs.FailStart = fmt.Errorf("no such machine: %w", machine.ErrPermanent)
	res := d.run("cleanup")
	if res.Outcome != guard.Failed || !strings.Contains(res.Message, "ended as Failed: Cronfence.StartRefused") {
		t.Errorf("got %+v", res)
	}
	d.At("02:01:30")
	d.Runs.FailStart = errors.New("throttled")
	_, err := d.op.Run(t.Context(), ops.RunRequest{Job: "cleanup"})
	if err == nil || !strings.Contains(err.Error(), "is on record: the sentinel starts it by") {
		t.Errorf("passing error: got %v", err)
	}
}

func TestAPausedJobIsNotRunAndResumeStartsNothing(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	d.At("02:00:30")
	must(d.op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice@laptop", Reason: "index rebuild", For: time.Hour}))
	d.At("02:01:30")
	res := d.run("cleanup")
	want := "job cleanup is paused by alice@laptop at 2026-09-07T02:00:30Z, until 2026-09-07T03:00:30Z: index rebuild; `cronfence resume cleanup` ends the pause"
	if !res.Refused || res.Message != want {
		t.Errorf("got %s\nwant %s", res.Message, want)
	}
	s := must(d.op.Resume(t.Context(), "cleanup"))
	if s.Paused != nil || d.running() != 0 {
		t.Errorf("after resume: paused %+v, %d running", s.Paused, d.running())
	}
	_, err := d.op.Resume(t.Context(), "cleanup")
	var refused *guard.Refusal
	if !errors.As(err, &refused) || err.Error() != "job cleanup is not paused" {
		t.Errorf("second resume: got %v", err)
	}
	d.At("02:02:30")
	must(d.op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice@laptop", Reason: "index rebuild", For: time.Minute}))
	d.At("02:03:31")
	if res := d.run("cleanup"); res.Refused {
		t.Errorf("after the pause's end: got %+v", res)
	}
}

func TestReleaseStopsTheHolderAndHandsOver(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap = policy.QueueOne
	d.Established(spec, "01:59")
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	d.At("02:01:10")
	res := must(d.op.Release(t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "alice@laptop", Reason: "hangs"}))
	want := "run cleanup-20260907T020000Z-1 has ended; the guard of cleanup is held by run cleanup-20260907T020100Z-1"
	if !res.Ended || res.Message != want || d.running() != 1 {
		t.Errorf("got %+v with %d running\nwant %s", res, d.running(), want)
	}
	if row := d.Row("cleanup", "02:00"); row.Outcome != guard.Aborted || row.Why != "released by alice@laptop: hangs" {
		t.Errorf("row: %s %q", row.Outcome, row.Why)
	}
}

// Between what a person was shown and the word, the guard may go to another run.
func TestReleaseStopsTheRunThatThePreviewTold(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap = policy.QueueOne
	d.Established(spec, "01:59")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	release := ops.ReleaseRequest{Job: "cleanup", By: "alice@laptop", Reason: "hangs"}
	release.Run = must(d.op.Preview(t.Context(), ops.Act{Job: "cleanup", Release: &release})).Run
	must(d.Succeed(run))
	_, err := d.op.Release(t.Context(), release)
	want := "run cleanup-20260907T020000Z-1 does not hold the guard of job cleanup: run cleanup-20260907T020100Z-1 does, and is left alone"
	var refused *guard.Refusal
	if !errors.As(err, &refused) || err.Error() != want || d.Guard("cleanup").Mark != nil {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestReleaseOfADeafRunLeavesItMarked(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.Runs.Deaf = true
	res := must(d.op.Release(t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "alice@laptop", Reason: "hangs"}))
	if res.Ended || res.Released != run.Run || res.Status.Holder == nil || res.Status.Holder.Mark == nil {
		t.Errorf("got %+v", res)
	}
}

func TestReleaseOfAFreeOrDrainingGuardIsRefused(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.DrainSeconds = 300
	d.Established(spec, "01:59")
	release := func() error {
		_, err := d.op.Release(t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "alice@laptop", Reason: "hangs"})
		var refused *guard.Refusal
		if !errors.As(err, &refused) {
			t.Errorf("got %v, want a refusal", err)
		}
		return err
	}
	if err := release(); err.Error() != "no run holds the guard of job cleanup: nothing to release" {
		t.Errorf("free: got %v", err)
	}
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.At("02:00:30")
	d.Runs.End(run.Run, machine.Aborted, "")
	must(d.Settle(d.StatusEvent(run.Run)))
	if err := release(); !strings.Contains(err.Error(), "work of its last run may go on until 2026-09-07T02:05:30Z") {
		t.Errorf("draining: got %v", err)
	}
	d.At("02:01:00")
	res := d.run("cleanup")
	if !res.Refused || !strings.Contains(res.Message, "work of run cleanup-20260907T020000Z-1, which ended at 2026-09-07T02:00:30Z, may go on until 2026-09-07T02:05:30Z; run it again then") {
		t.Errorf("run: got %s", res.Message)
	}
}

package ops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func (d *desk) why(job, tick string) string {
	d.t.Helper()
	if !strings.Contains(tick, "T") {
		tick = "2026-09-07T" + tick + "Z"
	}
	x, err := d.op.Why(d.t.Context(), job, tick)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(x.Known) + "\n" + strings.Join(x.Sentences, "\n")
}

func (d *desk) wantWhy(job, tick, want string) {
	d.t.Helper()
	if got := d.why(job, tick); got != strings.TrimSpace(want) {
		d.t.Errorf("why %s %s: got\n%s\nwant\n%s", job, tick, got, strings.TrimSpace(want))
	}
}

func TestWhyTellsARunFromClaimToEnd(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:05")
	run := d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	d.wantWhy("cleanup", "02:00:00", `
recorded
Tick 2026-09-07T02:00:00Z of cleanup is running: run cleanup-20260907T020000Z-1 took the guard at 2026-09-07T02:00:05Z, 5s after its planned instant.
Its lease runs until 2026-09-07T02:02:05Z, and it must end by 2026-09-07T03:01:25Z.`)
	d.wantWhy("cleanup", "02:01:00", `
recorded
Tick 2026-09-07T02:01:00Z of cleanup was skipped at 2026-09-07T02:01:00Z: run cleanup-20260907T020000Z-1 of tick 2026-09-07T02:00:00Z held the guard since 2026-09-07T02:00:05Z, for 55s, with a lease until 2026-09-07T02:02:05Z.
That run still goes on.
A skip is neither a success nor a failure: nothing was started.`)
	d.At("02:01:35")
	must(d.Succeed(run))
	d.wantWhy("cleanup", "02:00:00", `
recorded
Tick 2026-09-07T02:00:00Z of cleanup ended as Succeeded: run cleanup-20260907T020000Z-1 took the guard at 2026-09-07T02:00:05Z, 5s after its planned instant.
It ran from 2026-09-07T02:00:05Z to 2026-09-07T02:01:35Z, 1m30s: 1.50 of its interval of 1m.`)
	if got := d.why("cleanup", "02:01:00"); !strings.Contains(got, "That run ended as Succeeded at 2026-09-07T02:01:35Z, after 1m30s.") {
		t.Errorf("got\n%s", got)
	}
	d.At("02:02:00")
	run = d.Tick(spec, "02:02")
	d.At("02:02:20")
	must(d.Fail(run, "OutOfDisk", `{"errorMessage":"/data is full"}`))
	d.wantWhy("cleanup", "02:02:00", `
recorded
Tick 2026-09-07T02:02:00Z of cleanup ended as Failed: run cleanup-20260907T020200Z-1 took the guard at 2026-09-07T02:02:00Z.
It ran from 2026-09-07T02:02:00Z to 2026-09-07T02:02:20Z, 20s: 0.33 of its interval of 1m.
Its error was OutOfDisk: {"errorMessage":"/data is full"}`)
}

func TestWhyTellsWaitingCoalescedAndReplaced(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 20
	d.Established(spec, "01:59")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	d.wantWhy("cleanup", "02:01:00", `
recorded
Tick 2026-09-07T02:01:00Z of cleanup waits for the guard since 2026-09-07T02:01:00Z.
Run cleanup-20260907T020000Z-1 of tick 2026-09-07T02:00:00Z held the guard since 2026-09-07T02:00:00Z, for 1m, with a lease until 2026-09-07T02:02:00Z.
That run still goes on.
The run that holds the guard is to be replaced: it is asked to stop.
It starts when the guard comes free, until 2026-09-07T02:16:00Z at the latest.`)
	if got := d.why("cleanup", "02:00:00"); !strings.Contains(got, "It was asked at 2026-09-07T02:01:00Z to end by itself until 2026-09-07T02:01:20Z, for tick 2026-09-07T02:01:00Z.") {
		t.Errorf("got\n%s", got)
	}
	d.At("02:01:10")
	must(0, d.Beat(run))
	d.At("02:02:00")
	d.Tick(spec, "02:02")
	d.wantWhy("cleanup", "02:01:00", `
recorded
Tick 2026-09-07T02:01:00Z of cleanup was coalesced at 2026-09-07T02:02:00Z: a newer tick waits: 2026-09-07T02:02:00Z.
Run cleanup-20260907T020000Z-1 of tick 2026-09-07T02:00:00Z held the guard since 2026-09-07T02:00:00Z, for 1m, with a lease until 2026-09-07T02:02:00Z.
That run still goes on.`)
	d.At("02:02:30")
	d.sweep("cleanup")
	d.wantWhy("cleanup", "02:00:00", `
recorded
Tick 2026-09-07T02:00:00Z of cleanup ended as Replaced: run cleanup-20260907T020000Z-1 took the guard at 2026-09-07T02:00:00Z.
It ran from 2026-09-07T02:00:00Z to 2026-09-07T02:02:30Z, 2m30s: 2.50 of its interval of 1m.
Stopped for sentinel.
Its error was Cronfence.Stop: replace: sentinel`)
}

func TestWhyTellsPausedExpiredAndAbandoned(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	must(d.op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice@laptop", Reason: "index rebuild"}))
	d.Tick(spec, "02:00")
	d.wantWhy("cleanup", "02:00:00", `
recorded
Tick 2026-09-07T02:00:00Z of cleanup was skipped at 2026-09-07T02:00:00Z: the job was paused by alice@laptop at 2026-09-07T02:00:00Z, until somebody resumes it: index rebuild.
A skip is neither a success nor a failure: nothing was started.`)
	if got := d.why("cleanup", "02:05:00"); !strings.Contains(got, "It will be skipped unless the job is resumed before") {
		t.Errorf("planned in a pause: got\n%s", got)
	}
	must(d.op.Resume(t.Context(), "cleanup"))
	d.At("02:17:00")
	d.Tick(spec, "02:01")
	d.wantWhy("cleanup", "02:01:00", `
recorded
Tick 2026-09-07T02:01:00Z of cleanup expired: it was delivered at 2026-09-07T02:17:00Z, 16m after its planned instant and past its start deadline.`)
	d.Runs.FailStart = guard.ErrBusy
	if _, err := d.Deliver(spec, "2026-09-07T02:17:00Z"); err == nil {
		t.Fatal("the start did not fail")
	}
	d.At("02:20:00")
	d.sweep("cleanup")
	d.wantWhy("cleanup", "02:17:00", `
recorded
Tick 2026-09-07T02:17:00Z of cleanup was abandoned at 2026-09-07T02:20:00Z: claimed but never started.
Run cleanup-20260907T021700Z-1 took the guard at 2026-09-07T02:17:00Z.
It had to be started by 2026-09-07T02:18:20Z.`)
}

func TestWhyTellsWhatHasNoRow(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Spec("sync", "cron(0/15 * * * ? *)")
	d.Established(spec, "02:00")
	d.At("02:46:00")
	d.sweep("sync")
	for tick, want := range map[string]string{
		"02:15:00": `
missed
Tick 2026-09-07T02:15:00Z of sync never came: nothing was delivered for it before its start deadline and 5m of grace were over.
That was found at 2026-09-07T02:46:00Z.`,
		"02:30:00": `
pending
Tick 2026-09-07T02:30:00Z of sync is planned and was not delivered yet: it may come until 2026-09-07T02:50:00Z, and is missed if it does not.`,
		"03:00:00": `
planned
Tick 2026-09-07T03:00:00Z of sync is planned: it comes in 14m.`,
		"03:01:00": `
unscheduled
sync plans no tick at 2026-09-07T03:01:00Z: its schedule is cron(0/15 * * * ? *) in UTC, with ticks at 2026-09-07T03:00:00Z before and 2026-09-07T03:15:00Z after.`,
		"01:00:00": `
before-record
Tick 2026-09-07T01:00:00Z of sync lies before the record began: this schedule of the job is known since 2026-09-07T02:00:00Z.`,
		"manual-2026-09-07T02:10:00.000Z": `
no-record
The ledger of sync has no manual-2026-09-07T02:10:00.000Z; ` + "`cronfence history sync`" + ` shows what it has.`,
	} {
		d.wantWhy("sync", tick, want)
	}
}

// B27: after a schedule was edited the old hour is not planned any more, and nothing of today is
// missed by the new one.
func TestWhyJudgesAnEditedScheduleFromItsEditOn(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Spec("mail", "cron(0 23 * * ? *)")
	d.Established(spec, "03:00") // a tick of some older schedule
	d.At("12:00:00")
	spec.Schedule = "cron(0 5 * * ? *)"
	must(0, d.op.Engine.Introduce(t.Context(), spec))
	d.sweep("mail")
	if got := d.why("mail", "05:00:00"); !strings.HasPrefix(got, "before-record") {
		t.Errorf("05:00 today: got\n%s", got)
	}
	if got := d.why("mail", "23:00:00"); !strings.HasPrefix(got, "unscheduled") {
		t.Errorf("23:00: got\n%s", got)
	}
	s := must(d.op.Status(t.Context(), "mail"))
	if want := testworld.Midnight.Add(29 * time.Hour); !s.NextTick.Equal(want) || d.running() != 0 {
		t.Errorf("next tick %s: want %s; %d running", s.NextTick, want, d.running())
	}
}

func TestTickIsFoundByTheIDOfItsRun(t *testing.T) {
	for _, job := range []string{"cleanup", "clean-up-2", "manual", "j-20260907T020000Z-1"} {
		for _, tick := range []string{
			"2026-09-07T02:00:00Z", "manual-2026-09-07T02:00:00.123Z", "backfill-2026-09-07T02:00:00Z", "backfill-2026-09-07T02:00:00Z-2", "backfill-2026-09-07T02:00:00Z-13", "catchup-2026-09-07T02:00:00Z",
		} {
			for _, attempt := range []int{1, 12} {
				if got, err := ops.ParseTickOf(job, schema.RunID(job, tick, attempt)); got != tick || err != nil {
					t.Errorf("%s: got %q, %v", schema.RunID(job, tick, attempt), got, err)
				}
			}
			if got, err := ops.ParseTickOf(job, tick); got != tick || err != nil {
				t.Errorf("%s: got %q, %v", tick, got, err)
			}
		}
	}
	for _, run := range []string{
		"", "cleanup-", "mail-20260907T020000Z-1", "cleanup-20260907T020000Z", "cleanup-20260907T020000Z-x", "cleanup-20261307T020000Z-1",
		"cleanup-20260907T020000Z2-1", "cleanup-backfill20260907T020000Z1-1", "cleanup-catchup20260907T020000Z2-1", "cleanup-nightly20260907T020000Z-1", "cleanup-20260907T020000Z-01", "20260907T020000Z-1", "cleanup-7-1",
	} {
		if got, err := ops.ParseTickOf("cleanup", run); err == nil {
			t.Errorf("%q: got %q", run, got)
		}
	}
}

func TestTicksAreReadInAnyZone(t *testing.T) {
	for in, want := range map[string]string{
		"2026-09-07T04:00:00+02:00":       "2026-09-07T02:00:00Z",
		"2026-09-07T02:00:00.5Z":          "2026-09-07T02:00:00Z",
		"manual-2026-09-07T02:00:00.000Z": "manual-2026-09-07T02:00:00.000Z",
		"yesterday":                       "",
		"manual-yesterday":                "",
	} {
		if got, err := ops.ParseTick(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
}

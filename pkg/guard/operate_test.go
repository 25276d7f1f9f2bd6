package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

func TestPauseLeavesTheRunAlone(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	pause := Pause{By: "me", Why: "upgrade", At: b.now}
	b.do(PauseJob(b.guard(), pause, "p"))
	if g := b.guard(); g.Run == nil || g.Run.ID != run.Run || *g.Paused != pause {
		t.Errorf("guard %+v", g)
	}
	b.at(30).settle(b.endOf(run, Succeeded))
	if g := b.guard(); g.Run != nil || g.TTL != 0 {
		t.Errorf("guard %+v: want the end on record, and a paused guard kept for good", g)
	}
}

func TestResumeStartsNothingAndRefusesWhatIsNotPaused(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	_, err := ResumeJob(b.guard(), "r", b.now)
	if got := refusedBy(t, err); got != "job cleanup is not paused" {
		t.Error(got)
	}
	b.do(PauseJob(b.guard(), Pause{Until: t0 + 5}, "p"))
	if _, err := ResumeJob(b.guard(), "r", t0+5); err == nil {
		t.Error("a pause that is over was resumed")
	}
	d, err := ResumeJob(b.guard(), "r", t0+4)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	if g := b.guard(); g.Paused != nil || g.Run != nil || g.TTL == 0 || d.Next != nil {
		t.Errorf("guard %+v", g)
	}
	run := b.started(0)
	b.do(PauseJob(b.guard(), Pause{}, "p"))
	d, _ = ResumeJob(b.guard(), "r", t0)
	if b.do(d); b.guard().TTL != 0 || b.guard().Run.ID != run.Run {
		t.Error("a held guard's TTL was set")
	}
}

func TestForcedReleaseMarksTheHolderAndRaisesNoFence(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	_, err := ReleaseJob(b.guard(), "", "me", "stuck", "r", b.now)
	if got := refusedBy(t, err); !strings.Contains(got, "no run holds the guard") {
		t.Error(got)
	}
	run := b.started(0)
	d, err := ReleaseJob(b.guard(), "", "me", "stuck", "r", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	g := b.guard()
	if g.Fence != run.Fence || g.Run == nil || *g.Mark != (Mark{Why: MarkRelease, By: "me: stuck", At: b.now}) || !HolderDue(g, b.now) {
		t.Errorf("guard %+v, mark %+v: want the holder marked and nothing else", g, g.Mark)
	}
	if got := b.renewed(beatOf(run)); got != LostLease {
		t.Errorf("beat of a released run: %v", got)
	}
}

func TestReleaseOfARunLeavesAnotherAlone(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	_, err := ReleaseJob(b.guard(), "other-1", "me", "stuck", "r", b.now)
	if got := refusedBy(t, err); got != "run other-1 does not hold the guard of job cleanup, and no other does: nothing to release" {
		t.Error(got)
	}
	run := b.started(0)
	_, err = ReleaseJob(b.guard(), "other-1", "me", "stuck", "r", b.now)
	if got := refusedBy(t, err); got != "run other-1 does not hold the guard of job cleanup: run "+run.Run+" does, and is left alone" {
		t.Error(got)
	}
	if d, err := ReleaseJob(b.guard(), run.Run, "me", "stuck", "r", b.now); err != nil || d.Guard.Mark == nil {
		t.Errorf("%+v, %v: want the run marked that is meant", d.Guard, err)
	}
}

func TestBackfillIsOneAtATimeAndNotOfNothing(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	_, err := BackfillJob(b.guard(), t0, t0, 0, 0, "x", b.now)
	if got := refusedBy(t, err); got != "job cleanup plans no tick from 2026-09-07T02:00:00Z to 2026-09-07T02:00:00Z" {
		t.Error(got)
	}
	_, err = BackfillJob(b.guard(), t0-60_000, t0, 2, 2, "x", b.now)
	if got := refusedBy(t, err); !strings.HasPrefix(got, "all 2 ticks of job cleanup from 2026-09-07T01:59:00Z to 2026-09-07T02:00:00Z succeeded in an earlier backfill") {
		t.Error(got)
	}
	_, err = BackfillJob(b.guard(), t0+1, t0, 0, 0, "x", b.now)
	if got := refusedBy(t, err); !strings.Contains(got, "may still come by themselves") {
		t.Error(got)
	}
	d, err := BackfillJob(b.guard(), t0-60_000, t0, 5, 3, "x", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	want := Backlog{Kind: Backfill, Next: t0 - 60_000, To: t0, Left: 5, Until: b.now.Add(30 * 24 * time.Hour)}
	if g := b.guard(); *g.Backlog != want || g.TTL != 0 {
		t.Errorf("backlog %+v, want %+v", g.Backlog, want)
	}
	_, err = BackfillJob(b.guard(), t0, t0, 1, 0, "x", b.now)
	if got := refusedBy(t, err); !strings.Contains(got, "has a backfill under way, from 2026-09-07T01:59:00Z to 2026-09-07T02:00:00Z") {
		t.Error(got)
	}
}

func TestABacklogIsEndedOnTheRecordAndMakesRoomForAnother(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	_, err := EndBacklog(b.guard(), "me", "wrong range", "x", b.now)
	if got := refusedBy(t, err); got != "job cleanup has no backfill or catch-up under way: nothing to end" {
		t.Error(got)
	}
	d, err := BackfillJob(b.guard(), t0-60_000, t0, 2, 0, "x", b.now)
	if err != nil {
		t.Fatal(err)
	}
	b.do(d)
	_, err = BackfillJob(b.guard(), t0, t0, 1, 0, "x", b.now)
	if got := refusedBy(t, err); !strings.Contains(got, "`cronfence backfill cleanup --cancel --reason WHY` ends it") {
		t.Errorf("%s: want the way out", got)
	}
	run := b.started(0)
	if d, err = EndBacklog(b.guard(), "me", "wrong range", "y", b.now); err != nil {
		t.Fatal(err)
	}
	b.do(d)
	want := BacklogEnd{Kind: Backfill, Next: t0 - 60_000, To: t0, Left: 2, By: "me", Why: "wrong range", At: b.now}
	if g := b.guard(); g.Backlog != nil || g.BacklogEnd == nil || *g.BacklogEnd != want || g.Run == nil || g.Run.ID != run.Run {
		t.Errorf("guard %+v, end %+v: want %+v and the run left alone", g, g.BacklogEnd, want)
	}
	if _, err := BackfillJob(b.guard(), t0, t0, 1, 0, "x", b.now); err != nil {
		t.Error(err)
	}
}

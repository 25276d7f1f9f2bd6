package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestTickWithAFinalRowIsADuplicateEvenWithoutAGuard(t *testing.T) {
	row := Row{Tick: "x", Outcome: Skipped}
	d := Deliver(testDelivery(jobOf(policy.Skip), 0, ""), nil, &row, t0)
	if d.Verdict != Duplicate || d.Commit != nil || d.Row != row {
		t.Errorf("%+v: want a duplicate, nothing written", d)
	}
}

func TestMissingGuardIsMadeBlockedAboveEveryClock(t *testing.T) {
	spec := jobOf(policy.Skip)
	window := t0.Add(-20 * time.Minute)
	for name, c := range map[string]struct{ floor, want Millis }{
		"nothing planned before": {0, window},
		"an earlier tick":        {window - 1, window - 1},
		"a later tick":           {window + 1, window},
	} {
		d := testDelivery(spec, 0, "token")
		d.Floor = c.floor
		made := Deliver(d, nil, nil, t0)
		g := made.Guard
		if made.Verdict != Unblock || g.Ready || g.Run != nil || !made.Commit.Writes[0].Absent {
			t.Errorf("%s: %+v: want a blocked guard that only a missing one makes room for", name, made)
		}
		if g.Version != int64(t0)+10_001 || g.LastTick != c.want || g.SpecSince != t0 || g.SpecHash != spec.Hash() {
			t.Errorf("%s: %+v: want the version above any clock, lastTick %v", name, g, c.want)
		}
	}
}

func TestTickAtOrBelowTheRecordIsADuplicate(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip)).change(func(g *Guard) { g.LastTick = t0 })
	if d := b.tick(0); d.Verdict != Duplicate || d.Commit != nil {
		t.Errorf("%+v: its row was collected, or it lies in a gap", d)
	}
	if d := b.deliver(b.manual()); d.Verdict != Start {
		t.Errorf("%+v: a manual run is not of the record's line", d)
	}
	b = newBench(t, jobOf(policy.Skip)).change(func(g *Guard) { g.LastTick = t0 - 1 })
	if d := b.tick(0); d.Verdict != Start {
		t.Errorf("%+v: the first tick above the record is new", d)
	}
}

func TestTickStartsUpToItsStartDeadline(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.now = t0.Add(15*time.Minute) + 1
	if d := b.tick(0); d.Verdict != Done || d.Row.Outcome != Expired || d.Row.Why != WhyLate || d.Row.TTL == 0 {
		t.Errorf("a millisecond late: %+v, want Expired", d.Row)
	}
	b = newBench(t, jobOf(policy.Skip))
	b.now = t0.Add(15 * time.Minute)
	if d := b.tick(0); d.Verdict != Start || d.Row.Delay != 900_000 {
		t.Errorf("just in time: %+v", d)
	}
}

func TestTickThatComesBeforeItsInstantHasNoDelay(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.now = t0 - 1 // another's clock
	if row := b.started(0); row.Delay != 0 {
		t.Errorf("delay %d", row.Delay)
	}
}

func TestGuardNotReadyBlocksEveryPolicy(t *testing.T) {
	for _, o := range []policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace, policy.Allow} {
		b := newBench(t, jobOf(o)).change(func(g *Guard) { g.Ready, g.ReadyAt = false, t0 })
		b.now = t0.Add(Margin)
		if d := b.tick(0); d.Row.Outcome != Skipped || d.Row.Why != WhyBlocked || d.Row.Holder != nil {
			t.Errorf("%v: %+v: want it skipped, blocked", o, d.Row)
		}
		b.now++
		if d := b.tick(1); d.Verdict != Unblock || d.Commit != nil {
			t.Errorf("%v: %+v: want the guard made ready first", o, d)
		}
		b.now = t0.Add(15*time.Minute) + 60_001
		if d := b.tick(1); d.Row.Outcome != Expired {
			t.Errorf("%v: %+v: a late tick expires, blocked or not", o, d)
		}
	}
}

func TestPausedJobSkipsAndAPauseThatIsOverIsForgotten(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.do(PauseJob(b.guard(), Pause{By: "me", Why: "upgrade", At: t0, Until: t0 + 1}, "p"))
	if d := b.tick(0); d.Row.Outcome != Skipped || d.Row.Why != "paused: upgrade" || d.Guard.Paused == nil {
		t.Errorf("%+v: want it skipped for the pause", d.Row)
	}
	b.now++ // the pause's end is not in it
	b.started(1)
	if g := b.guard(); g.Paused != nil {
		t.Errorf("pause %+v is over", g.Paused)
	}
}

func TestAcquiringRaisesTheFenceAboveEverythingSeen(t *testing.T) {
	for name, c := range map[string]struct{ version, now, want Millis }{
		"clock ahead":        {t0 - 5, t0, t0},
		"version ahead":      {t0 + 5, t0, t0 + 6},
		"version just below": {t0 - 1, t0, t0},
		"version equal":      {t0, t0, t0 + 1},
	} {
		g := newBench(t, jobOf(policy.Skip)).guard()
		g.Version = int64(c.version)
		g.Mark, g.Stop, g.StopDeadline = &Mark{}, &StopRequest{}, 5
		d := Deliver(testDelivery(jobOf(policy.Skip), 0, ""), &g, nil, c.now)
		if got := d.Guard; got.Fence != int64(c.want) || got.Version != got.Fence || d.Row.Fence != got.Fence {
			t.Errorf("%s: version %d, fence %d, want %d", name, got.Version, got.Fence, c.want)
		}
		if got := d.Guard; got.Mark != nil || got.Stop != nil || got.StopDeadline != 0 || got.TTL != 0 {
			t.Errorf("%s: %+v: marks, stop requests and TTL are not the new run's", name, got)
		}
	}
}

func TestLeaseLeavesTimeForAFirstBeatOrSpansTheWholeRun(t *testing.T) {
	for name, c := range map[string]struct {
		beats               bool
		until, by, maxUntil int // seconds
	}{
		"with beats":    {true, 120, 80, 680},
		"without beats": {false, 75 + 630 + 120 + 10, 75, 675},
	} {
		spec := testSpec(policy.Skip, c.beats)
		row := newBench(t, spec).started(0)
		g := newBench(t, spec)
		g.started(0)
		got := g.guard()
		for what, pair := range map[string][2]Millis{
			"lease": {got.LeaseUntil, t0 + Millis(c.until*1000)}, "start by": {got.StartBy, t0 + Millis(c.by*1000)},
			"maximum": {got.MaxRunUntil, t0 + Millis(c.maxUntil*1000)},
			"row's":   {row.StartBy, got.StartBy}, "row's maximum": {row.MaxRunUntil, got.MaxRunUntil},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %s %v, want %v", name, what, pair[0], pair[1])
			}
		}
		if r := got.Run; r == nil || r.ID != row.Run || r.Planned != t0 || r.At != t0 || r.Attempt != 1 || got.LastTick != t0 {
			t.Errorf("%s: guard %+v: want it the run's, its tick on record", name, got)
		}
	}
}

func TestAllowStartsBesideAndCounts(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow))
	first := b.started(0)
	b.at(60)
	second := b.started(1)
	g := b.guard()
	if g.Run != nil || g.Live != 2 || g.TTL != 0 || g.Fence != 0 || !second.Shared {
		t.Errorf("guard %+v, row %+v: want two live runs and no holder", g, second)
	}
	if second.Fence <= first.Fence || second.Fence != int64(t0)+60_000 {
		t.Errorf("fences %d, %d: must rise", first.Fence, second.Fence)
	}
	if second.StartBy != b.now.Add(75*time.Second) || second.MaxRunUntil != b.now.Add(675*time.Second) {
		t.Errorf("row %+v: want the start allowance, and the maximum run time behind it", second)
	}
	b.change(func(g *Guard) { g.Version = int64(b.now) + 5 }) // from a clock ahead
	if third := b.started(2); third.Fence != int64(b.now)+6 || b.guard().Version != third.Fence {
		t.Errorf("fence %d, version %d: must rise above what was seen", third.Fence, b.guard().Version)
	}
	b.spec.Overlap = policy.Skip
	b.at(180)
	if d := b.tick(3); d.Row.Outcome != Skipped || d.Row.Why != WhyLive || d.Row.Holder != nil {
		t.Errorf("%+v: live runs count as held under another policy", d.Row)
	}
}

func TestSkipNamesTheHolderAndItsAge(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.at(60)
	d := b.tick(1)
	want := Holder{Run: run.Run, Tick: run.Tick, HeldFor: 60_000, Until: t0.Add(2 * time.Minute)}
	if d.Row.Outcome != Skipped || d.Row.Why != WhyHeld || d.Row.Holder == nil || *d.Row.Holder != want {
		t.Errorf("%+v held by %+v, want %+v", d.Row, d.Row.Holder, want)
	}
	if g := b.guard(); g.LastTick != d.Row.At || g.Run == nil {
		t.Errorf("guard %+v: want the tick on record and the holder kept", g)
	}
}

func TestHolderThatIsDueIsLookedAtUnlessItStays(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.now = t0.Add(2*time.Minute + Margin)
	if d := b.tick(1); d.Row.Outcome != Skipped {
		t.Errorf("%+v: at lease end + margin the holder is trusted", d)
	}
	b.now++
	if d := b.tick(2); d.Verdict != Look || d.Commit != nil || d.Guard.Run == nil {
		t.Errorf("%+v: want a look at the holder", d)
	}
	stays := b.delivery(2)
	stays.Stays = run.Run
	if d := b.deliver(stays); d.Row.Outcome != Skipped {
		t.Errorf("%+v: a holder that could not be taken over holds", d)
	}
}

func TestRecordIsNotMovedPastATickThatIsNotOnIt(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow)).at(180)
	b.started(2) // ticks 0 and 1 are on their way
	if g := b.guard(); g.LastTick != t0.Add(-time.Minute) {
		t.Errorf("lastTick %v passed a tick that may still come", g.LastTick)
	}
	b.started(0)
	if g := b.guard(); g.LastTick != t0 {
		t.Errorf("lastTick %v, want tick 0", g.LastTick)
	}
	b.deliver(b.manual())
	if g := b.guard(); g.LastTick != t0 {
		t.Errorf("lastTick %v moved for a manual run", g.LastTick)
	}
}

func TestSpecIsKeptAsLastSeenWithAPlannedTick(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	since := b.guard().SpecSince
	b.tick(0)
	if g := b.guard(); g.SpecSince != since {
		t.Errorf("since %v: the same spec is not a new one", g.SpecSince)
	}
	b.at(60).spec.MaxRunSeconds++
	manual := b.manual()
	b.deliver(manual)
	if g := b.guard(); g.SpecHash == b.spec.Hash() {
		t.Error("a manual run changed the spec on record")
	}
	b.tick(1)
	if g := b.guard(); g.SpecHash != b.spec.Hash() || g.SpecSince != b.now || g.Spec.MaxRunSeconds != 601 {
		t.Errorf("spec %+v since %v: want the new one, expected from now on", g.Spec, g.SpecSince)
	}
}

func TestOverrideJudgesOneTickByAnotherPolicy(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.started(0)
	b.at(30)
	d := b.manual()
	queue := policy.QueueOne
	d.Overlap = &queue
	if dec := b.deliver(d); dec.Row.Outcome != Queued || b.guard().Waiting == nil {
		t.Errorf("%+v: want the manual run to wait", dec.Row)
	}
}

func TestManualRunSaysWhoAskedForIt(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip)).at(7)
	d := b.deliver(b.manual())
	if d.Verdict != Start || d.Row.By != "me: because" || d.Row.Kind != Manual || d.Row.Tick != "manual-2026-09-07T02:00:07.000Z" {
		t.Errorf("%+v", d.Row)
	}
	b.at(8)
	if done := b.settle(b.endOf(d.Row, Succeeded)); done.Row.By != "me: because" {
		t.Errorf("by %q: the end must not hide who asked", done.Row.By)
	}
}

func TestIdsOfKindsNeverMeet(t *testing.T) {
	seen := map[string]Kind{}
	for _, k := range []Kind{Scheduled, Manual, Backfill, CatchUp} {
		id := TickID(k, t0)
		if other, taken := seen[id]; taken {
			t.Errorf("%s and %s share %q", k, other, id)
		}
		seen[id] = k
		if kind, at := KindOf(id); kind != k || at != t0 {
			t.Errorf("%q reads as %s of %v", id, kind, at)
		}
		if run := schema.RunID("cleanup", id, 1); strings.ContainsAny(run, ":/") || len(run) > 80 {
			t.Errorf("run %q", run)
		}
	}
	if k, at := KindOf(ManualID(t0 + 7)); k != Manual || at != t0+7 {
		t.Errorf("%s of %v: a manual id keeps its millisecond", k, at)
	}
	if k, at := KindOf("tomorrow"); k != Scheduled || at != 0 {
		t.Errorf("%s of %v", k, at)
	}
}

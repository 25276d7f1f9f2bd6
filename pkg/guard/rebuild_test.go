package guard

import (
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// lost is a bench whose guard was deleted under a run and a tick that waits, and made anew.
func lost(t *testing.T, spec schema.Spec) (b *bench, run Row) {
	t.Helper()
	b = newBench(t, spec)
	run = b.started(0)
	b.at(60).tick(1)
	b.m.Delete(spec.Job, schema.GuardSK)
	b.at(90)
	if d := b.tick(5); d.Verdict != Unblock || d.Commit == nil {
		t.Fatalf("%+v: want the guard made anew", d)
	}
	return b, run
}

func TestNewGuardStaysBlockedWhileALostRunMayBeTrusted(t *testing.T) {
	b, run := lost(t, jobOf(policy.QueueOne, drains))
	open := []Row{b.row(0), b.row(1)}
	b.do(BlockUntil(b.guard(), open, "block", b.now))
	g := b.guard()
	if want := b.now.Add(2*time.Minute + 5*time.Minute); g.Ready || g.ReadyAt != want {
		t.Errorf("ready at %v, want %v: the lease and the drain from now on", g.ReadyAt, want)
	}
	open[0].StartBy = b.now.Add(time.Hour) // of a spec with a longer lease
	if d := BlockUntil(g, open, "block", b.now); d.Guard.ReadyAt != open[0].StartBy {
		t.Errorf("ready at %v: want the run's start to be over", d.Guard.ReadyAt)
	}
	if got := b.renewed(beatOf(run)); got != LostLease {
		t.Errorf("beat of the lost run: %v", got)
	}
}

func TestOpenRowsAreClosedWithTheGuardMadeReady(t *testing.T) {
	for name, c := range map[string]struct {
		sight  Sight
		want   Outcome
		drains bool
	}{
		"it succeeded":     {Sight{Ended: true, Outcome: Succeeded, StartedAt: t0, EndedAt: t0 + 80_000}, Succeeded, false},
		"it was stopped":   {Sight{Ended: true, Outcome: LeaseLost, MayLinger: true, EndedAt: t0 + 90_000}, LeaseLost, true},
		"it never started": {Sight{Ended: true, Outcome: LeaseLost}, LeaseLost, false},
	} {
		b, run := lost(t, jobOf(policy.QueueOne, drains))
		b.at(200)
		d := b.do(Unblocked(b.guard(), []Closing{{Row: b.row(0), Sight: c.sight}, {Row: b.row(1)}}, "ready", b.now))
		first, second, g := b.row(0), b.row(1), b.guard()
		if first.Outcome != c.want || first.Why != WhyGuardLost || first.EndedAt == 0 || first.TTL == 0 {
			t.Errorf("%s: run %+v, want %s", name, first, c.want)
		}
		if second.Outcome != Abandoned || second.Why != WhyGuardLost || len(d.Ended) != 2 {
			t.Errorf("%s: waiting %+v, want Abandoned", name, second)
		}
		if !g.Ready || g.ReadyAt != 0 || g.Run != nil || g.TTL == 0 || g.Version <= run.Fence {
			t.Errorf("%s: guard %+v: want it ready and free", name, g)
		}
		if want := c.sight.EndedAt.Add(5 * time.Minute); c.drains && g.DrainUntil != want || !c.drains && g.DrainUntil != 0 {
			t.Errorf("%s: drains until %v", name, g.DrainUntil)
		}
	}
}

func TestFencesBeginAboveEveryOneFound(t *testing.T) {
	b, _ := lost(t, jobOf(policy.QueueOne))
	row := b.row(0)
	row.Fence = b.guard().Version + 1_000_000 // from a clock that ran ahead
	closing := []Closing{{Row: row, Sight: Sight{Ended: true, Outcome: Failed}}}
	for name, d := range map[string]Decision{
		"ready":   Unblocked(b.guard(), closing, "x", b.now),
		"blocked": StillBlocked(b.guard(), closing, "x", b.now),
	} {
		if d.Guard.Version != row.Fence+1 {
			t.Errorf("%s: version %d after fence %d", name, d.Guard.Version, row.Fence)
		}
		if d.Guard.Ready != (name == "ready") {
			t.Errorf("%s: ready %v", name, d.Guard.Ready)
		}
	}
}

func TestClosedRowsAreAsTheyWereRead(t *testing.T) {
	b, run := lost(t, jobOf(policy.QueueOne))
	d := Unblocked(b.guard(), []Closing{{Row: run, Sight: Sight{Ended: true, Outcome: LeaseLost}}}, "x", b.now)
	b.settle(b.endOf(run, Succeeded)) // its own word came first
	if err := b.m.Commit(t.Context(), *d.Commit); err == nil || b.guard().Ready || b.row(0).Outcome != Succeeded {
		t.Errorf("%v, row %+v: want the closing refused", err, b.row(0))
	}
}

func TestDeletingAGuardRestartsNoFence(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	last := int64(0)
	for i := range 3 {
		b.at(i * 600)
		row := b.started(i * 10)
		if row.Fence <= last {
			t.Fatalf("fence %d after %d", row.Fence, last)
		}
		last = row.Fence
		b.m.Delete(b.spec.Job, schema.GuardSK)
		b.tick(i*10 + 1)
		b.do(Unblocked(b.guard(), []Closing{{Row: row, Sight: Sight{Ended: true, Outcome: LeaseLost}}}, fmt.Sprint("r", i), b.now))
	}
}

func TestGuardLearnsTheSpecThatIsDeployed(t *testing.T) {
	spec := jobOf(policy.Skip)
	made, ok := Expect(spec, nil, t0-5_000_000, "x", t0)
	if !ok || made.Verdict != Unblock || made.Guard.Ready || made.Guard.LastTick != t0-5_000_000 || made.Guard.SpecSince != t0 {
		t.Errorf("%+v: want the guard of a job that never ticked made, blocked", made)
	}
	g := newBench(t, spec).guard()
	if d, ok := Expect(spec, &g, 0, "x", t0); ok {
		t.Errorf("%+v: it knows", d)
	}
	spec.Schedule = "cron(0 5 * * ? *)"
	d, ok := Expect(spec, &g, 0, "x", t0)
	if !ok || d.Guard.SpecSince != t0 || d.Guard.SpecHash != spec.Hash() || d.Guard.Spec.Schedule != spec.Schedule || d.Guard.LastTick != g.LastTick {
		t.Errorf("%+v: want the new spec, expected from now on", d.Guard)
	}
}

func TestJobWhoseScheduleIsGoneExpectsNothingUntilItComesBack(t *testing.T) {
	spec := jobOf(policy.Skip)
	b := newBench(t, spec)
	d, ok := Forget(b.guard(), "x")
	if !ok || b.do(d).Guard.SpecHash != "" || b.guard().Spec == nil {
		t.Fatalf("%+v: want the spec kept and nothing expected", d)
	}
	if d, ok := Forget(b.guard(), "x"); ok {
		t.Errorf("%+v: it is forgotten", d)
	}
	if AccountDue(b.guard(), minutely, t0.Add(24*time.Hour)) {
		t.Error("ticks of a schedule that is gone are expected")
	}
	d, ok = Expect(spec, ptr(b.guard()), 0, "x", t0.Add(time.Hour))
	if !ok || d.Guard.SpecSince != t0.Add(time.Hour) {
		t.Errorf("%+v: want the schedule expected again, from now on", d)
	}
}

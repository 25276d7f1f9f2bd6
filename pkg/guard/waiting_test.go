package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func keepsFirst(s *schema.Spec) { s.KeepFirst = true }

func TestNewestTickWaitsAndTheLoserIsCoalesced(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	run := b.started(0)
	b.at(60).tick(1)
	g := b.guard()
	want := Waiting{
		Tick: b.row(1).Tick, Planned: t0.Add(time.Minute), Kind: Scheduled, Interval: 60,
		Since: b.now, Deadline: t0.Add(16 * time.Minute), Why: "queue",
	}
	if g.Waiting == nil || *g.Waiting != want || g.Stop != nil {
		t.Fatalf("waiting %+v, stop %+v; want %+v and no stop request", g.Waiting, g.Stop, want)
	}
	if row := b.row(1); row.Outcome != Queued || row.Why != WhyHeld || row.Holder == nil || row.Holder.Run != run.Run {
		t.Errorf("row %+v: want it queued, the holder named", row)
	}
	b.at(120)
	d := b.tick(2)
	loser := b.row(1)
	if loser.Outcome != Coalesced || loser.Why != WhyNewer+": "+d.Row.Tick || loser.TTL == 0 || loser.EndedAt != b.now {
		t.Errorf("loser %+v: want it coalesced into the newer tick", loser)
	}
	if len(d.Ended) != 1 || d.Ended[0].Tick != loser.Tick || b.guard().Waiting.Tick != d.Row.Tick {
		t.Errorf("%+v: want one tick waiting, the other's end told", d)
	}
}

func TestNewestIsJudgedByPlannedTimeNotByArrival(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.started(1)
	b.at(110).tick(3)
	if d := b.tick(2); d.Row.Outcome != Coalesced || d.Row.Why != WhyNewer+": "+b.row(3).Tick {
		t.Errorf("%+v: want the older tick coalesced into the one that waits", d.Row)
	}
	if d := b.tick(0); d.Row.Outcome != Coalesced || d.Row.Why != WhyOlder || d.Row.Holder == nil {
		t.Errorf("%+v: want a tick older than the holder coalesced", d.Row)
	}
	if g := b.guard(); g.Waiting.Tick != b.row(3).Tick {
		t.Errorf("waiting %+v", g.Waiting)
	}
}

func TestTickOfTheHoldersOwnInstantIsNotOlder(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.started(0)
	if d := b.deliver(b.manual()); d.Row.Outcome != Queued {
		t.Errorf("%+v", d.Row)
	}
}

func TestFirstKeepsItsPlaceWhereTheJobAsksForIt(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne, keepsFirst))
	b.started(0)
	b.at(60).tick(1)
	b.at(110)
	if d := b.tick(2); d.Row.Outcome != Coalesced || d.Row.Why != WhyFirst+": "+b.row(1).Tick || d.Row.Holder == nil {
		t.Errorf("%+v: want the newer tick coalesced into the first", d.Row)
	}
}

func TestTickThatWaitedTooLongMakesWayAsExpired(t *testing.T) {
	for late, want := range map[Millis]Outcome{0: Coalesced, 1: Expired} {
		b := newBench(t, jobOf(policy.QueueOne))
		b.started(0)
		b.at(60).tick(1)
		b.change(func(g *Guard) { g.LeaseUntil = t0.Add(time.Hour) })
		b.now = t0.Add(16*time.Minute) + late
		b.tick(14)
		if row := b.row(1); row.Outcome != want {
			t.Errorf("%d ms past its deadline: %s, want %s", late, row.Outcome, want)
		}
	}
}

func TestReplaceAsksOnceAndForTheGraceTime(t *testing.T) {
	b := newBench(t, jobOf(policy.Replace))
	b.started(0)
	b.at(60).tick(1)
	first := b.guard()
	if s := first.Stop; s == nil || s.ByTick != b.row(1).Tick || s.At != b.now || first.StopDeadline != b.now.Add(30*time.Second) {
		t.Fatalf("stop %+v until %v: want a request with its grace time", s, first.StopDeadline)
	}
	if first.Waiting == nil || first.Waiting.Why != "replace" {
		t.Errorf("waiting %+v", first.Waiting)
	}
	b.at(80).tick(2)
	if g := b.guard(); *g.Stop != *first.Stop || g.StopDeadline != first.StopDeadline || g.Waiting.Tick != b.row(2).Tick {
		t.Errorf("stop %+v until %v: want the first request to stand for the newest tick", g.Stop, g.StopDeadline)
	}
}

func TestHolderIsAskedAgainOnceAPauseRanOut(t *testing.T) {
	b := newBench(t, jobOf(policy.Replace))
	b.started(0)
	b.at(60).tick(1)
	b.at(70).do(PauseJob(b.guard(), Pause{Why: "x", At: b.now, Until: t0.Add(100 * time.Second)}, "p"))
	if _, moved := b.at(99).advance(); moved || b.guard().Stop != nil {
		t.Fatalf("stop %+v: want nobody asked while the job is paused", b.guard().Stop)
	}
	_, moved := b.at(100).advance()
	if g := b.guard(); !moved || g.Stop == nil || g.Stop.ByTick != b.row(1).Tick || g.StopDeadline != b.now.Add(30*time.Second) || b.row(1).Outcome != Queued {
		t.Errorf("moved %v, stop %+v until %v: want the holder asked anew", moved, g.Stop, g.StopDeadline)
	}
	if _, moved := b.at(101).advance(); moved {
		t.Error("it was asked twice")
	}
}

func TestHolderThatIsBeingStoppedIsNotAskedAsWell(t *testing.T) {
	b := newBench(t, jobOf(policy.Replace))
	b.started(0)
	b.at(60).change(func(g *Guard) { g.Mark = &Mark{Why: MarkRelease} })
	d := b.delivery(1)
	d.Stays = b.guard().Run.ID
	if b.deliver(d); b.guard().Stop != nil || b.guard().Waiting == nil {
		t.Errorf("guard %+v: want the tick to wait for the end of what is marked", b.guard())
	}
}

func TestRunThatIsReplacedByOverrideHasTheDefaultGrace(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip, func(s *schema.Spec) { s.GraceSeconds = 0 }))
	b.started(0)
	d, replace := b.at(30).manual(), policy.Replace
	d.Overlap = &replace
	b.deliver(d)
	if g := b.guard(); g.Stop == nil || g.StopDeadline != b.now.Add(schema.DefaultGrace) {
		t.Errorf("stop %+v until %v, want %v from now", g.Stop, g.StopDeadline, schema.DefaultGrace)
	}
}

func TestReplaceAsksNobodyWhereNobodyRuns(t *testing.T) {
	b := newBench(t, jobOf(policy.Replace, drains))
	run := b.started(0)
	b.at(30).settle(b.lingering(run, TimedOut))
	b.at(60).tick(1)
	if g := b.guard(); g.Waiting == nil || g.Stop != nil || g.StopDeadline != 0 {
		t.Errorf("guard %+v: want the tick to wait for the drain alone", g)
	}
}

func TestStopRequestIsWithdrawnWithTheTickThatMadeIt(t *testing.T) {
	for name, marked := range map[string]bool{"renewing": false, "being stopped": true} {
		b := newBench(t, jobOf(policy.Replace))
		b.started(0)
		b.at(60).tick(1)
		b.change(func(g *Guard) {
			g.LeaseUntil = t0.Add(time.Hour)
			if marked {
				g.Mark = &Mark{Why: MarkReplace}
			}
		})
		b.now = t0.Add(16*time.Minute) + 1
		d, ok := b.advance()
		g := b.guard()
		if !ok || b.row(1).Outcome != Expired || b.row(1).Why != WhyWaited || g.Waiting != nil || len(d.Ended) != 1 {
			t.Errorf("%s: %+v, row %+v: want the waiting tick expired", name, d, b.row(1))
		}
		if asked := g.Stop != nil && g.StopDeadline != 0; asked != marked {
			t.Errorf("%s: stop %+v until %v", name, g.Stop, g.StopDeadline)
		}
	}
}

func TestFreeGuardIsHandedOver(t *testing.T) {
	until := t0.Add(5*time.Minute + 30*time.Second)
	for name, c := range map[string]struct {
		change func(*Guard)
		now    Millis
		want   Outcome // "" for nothing done
	}{
		"the drain is not over": {nil, until.Add(Margin), ""},
		"the drain is over":     {nil, until.Add(Margin) + 1, Running},
		"at its deadline":       {nil, t0.Add(16 * time.Minute), Running},
		"past its deadline":     {nil, t0.Add(16*time.Minute) + 1, Expired},
		"past it, held":         {func(g *Guard) { g.DrainUntil = t0.Add(time.Hour) }, t0.Add(16*time.Minute) + 1, Expired},
		"paused":                {func(g *Guard) { g.Paused = &Pause{Why: "x"} }, t0.Add(7 * time.Minute), Skipped},
		"live runs":             {func(g *Guard) { g.Live = 1 }, t0.Add(7 * time.Minute), ""},
		"not ready":             {func(g *Guard) { g.Ready = false }, t0.Add(7 * time.Minute), ""},
		"nobody waits":          {func(g *Guard) { g.Waiting = nil }, t0.Add(7 * time.Minute), ""},
	} {
		b := newBench(t, jobOf(policy.QueueOne, drains))
		run := b.started(0)
		b.at(30).settle(b.lingering(run, TimedOut))
		b.at(60).tick(1)
		if c.change != nil {
			b.change(c.change)
		}
		b.now = c.now
		d, ok := b.advance()
		row := b.row(1)
		if ok != (c.want != "") || ok && row.Outcome != c.want || !ok && row.Outcome != Queued {
			t.Errorf("%s: moved %v, row %s %q, want %q", name, ok, row.Outcome, row.Why, c.want)
		}
		if started := d.Next != nil; started != (c.want == Running) {
			t.Errorf("%s: next %+v", name, d.Next)
		}
		if c.want == Skipped && row.Why != "paused: x" {
			t.Errorf("%s: %q", name, row.Why)
		}
	}
}

func TestTickThatWaitsForADeletedRowComesBack(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	run := b.started(0)
	b.at(60).tick(1)
	b.m.Delete(b.spec.Job, schema.TickSK(b.row(1).Tick))
	b.at(90).settle(b.endOf(run, Succeeded))
	if row := b.row(1); row.Outcome != Running || row.At != t0.Add(time.Minute) || row.Kind != Scheduled {
		t.Errorf("row %+v: the guard knows enough of it", row)
	}
}

// KeepFirst keeps a place for a tick that can still run.
func TestFirstThatWaitedTooLongGivesItsPlaceToANewerTick(t *testing.T) {
	for seconds, want := range map[int]Outcome{120: Coalesced, 121: Queued} {
		b := newBench(t, jobOf(policy.QueueOne, keepsFirst, func(s *schema.Spec) { s.StartDeadlineSeconds = 60 }))
		b.started(0)
		b.at(60).tick(1)
		b.change(func(g *Guard) { g.LeaseUntil = t0.Add(time.Hour) })
		if d := b.at(seconds).tick(2); d.Row.Outcome != want {
			t.Errorf("the first's start deadline is 02:02:00; %d s on the newer one is %s, want %s", seconds, d.Row.Outcome, want)
		}
	}
}

func TestABackfillsRunIsReplacedOnlyForWhomAPersonSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		kind  Kind
		next  func(*bench) Delivery
		asked bool
	}{
		"a backfill's, for a planned tick":       {Backfill, func(b *bench) Delivery { return b.delivery(1) }, false},
		"a backfill's, for a manual run":         {Backfill, (*bench).manual, false},
		"a backfill's, for one that replaces it": {Backfill, func(b *bench) Delivery { d := b.manual(); d.Overlap = ptr(policy.Replace); return d }, true},
		"a catch-up's, for a planned tick":       {CatchUp, func(b *bench) Delivery { return b.delivery(1) }, true},
	} {
		b := newBench(t, jobOf(policy.Replace))
		from := t0.Add(-time.Hour)
		b.change(func(g *Guard) { g.Backlog = &Backlog{Kind: c.kind, Next: from, To: from, Left: 1, Until: minute(60)} })
		if d, _ := b.advanceBacklog(b.next()); d.Next == nil {
			t.Fatalf("%s: not started", name)
		}
		d := b.at(60).deliver(c.next(b))
		if g := b.guard(); d.Row.Outcome != Queued || (g.Stop != nil) != c.asked || g.Waiting == nil {
			t.Errorf("%s: %s, stop request %+v: want it waiting, asked %v", name, d.Row.Outcome, g.Stop, c.asked)
		}
	}
}

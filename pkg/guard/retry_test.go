package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func retries(n int) func(*schema.Spec) {
	return func(s *schema.Spec) { s.Retries, s.RetrySeconds = n, 3600 }
}

func TestLostRunIsTriedAgainAsOftenAsTheJobAsks(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip, retries(2)))
	row := b.started(0)
	for attempt := 2; attempt <= 3; attempt++ {
		b.at(60 * attempt)
		before := row
		d := b.settle(b.endOf(row, LeaseLost))
		row = b.row(0)
		if row.Outcome != Running || row.Attempt != attempt || row.Fence <= before.Fence || row.Run == before.Run || row.NotBefore != b.now {
			t.Fatalf("row %+v: want attempt %d under a new run and fence", row, attempt)
		}
		if d.Next == nil || d.Next.Run != row.Run || d.Lost == nil || d.Lost.Outcome != LeaseLost || d.Lost.Run != before.Run {
			t.Errorf("%+v: want the run to start, and the loss told", d)
		}
		if g := b.guard(); g.Run == nil || g.Run.ID != row.Run || g.Run.Attempt != attempt || row.RetryUntil != t0.Add(2*time.Minute+time.Hour) {
			t.Errorf("guard %+v, retries until %v: want it held by the new attempt, counted from the first's end", g, row.RetryUntil)
		}
	}
	b.at(300)
	if d := b.settle(b.endOf(row, LeaseLost)); d.Next != nil || b.row(0).Outcome != LeaseLost || b.guard().Run != nil || d.Lost != nil {
		t.Errorf("%+v: want the third loss to be final", d)
	}
}

func TestOnlyLossesAreTriedAgain(t *testing.T) {
	for outcome, again := range map[Outcome]bool{
		LeaseLost: true, Abandoned: true, Succeeded: false, Failed: false, TimedOut: false, Aborted: false, Replaced: false,
	} {
		b := newBench(t, jobOf(policy.Skip, retries(1)))
		run := b.started(0)
		b.at(30).settle(b.endOf(run, outcome))
		if got := b.row(0).Outcome == Running; got != again {
			t.Errorf("%s: tried again %v, want %v", outcome, got, again)
		}
	}
}

func TestLossIsFinalWhereNoOtherAttemptMayRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Guard)
		want   Outcome
	}{
		"nothing in the way":    {func(*Guard) {}, Running},
		"paused":                {func(g *Guard) { g.Paused = &Pause{} }, LeaseLost},
		"no spec":               {func(g *Guard) { g.Spec = nil }, LeaseLost},
		"a run goes on beside":  {func(g *Guard) { g.Live = 1 }, LeaseLost},
		"a newer tick replaces": {func(g *Guard) { g.Waiting = waits("replace") }, LeaseLost},
		"a tick waits":          {func(g *Guard) { g.Waiting = waits("queue") }, Running},
	} {
		b := newBench(t, jobOf(policy.Replace, retries(1)))
		run := b.started(0)
		g := b.guard()
		c.change(&g)
		d := Settle(b.endOf(run, LeaseLost), &g, &run, b.now)
		if got := d.Row.Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.want == Running && (g.Waiting == nil) != (d.Guard.Waiting == nil) {
			t.Errorf("%s: the waiting tick lost its place", name)
		}
	}
}

func waits(why string) *Waiting {
	return &Waiting{Tick: "2026-09-07T02:01:00Z", Planned: t0.Add(time.Minute), Kind: Scheduled, Deadline: t0.Add(time.Hour), Why: why}
}

func TestRetryWaitsUntilTheLostWorkIsOver(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip, drains, retries(1)))
	run := b.started(0)
	b.at(100).settle(b.lingering(run, LeaseLost))
	row, g := b.row(0), b.guard()
	until := b.now.Add(5 * time.Minute)
	if row.NotBefore != until.Add(Margin) || g.DrainUntil != until {
		t.Errorf("not before %v, drains until %v; want the margin between", row.NotBefore, g.DrainUntil)
	}
	if g.StartBy != row.NotBefore.Add(80*time.Second) || row.StartBy != g.StartBy || g.LeaseUntil != row.NotBefore.Add(2*time.Minute) {
		t.Errorf("lease %v, start by %v: want them counted from when it may start", g.LeaseUntil, g.StartBy)
	}
}

// However long the drain, and whether or not there is an interval.
func TestThereIsAlwaysTimeForOneRetry(t *testing.T) {
	for _, drain := range []int64{0, 59, 60, 900} {
		for _, interval := range []int64{0, 60} {
			b := newBench(t, jobOf(policy.Skip, func(s *schema.Spec) { s.Retries, s.DrainSeconds = 1, drain }))
			d := b.delivery(0)
			d.Interval = interval
			run := b.deliver(d).Row
			b.at(100).settle(b.lingering(run, LeaseLost))
			if row := b.row(0); row.Outcome != Running || row.Attempt != 2 {
				t.Errorf("drain %d s, interval %d s: %s, attempt %d", drain, interval, row.Outcome, row.Attempt)
			}
		}
	}
}

func TestRetriesHaveALimitOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		window, interval int64 // seconds
		end              int   // of the second attempt; the first ends at 100 s and drains until 400 s
		want             Outcome
	}{
		"at the window's end":         {400, 60, 500, Running},
		"past it":                     {400, 60, 501, LeaseLost},
		"within the interval":         {0, 400, 500, Running},
		"past it, by default":         {0, 400, 501, LeaseLost},
		"the last tick":               {0, 0, 1000, Running}, // its start deadline, 15 minutes
		"past its window":             {0, 0, 1001, LeaseLost},
		"the last tick with a window": {400, 0, 501, LeaseLost},
	} {
		b := newBench(t, jobOf(policy.Skip, drains, func(s *schema.Spec) { s.Retries, s.RetrySeconds = 2, c.window }))
		d := b.delivery(0)
		d.Interval = c.interval
		run := b.deliver(d).Row
		b.at(100).settle(b.lingering(run, LeaseLost))
		b.at(c.end).settle(b.lingering(b.row(0), LeaseLost))
		if got := b.row(0).Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestLimitOfRetriesIsCountedFromTheFirstAttempt(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip, func(s *schema.Spec) { s.Retries = 5 })) // one interval: a minute
	row := b.started(0)
	b.at(10).settle(b.endOf(row, Abandoned))
	row = b.row(0)
	b.at(70).settle(b.endOf(row, Abandoned))
	if row = b.row(0); row.Outcome != Running || row.Attempt != 3 {
		t.Fatalf("row %+v: want another attempt at the very end of the window", row)
	}
	b.at(71).settle(b.endOf(row, Abandoned))
	if row = b.row(0); row.Outcome != Abandoned || b.guard().Run != nil {
		t.Errorf("row %+v: want the window over", row)
	}
}

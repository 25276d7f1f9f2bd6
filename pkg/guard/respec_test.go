package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// The job ran minutely; from 00:03:30 on every other minute. Tick 3 of the old schedule is still on
// its way when tick 4 of the new one, which expects nothing between 2 and 4, is on record.
func TestTickOfAReplacedScheduleIsDecidedAlthoughLaterOnesAreOnRecord(t *testing.T) {
	const delivered = 3
	for name, c := range map[string]struct {
		seconds int
		spec    func(*schema.Spec)
		want    Outcome // "" for no record
	}{
		"on its way":                     {250, nil, Skipped},
		"past its start deadline":        {3*60 + 15*60 + 1, nil, Expired},
		"all but past its window":        {3*60 + 20*60 - 10 - 1, nil, Expired},
		"past its window":                {3*60 + 20*60 - 10, nil, ""},
		"of the schedule that stands":    {250, func(s *schema.Spec) { s.Schedule = everyOther }, Skipped},
		"of one with a shorter deadline": {3*60 + 350, func(s *schema.Spec) { s.StartDeadlineSeconds = 60 }, ""},
	} {
		b := newBench(t, jobOf(policy.Skip))
		old := b.spec
		b.settle(b.endOf(b.started(0), Succeeded))
		b.change(func(g *Guard) { g.LastTick = t0.Add(2 * time.Minute) })
		b.spec.Schedule = everyOther
		b.at(210)
		b.do(mustExpect(t, b))
		b.at(240)
		next := b.delivery(4)
		next.Prev = t0.Add(2 * time.Minute)
		b.deliver(next)
		b.at(c.seconds)
		if b.spec = old; c.spec != nil {
			c.spec(&b.spec)
		}
		b.change(func(g *Guard) { g.LeaseUntil, g.MaxRunUntil = b.now.Add(time.Hour), b.now.Add(time.Hour) })
		d := b.tick(delivered)
		got := Outcome("")
		if row := b.rowOf(b.delivery(delivered).Tick); row != nil {
			got = row.Outcome
		}
		if got != c.want || c.want == "" && d.Verdict != Duplicate {
			t.Errorf("%s: %v with outcome %q, want %q", name, d.Verdict, got, c.want)
		}
		if last := b.guard().LastTick; last != t0.Add(4*time.Minute) {
			t.Errorf("%s: lastTick %v, want it to stay", name, last)
		}
	}
}

const everyOther = "cron(0/2 * * * ? *)"

func mustExpect(t *testing.T, b *bench) Decision {
	t.Helper()
	g := b.guard()
	d, ok := Expect(b.spec, &g, 0, b.token(), b.now)
	if !ok {
		t.Fatal("the guard knows the spec")
	}
	return d
}

func TestStopRequestOfReplaceIsWithdrawnWithThePolicyUnlessItsTimeIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		seconds int
		to      policy.Overlap
		change  func(*Guard)
		stays   bool
	}{
		"its time not over":           {89, policy.QueueOne, nil, false},
		"its time over":               {90, policy.QueueOne, nil, true},
		"being stopped":               {89, policy.Skip, func(g *Guard) { g.Mark = &Mark{Why: MarkRelease} }, true},
		"the policy stands":           {89, policy.Replace, nil, true},
		"asked by an override's tick": {89, policy.QueueOne, func(g *Guard) { s := *g.Spec; s.Overlap = policy.Skip; g.Spec = &s }, true},
	} {
		for way, respec := range map[string]func(*bench){
			"by the sentinel": func(b *bench) { b.do(mustExpect(t, b)) },
			"by a tick":       func(b *bench) { b.tick(2) },
		} {
			b := newBench(t, jobOf(policy.Replace))
			b.started(0)
			b.at(60).tick(1)
			if c.change != nil {
				b.change(c.change)
			}
			b.spec.Overlap, b.spec.MaxRunSeconds = c.to, b.spec.MaxRunSeconds+1
			b.at(c.seconds)
			respec(b)
			if g := b.guard(); (g.Stop != nil && g.StopDeadline != 0) != c.stays || g.Waiting == nil {
				t.Errorf("%s, %s: stop %+v until %v, waiting %+v", name, way, g.Stop, g.StopDeadline, g.Waiting)
			}
		}
	}
}

// The pause withdraws nothing that the new policy had not; its end must not ask for what the old one did.
func TestNobodyAsksAgainForATickWhosePolicyWasReplaced(t *testing.T) {
	for name, again := range map[string]func(*bench){
		"a resume": func(b *bench) {
			b.do(PauseJob(b.guard(), Pause{Why: "x", At: b.now}, "p"))
			d, err := ResumeJob(b.guard(), "r", b.now)
			if err != nil {
				t.Fatal(err)
			}
			b.do(d)
		},
		"a sweep": func(b *bench) { b.advance() },
	} {
		b := newBench(t, jobOf(policy.Replace))
		b.started(0)
		b.at(60).tick(1)
		b.spec.Overlap, b.spec.GraceSeconds = policy.Skip, 0
		b.at(70).do(mustExpect(t, b))
		again(b)
		if g := b.guard(); g.Stop != nil || g.Waiting == nil || g.Waiting.Why != waitsQueued {
			t.Errorf("%s: stop %+v, waiting %+v: want the tick to wait and nobody asked", name, g.Stop, g.Waiting)
		}
	}
}

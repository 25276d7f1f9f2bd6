package guard

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/policy"
)

// What the sentinel takes as the instant from which on a success is expected.
func TestPauseThatEndsIsNoted(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.do(PauseJob(b.guard(), Pause{Why: "upgrade"}, "p"))
	d, err := ResumeJob(b.guard(), "r", t0+4)
	if err != nil {
		t.Fatal(err)
	}
	if b.do(d); b.guard().ResumedAt != t0+4 {
		t.Errorf("resumed at %v: want %v", b.guard().ResumedAt, t0+4)
	}
	b.do(PauseJob(b.guard(), Pause{Until: t0 + 30_000}, "p"))
	b.at(60)
	b.started(1)
	if g := b.guard(); g.Paused != nil || g.ResumedAt != t0+30_000 {
		t.Errorf("paused %v, resumed at %v: want the pause gone, and its end noted", g.Paused, g.ResumedAt)
	}
}

func TestSuccessBesideOthersIsTheJobsToo(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow))
	first, second := b.started(0), b.at(60).started(1)
	b.at(90).settle(b.endOf(second, Succeeded))
	last := b.guard().LastSuccessAt
	if last != b.now {
		t.Errorf("last success at %v: want %v", last, b.now)
	}
	b.at(120).settle(b.endOf(first, Failed))
	if got := b.guard().LastSuccessAt; got != last {
		t.Errorf("last success at %v after a failure: want %v still", got, last)
	}
}

// A backfill's success hides no planned tick that is overdue; a catch-up's and a manual run's make up
// for it.
func TestSuccessOfABackfillIsNoneOfThePlannedTicks(t *testing.T) {
	for _, blind := range []bool{true, false} {
		for tick, counts := range map[string]bool{
			"2026-09-07T02:00:00Z": true, "manual-2026-09-07T02:00:00.000Z": true, "catchup-2026-09-07T02:00:00Z": true, "backfill-2026-09-07T02:00:00Z": false,
		} {
			b := newBench(t, jobOf(policy.Skip))
			d := b.delivery(0)
			d.Tick = tick
			e := b.at(5).endOf(b.deliver(d).Row, Succeeded)
			if dec, _ := BlindSettle(e, b.now); blind {
				b.do(dec)
			} else {
				b.settle(e)
			}
			if got := b.guard().LastSuccessAt; (got == b.now) != counts || !counts && got != 0 {
				t.Errorf("%s: last success at %v, blind %v: it counts %v", tick, got, blind, counts)
			}
		}
	}
}

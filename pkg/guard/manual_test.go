package guard

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// The instant at which somebody asks for a run is nearly always later than that of the tick which
// EventBridge Scheduler is about to deliver.
func TestPlannedTickIsNotOlderThanAManualRun(t *testing.T) {
	for overlap, asked := range map[policy.Overlap]bool{policy.QueueOne: false, policy.Replace: true} {
		b := newBench(t, jobOf(overlap))
		b.at(65)
		run := b.deliver(b.manual())
		b.at(100)
		d := b.tick(1)
		if g := b.guard(); run.Verdict != Start || d.Row.Outcome != Queued || (g.Stop != nil) != asked {
			t.Errorf("%v: %s, stop %+v: want the tick to do as the policy says", overlap, d.Row.Outcome, g.Stop)
		}
	}
	b := newBench(t, jobOf(policy.Skip))
	b.at(65).deliver(b.manual())
	if d := b.at(100).tick(1); d.Row.Outcome != Skipped || d.Row.Why != WhyHeld {
		t.Errorf("skip: %s, %q", d.Row.Outcome, d.Row.Why)
	}
}

// A slow clock asks before the holder's tick was planned.
func TestManualRunIsOlderThanNobody(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.started(1)
	if d := b.at(50).deliver(b.manual()); d.Row.Outcome != Queued {
		t.Errorf("%s, %q", d.Row.Outcome, d.Row.Why)
	}
}

func TestManualRunTakesNoPlannedTicksPlace(t *testing.T) {
	for name, change := range map[string]func(*schema.Spec){"newest waits": func(*schema.Spec) {}, "first waits": keepsFirst} {
		for _, seconds := range []int{50, 60, 70} { // before, at and behind the planned instant
			b := newBench(t, jobOf(policy.QueueOne, change))
			b.started(0)
			b.at(60).tick(1)
			d := b.at(seconds).deliver(b.manual())
			if d.Row.Outcome != Coalesced || d.Row.Why != WhyPlanned+": "+b.row(1).Tick || d.Row.Holder == nil || b.row(1).Outcome != Queued {
				t.Errorf("%s, at %d s: %s %q, the planned tick %s", name, seconds, d.Row.Outcome, d.Row.Why, b.row(1).Outcome)
			}
		}
	}
}

func TestManualRunMakesWayForAPlannedTick(t *testing.T) {
	for name, change := range map[string]func(*schema.Spec){"newest waits": func(*schema.Spec) {}, "first waits": keepsFirst} {
		for _, seconds := range []int{50, 65} { // before and behind the planned instant
			b := newBench(t, jobOf(policy.QueueOne, change))
			b.started(0)
			manual := b.at(seconds).deliver(b.manual()).Row
			d := b.at(90).tick(1)
			row := *b.rowOf(manual.Tick)
			if d.Row.Outcome != Queued || row.Outcome != Coalesced || row.Why != WhyPlanned+": "+d.Row.Tick || b.guard().Waiting.Tick != d.Row.Tick {
				t.Errorf("%s, asked at %d s: the planned tick %s, the manual run %s %q", name, seconds, d.Row.Outcome, row.Outcome, row.Why)
			}
		}
	}
}

func TestNewestOfTwoManualRunsWaits(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	b.started(0)
	first := b.at(10).deliver(b.manual()).Row
	second := b.at(20).deliver(b.manual()).Row
	slow := b.at(15).deliver(b.manual()).Row
	if got := b.rowOf(first.Tick); got.Outcome != Coalesced || got.Why != WhyNewer+": "+second.Tick {
		t.Errorf("first: %s %q", got.Outcome, got.Why)
	}
	if slow.Outcome != Coalesced || slow.Why != WhyNewer+": "+second.Tick || b.guard().Waiting.Tick != second.Tick {
		t.Errorf("asked before the one that waits: %s %q", slow.Outcome, slow.Why)
	}
}
